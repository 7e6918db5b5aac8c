import assert from "node:assert/strict";
import type { Driver, Statement } from "../store/database.ts";
import { packOrder } from "../projection/rows.ts";
import { initialOrderFold } from "../orders/order_fold.ts";
import type { Ledger } from "../ledger.ts";
import { openLedger } from "../open_ledger.ts";
import { type OrderQuery, Orders } from "./orders.ts";
import { encodeCursor, queryMs } from "./pages.ts";

/** A ledger of so many orders, of which the first alone is in euro and odd. */
async function ledgerOf(count: number): Promise<Ledger> {
  const ledger = await openLedger({ url: ":memory:", environment: "sandbox" });
  await ledger.driver.batch([{
    sql: `INSERT INTO orders (no, id, at, status, trust, open, release, reason,
        outcome, anomalies, currency, amount, historic, shown, told, fold)
      WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT ?1)
      SELECT 2 * n, 'O' || n, 1000 * n, iif(n % 9 = 0, 'failed', 'success'),
        'confirmed', 0, iif(n % 9 = 0, 'no', 'unchecked'), 'nothing_recorded',
        'nothing_recorded', iif(n = 1, ' contested ', NULL),
        iif(n = 1, 'EUR', 'USD'), 1500000, 0, 1, '{"times":{},"last":{}}', ?2
      FROM n`,
    args: [count, packOrder(initialOrderFold(""))],
  }], "write");
  return ledger;
}

Deno.test("a page looks through 50,000 orders for what no index tells, says how far it got, and the next goes on there", async () => {
  await using ledger = await ledgerOf(52_000);
  const { orders } = ledger;
  const first = await orders.page({ currency: "eur" });
  assert.deepEqual(first.orders, []);
  assert.equal(first.searchedTo, new Date(1000 * 2001).toISOString());
  const second = await orders.page({
    currency: "eur",
    after: first.next ?? assert.fail(),
  });
  assert.deepEqual(second.orders.map(({ orderId }) => orderId), ["O1"]);
  assert.deepEqual([second.next, second.searchedTo], [null, null]);
  // With days, and by what an index tells, nothing is looked through in vain.
  const old = await orders.page({
    currency: "eur",
    createdUpTo: new Date(90_000).toISOString(),
  });
  assert.equal(old.orders.length, 1);
  const odd = await orders.page({ anomaly: "contested" });
  assert.equal(odd.orders.length, 1);
  const failed = await orders.page({ status: "failed", limit: 2 });
  assert.deepEqual(failed.orders.map(({ orderId }) => orderId), [
    ...["O51993", "O51984"],
  ]);
  const none = await orders.page({ releaseReason: "no_such" as never });
  assert.deepEqual(none.orders, []);
  assert.equal(await orders.hasMany(), true);
  assert.equal(await orders.hasMany({ status: "failed" }), false);
  const totals = await orders.totals({ status: "failed" });
  assert.deepEqual(totals, [{
    ...{ currency: "USD", trust: "confirmed", orders: 5777 },
    ...{ sum: "8665.5", notSummed: 0 },
  }]);
});

Deno.test("a page looks through 50,000 orders that a stranger made wait or odd, or of one release, and no statement through more than 5,000", async () => {
  await using ledger = await ledgerOf(52_000);
  await ledger.driver.batch([{
    sql: `UPDATE orders SET attention = ' forged_or_unknown ',
      anomalies = ' contested ', release = 'unchecked'`,
    args: [],
  }], "write");
  for (
    const query of [
      ...[{ attention: "refund_due" }, { anomaly: "regression" }],
      { release: "unchecked", releaseReason: "several_match", status: "x" },
    ] as OrderQuery[]
  ) {
    const page = await ledger.orders.page({ ...query, sort: "oldest" });
    const last = page.searchedTo ?? assert.fail(JSON.stringify(query));
    assert.ok(Date.parse(last) >= 50_000_000, last);
    assert.deepEqual(await Array.fromAsync(ledger.orders.list(query)), []);
  }
});

/** Remembers the statements of its batches. */
class Watched implements Driver {
  readonly location = "memory";
  readonly seen: Statement[] = [];
  readonly #driver: Driver;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  batch(statements: readonly Statement[], mode: "read" | "write") {
    this.seen.push(...statements);
    return this.#driver.batch(statements, mode);
  }

  close(): Promise<void> {
    return this.#driver.close();
  }
}

Deno.test.each(
  [
    [{}, /COVERING INDEX orders_at/],
    [{ sort: "oldest" }, /COVERING INDEX orders_at/],
    [{ status: "success" }, /INDEX orders_status \(status=\?/],
    [{ release: "wait" }, /INDEX orders_release \(release=\?/],
    [{ releaseReason: "several_match" }, /INDEX orders_release \(release=\?/],
    [{ userId: "U1" }, /INDEX orders_user \(user_hash=\?/],
    [{ attention: "refund_due" }, /INDEX orders_attention/],
    [{ anomaly: true }, /INDEX orders_anomalies/],
    [{ attention: "stuck" }, /INDEX orders_waiting \(waiting_since</],
    [{ attention: "paid_twice" }, /INDEX orders_attention/],
    [{ attention: "yes_withheld" }, /INDEX orders_attention/],
    [{ release: "settled" }, /INDEX orders_release \(release=\?/],
    [{ reference: "basket-1" }, /INTEGER PRIMARY KEY \(rowid=\?/],
    [{ clickId: "C1" }, /INTEGER PRIMARY KEY \(rowid=\?/],
  ] as [OrderQuery, RegExp][],
)(
  "a page of orders by %j goes by an index, with days as well",
  async (query, index) => {
    await using ledger = await openLedger({
      url: ":memory:",
      environment: "sandbox",
    });
    const days = {
      createdAfter: "2026-11-20",
      createdUpTo: "2026-11-21",
      after: encodeCursor("2026-11-20T09:00:00.000Z", "7"),
    };
    // The few that wait or that a name leads to are sorted.
    const isFew = query.attention === "stuck" ||
      (query.reference ?? query.clickId) !== undefined;
    for (const more of [{}, days]) {
      const driver = new Watched(ledger.driver);
      await new Orders(driver, "sandbox").page({ ...query, ...more });
      const pages = driver.seen.filter(({ sql }) => sql.includes("key_at"));
      assert.ok(pages.length > 0);
      for (const { sql, args } of pages) {
        const [plan] = await ledger.driver.batch([
          { sql: `EXPLAIN QUERY PLAN ${sql}`, args },
        ], "read");
        const steps = plan?.rows.map((row) => String(row[3])).join("\n") ?? "";
        assert.match(steps, index);
        if (!isFew) assert.doesNotMatch(steps, /TEMP B-TREE/, steps);
        assert.doesNotMatch(steps, /SCAN (?:r|orders)\b(?! USING)/, steps);
      }
    }
  },
);

Deno.test("queryMs() reads a time with a zone, and a date", () => {
  const nine = Date.parse("2026-11-20T09:00:00.000Z");
  assert.equal(queryMs("time", "2026-11-20T10:00:00+01:00"), nine);
  assert.equal(queryMs("time", "2026-11-20"), nine - 9 * 3_600_000);
});
