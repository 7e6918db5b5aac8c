import assert from "node:assert/strict";
import { readItems, SHEETS, sumMonth } from "./month_files.ts";
import {
  bookedAmount,
  localDay,
  type Money,
  monthAfter,
  type MonthRow,
  negated,
} from "./month_row.ts";

const money: Money = {
  currency: "USD",
  currencyAmount: "0.1",
  commodity: "ETH",
  network: "ethereum",
  cryptoAmount: "0.100000000000000001",
  partnerFeeUsd: null,
  serviceFeeUsd: "0.20",
};

function row(part: Partial<MonthRow>): MonthRow {
  return {
    kind: "order",
    day: "2026-11-20",
    orderId: "727E28",
    ofMonth: "2026-11",
    datedBy: "created",
    times: {
      created: "2026-11-20T09:00:00.000Z",
      completed: null,
      confirmed: null,
    },
    knownAt: "2026-11-20T10:00:00.000Z",
    money,
    anomalies: [],
    witness: { verdict: "", final: "", block: "" },
    ...part,
  };
}

Deno.test("sumMonth() adds known amounts exactly and counts unknown ones", () => {
  const { totals, rows } = sumMonth([
    row({}),
    row({ money: { ...money, currencyAmount: "0.2", partnerFeeUsd: "0.05" } }),
    row({ day: "2026-11-21" }),
    row({ kind: "reversal", day: "2026-11-21", money: negated(money) }),
  ]);
  assert.deepEqual(rows, { order: 3, late: 0, reversal: 1, restatement: 0 });
  assert.deepEqual(totals, [{
    currency: "USD",
    commodity: "ETH",
    network: "ethereum",
    orders: 2,
    currencyAmount: "0.3",
    currencyAmountUnknown: 0,
    cryptoAmount: "0.200000000000000002",
    cryptoAmountUnknown: 0,
    partnerFeeUsd: "0.05",
    partnerFeeUsdUnknown: 1,
    serviceFeeUsd: "0.4",
    serviceFeeUsdUnknown: 0,
  }]);
});

Deno.test("sumMonth() keeps days, currencies and assets apart, and names odd orders", () => {
  const { days, anomalies } = sumMonth([
    row({ anomalies: ["amount_mismatch"] }),
    row({ day: "2026-11-21", money: { ...money, currency: "EUR" } }),
    row({ day: "2026-11-21", money: { ...money, partnerFeeUsd: null } }),
  ]);
  assert.deepEqual(
    days.map(({ day, currency, orders, partnerFeeUsd }) => [
      day,
      currency,
      orders,
      partnerFeeUsd,
    ]),
    [
      ["2026-11-20", "USD", 1, null],
      ["2026-11-21", "EUR", 1, null],
      ["2026-11-21", "USD", 1, null],
    ],
  );
  assert.deepEqual(anomalies, [
    { kind: "amount_mismatch", orderIds: ["727E28"] },
  ]);
});

Deno.test("readItems() reads back every row of a stored items.csv", () => {
  const rows = [
    row({ anomalies: ["contested", "absent"] }),
    row({ kind: "reversal", orderId: '=1,"x"', money: negated(money) }),
  ];
  const file = SHEETS["items.csv"](rows);
  assert.deepEqual([...readItems(file)], rows);
  // A fee that is not known is empty, an id stays a text.
  assert.match(file, /,'727E28,.*,'0\.100000000000000001,,0\.20,/);
});

Deno.test("bookedAmount() takes decimals, and nothing that only looks like an amount", () => {
  assert.equal(bookedAmount("1.50"), "1.50");
  assert.equal(bookedAmount("1e3"), "1000");
  for (const text of [null, "", "lots", "1e999999999"]) {
    assert.equal(bookedAmount(text), null);
  }
  assert.equal(negated({ ...money, currencyAmount: "-2" }).currencyAmount, "2");
});

Deno.test("localDay() turns the day where the time zone does, daylight saving included", () => {
  const day = localDay("Europe/Berlin");
  assert.equal(day("2026-03-28T22:59:59.999Z"), "2026-03-28");
  assert.equal(day("2026-03-28T23:00:00.000Z"), "2026-03-29");
  assert.equal(day("2026-03-29T22:00:00.000Z"), "2026-03-30");
  assert.throws(() => localDay("Mars/Olympus"), RangeError);
  assert.equal(monthAfter("2026-12"), "2027-01");
  assert.equal(monthAfter("2026-09"), "2026-10");
});
