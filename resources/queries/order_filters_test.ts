import assert from "node:assert/strict";
import fc from "fast-check";
import type { Ledger, OrderView } from "../../ledger/mod.ts";
import {
  AmountSum,
  attentionOf,
  outcomeNow,
} from "../../ledger/for_resources.ts";
import { compareDecimals } from "../../core/decimal.ts";
import {
  ODD_NOW_MS,
  oddEvents,
  oddLedger,
  oddReading,
} from "../../tests/kit/odd_ledger.ts";
import { orderOfRow, outcomeEvents } from "../../tests/kit/outcome_orders.ts";
import {
  ORDER_FILTER_NAMES,
  ORDER_FILTERS,
  type OrderFilters,
  orderQuery,
  readFilters,
} from "./orders.ts";

/** A ledger with every outcome, odd amounts, and some that a person settled. */
async function anyLedger(): Promise<Ledger> {
  const amounts = ["0.1", "0.2", "7", "1200000", "0.1234567", "9999999999"];
  const ledger = await oddLedger([
    ...oddEvents(),
    ...outcomeEvents(),
    ...amounts.map((currency_amount, at) =>
      oddReading(`01KAMOUNT${at}`, "failed", 400 + at * 700, {
        currency_amount,
        currency: at % 2 === 0 ? "EUR" : "usd",
        crypto: "usdc.simple.polygon",
        external_order_id: `AM${at}`,
      })
    ),
    oddReading("01KNOAMOUNT", "failed", 500, {
      currency_amount: null,
      currency: null,
    }),
  ]);
  for (
    const code of [
      "refund_due",
      "other_amount_paid",
      "end_changed",
      "paid_twice",
    ] as const
  ) {
    await ledger.release(orderOfRow(code), {
      ...{ outcome: "refunded", by: "anna", why: "asked for" },
    });
  }
  await ledger.project();
  return ledger;
}

const isSame = (said: string | null | undefined, word: string) =>
  said?.toLowerCase() === word.toLowerCase();
const compared = ({ currencyAmount }: OrderView, amount: string) =>
  currencyAmount !== null && /^\d{1,9}(?:\.\d{1,6}0*)?$/.test(currencyAmount)
    ? compareDecimals(currencyAmount, amount)
    : NaN;
const ageMs = ({ createdAt }: OrderView, time: string) =>
  createdAt === null ? NaN : Date.parse(createdAt) - Date.parse(time);

/** Whether an order is one that a filter chooses, by what readers see of it. */
const HOLDS: {
  readonly [Name in keyof Required<OrderFilters>]: (
    order: OrderView,
    value: NonNullable<OrderFilters[Name]>,
  ) => boolean;
} = {
  status: (order, status) => order.status === status,
  trust: (order, trust) => order.trust === trust,
  user: (order, user) => order.userId === user,
  click: ({ clickId, claimed }, click) =>
    clickId === click || claimed?.clickId === click,
  asset: (order, asset) => isSame(order.commodity, asset),
  network: (order, network) => isSame(order.network, network),
  currency: (order, currency) => isSame(order.currency, currency),
  min: (order, min) => compared(order, min) >= 0,
  max: (order, max) => compared(order, max) <= 0,
  reference: ({ expected, externalOrderId }, reference) =>
    isSame(expected?.reference, reference) ||
    isSame(externalOrderId, reference),
  day: ({ createdAt }, day) => createdAt?.startsWith(day) === true,
  from: (order, from) => ageMs(order, from) >= 0,
  to: (order, to) => ageMs(order, to) < 0,
  anomaly: ({ anomalies }, anomaly) =>
    anomalies.some(({ kind }) => anomaly === true || kind === anomaly),
  attention: (order, kind) => attentionOf(order, ODD_NOW_MS).includes(kind),
  outcome: (order, code) => outcomeNow(order, ODD_NOW_MS).code === code,
  release: (order, release) => order.release === release,
  reason: (order, reason) => order.releaseReason === reason,
};

function matches(order: OrderView, filters: OrderFilters): boolean {
  return ORDER_FILTER_NAMES.every((name) => {
    const holds = HOLDS[name] as (order: OrderView, value: unknown) => boolean;
    return filters[name] === undefined || holds(order, filters[name]);
  });
}

