import assert from "node:assert/strict";
import { monthReading } from "../../ledger/testing/month_test_events.ts";
import { readMonthBooks } from "../months/month_books.ts";
import { rowRemark, statementLines } from "../views/statement_view.ts";
import { readStatementMap } from "./statement_map.ts";
import { leftOf, matchStatement, monthOfStatement } from "./statement_match.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const MAP = readStatementMap({
  columns: {
    ...{ orderId: "Order", externalOrderId: "Ref", txId: "Hash" },
    ...{ amount: "Amount", currency: "Currency", day: "Day" },
  },
});

/** November with four orders, of which one was taken back after its closing. */
async function november() {
  const ledger = await emptyLedger({
    now: () => Date.parse("2026-12-02T08:00:00Z"),
  });
  const order = (name: string, day: number, hash = `0x${name}`) =>
    monthReading({
      order: name,
      at: `2026-11-${day}T10:00:00Z`,
      fields: {
        tx_id: JSON.stringify(hash),
        external_order_id: JSON.stringify(`basket-${name}`),
      },
    });
  await ledger.append([
    ...[order("O1", 20), order("O2", 21), order("O3", 22, "0xAB")],
    ...[order("O4", 23), order("O5", 24)],
  ]);
  await ledger.project();
  return ledger;
}

const HEAD = "Order,Ref,Hash,Amount,Currency,Day\n";

Deno.test("matchStatement() says of each row whether it is matched, differs, or is on one side alone", async () => {
  await using ledger = await november();
  const books = await readMonthBooks(ledger, "2026-11");
  const match = await matchStatement(ledger, books, {
    map: MAP,
    text: HEAD +
      "O1,,,30.1,usd,2026-11-20\n" +
      ",basket-O2,,30.20,USD,2026-11-21\n" +
      ",,0xab,30.10,USD,2026-11-25\n" +
      ",,,30.10,USD,2026-11-23\n" +
      "O9,,,7,EUR,2026-11-23\n" +
      "O5,,,lots,USD,2026-11-24\n",
  });
  assert.deepEqual(
    match.rows.map((row) => [
      ...[row.line, row.result, row.by, row.here?.orderId],
      rowRemark(row),
    ]),
    [
      [2, "matched", "orderId", "O1", ""],
      [
        ...[3, "differs", "externalOrderId", "O2"],
        "amount: 30.20 there, 30.10 here (+0.1)",
      ],
      [
        ...[4, "differs", "txId", "O3"],
        "day: 2026-11-25 there, 2026-11-22 here (+3 days)",
      ],
      [5, "matched", "amount", "O4", ""],
      [6, "only_there", null, undefined, ""],
      [7, "unreadable", null, undefined, 'amount "lots"'],
      [null, "only_here", null, "O5", ""],
    ],
  );
  assert.deepEqual(match.counts, {
    ...{ matched: 2, differs: 2, only_there: 1, only_here: 1, unreadable: 1 },
  });
  assert.equal(leftOf(match), 5);
  assert.deepEqual(match.sums, [
    { currency: "EUR", there: "7", here: null, difference: "7" },
    { currency: "USD", there: "120.5", here: "150.5", difference: "-30" },
  ]);
  const lines = statementLines(match, null).join("\n");
  assert.match(lines, /^2 rows .* matched; 5 rows left: 2 differs/);
  assert.match(lines, /only in the books +O5 +30\.10 USD/);
  assert.doesNotMatch(lines, /O1/);
});

Deno.test("matchStatement() takes another amount of an order, with every digit", async () => {
  await using ledger = await november();
  const books = await readMonthBooks(ledger, "2026-11");
  const of = async (amount: string) => {
    const { rows: [row] } = await matchStatement(ledger, books, {
      map: readStatementMap({
        columns: { orderId: "Order", amount: "Sent" },
        ...{ currency: "ETH", amountOf: "cryptoAmount" },
      }),
      text: `Order,Sent\nO1,${amount}\n`,
    });
    return [row?.result, row?.differences[0]?.by];
  };
  assert.deepEqual(await of("0.012300000000000001"), ["matched", undefined]);
  assert.deepEqual(await of("0.012300000000000002"), [
    "differs",
    "0.000000000000000001",
  ]);
});

Deno.test("monthOfStatement() is the month of all days, and asks where there are several", () => {
  const of = (...days: readonly string[]) =>
    monthOfStatement(
      { map: MAP, text: HEAD + days.map((day) => `O1,,,,,${day}\n`).join("") },
      "Europe/Berlin",
    );
  assert.equal(of("2026-11-01", "2026-11-30"), "2026-11");
  assert.equal(of("2026-11-30T23:30:00Z"), "2026-12");
  assert.throws(
    () => of("2026-11-30", "2026-12-01"),
    /lie in 2026-11, 2026-12/,
  );
  assert.throws(() => of(""), /no row has a day/);
});