/** Every value of a filter that some order may have, and some that none has. */
function valuesOf(name: keyof OrderFilters, orders: readonly OrderView[]) {
  const { schema } = ORDER_FILTERS[name];
  if (Array.isArray(schema.enum)) return schema.enum as string[];
  const of = (get: (order: OrderView) => string | null | undefined) =>
    [
      ...new Set(orders.map(get)),
      "nothing",
    ].flatMap((one) => one === "" ? [] : one ?? []);
  const amounts = ["0", "0.1", "0.15", "100.50", "100.500001", "999999999"];
  const times = orders.flatMap(({ createdAt }) => createdAt ?? []);
  switch (name) {
    case "status":
      return of((order) => order.status);
    case "user":
      return of((order) => order.userId);
    case "click":
      return of((order) => order.clickId);
    case "asset":
      return of((order) => order.commodity?.toLowerCase());
    case "network":
      return of((order) => order.network?.toUpperCase());
    case "currency":
      return of((order) => order.currency);
    case "reference":
      return [
        ...of((order) => order.expected?.reference?.toUpperCase()),
        ...of((order) => order.externalOrderId),
      ];
    case "min":
    case "max":
      return amounts;
    case "day":
      return [...new Set(times.map((time) => time.slice(0, 10)))];
    case "from":
    case "to":
      return times.slice(0, 8);
  }
  throw new Error(`No values of ${name}`);
}

Deno.test("orderQuery() lists the very orders that a filter chooses, for every filter and value", async () => {
  await using ledger = await anyLedger();
  const all = await Array.fromAsync(ledger.orders.list());
  const law = async (filters: OrderFilters) => {
    const listed = ledger.orders.list({
      ...orderQuery(filters),
      stuckAtMs: ODD_NOW_MS,
    });
    // Where no creation is stated, the list goes by the time of the first event.
    const isByTime = "day" in filters || "from" in filters || "to" in filters;
    const counts = ({ createdAt }: OrderView) =>
      !isByTime || createdAt !== null;
    const ids = (await Array.fromAsync(listed)).filter(counts)
      .map(({ orderId }) => orderId);
    const taken = all.filter((order) =>
      counts(order) && matches(order, filters)
    );
    assert.deepEqual(
      ids,
      taken.map(({ orderId }) => orderId),
      JSON.stringify(filters),
    );
    return ids.length;
  };
  const values = ORDER_FILTER_NAMES.flatMap((name) =>
    valuesOf(name, all).map((text) =>
      [
        name,
        readFilters(ORDER_FILTERS, (one) => one === name ? text : undefined),
      ] as const
    )
  );
  for (const name of ORDER_FILTER_NAMES) {
    let found = 0;
    for (const [of, filters] of values) {
      if (of === name) found += await law(filters);
    }
    assert.ok(found > 0, `${name} chooses no order`);
  }
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...values),
      fc.constantFrom(...values),
      async ([, a], [, b]) => {
        await law({ ...a, ...b });
      },
    ),
    { numRuns: 150 },
  );
});

Deno.test("Orders.totals() counts and adds up exactly what the list has", async () => {
  await using ledger = await anyLedger();
  const all = await Array.fromAsync(ledger.orders.list());
  const totalsOf = (orders: readonly OrderView[]) => {
    const found = new Map<string, { orders: number; sum: AmountSum }>();
    for (const { currency, trust, currencyAmount } of orders) {
      const key = `${currency?.toUpperCase() ?? ""} ${trust}`;
      const one = found.get(key) ?? { orders: 0, sum: new AmountSum() };
      one.orders++;
      const isSummed = currencyAmount !== null &&
        /^\d{1,9}(\.\d{1,6})?$/.test(currencyAmount);
      one.sum.add(isSummed ? currencyAmount : null, 1);
      found.set(key, one);
    }
    return [...found].map(([key, { orders, sum }]) =>
      `${key}: ${orders}, ${sum.known ?? "0"}, ${sum.unknown}`
    ).sort();
  };
  for (
    const filters of [
      {},
      { status: "failed" },
      { release: "wait" },
      { min: "0.1", max: "7" },
      { attention: "stuck" },
      { user: "nobody" },
      { trust: "confirmed", from: "2026-11-20", to: "2026-11-21" },
    ] as OrderFilters[]
  ) {
    const totals = await ledger.orders.totals({
      ...orderQuery(filters),
      stuckAtMs: ODD_NOW_MS,
      limit: 1,
    });
    assert.deepEqual(
      totals.map((one) =>
        `${
          one.currency ?? ""
        } ${one.trust}: ${one.orders}, ${one.sum}, ${one.notSummed}`
      ).sort(),
      totalsOf(all.filter((one) => matches(one, filters))),
      JSON.stringify(filters),
    );
  }
});

Deno.test("readFilters() refuses a day that no calendar has, and what is no amount", () => {
  const read = (name: string, text: string) => () =>
    readFilters(ORDER_FILTERS, (one) => one === name ? text : undefined);
  for (const day of ["2026-02-30", "20 November", "2026-11-20T09:00:00Z"]) {
    assert.throws(read("day", day), /is not a day; write it like 2026-11-20/);
  }
  for (const amount of ["-1", "1,5", "1e3", "0.1234567", "1234567890"]) {
    assert.throws(
      read("min", amount),
      /is not an amount; write it like 100\.50/,
    );
  }
  assert.deepEqual(read("max", "100.500000000")(), { max: "100.500000000" });
});
