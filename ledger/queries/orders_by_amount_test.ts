import assert from "node:assert/strict";
import fc from "fast-check";
import { appendStatement } from "../store/tables/events/append.ts";
import { type RowPage, selectPage } from "../store/tables/lists/state_pages.ts";
import type { Driver } from "../store/driver/driver.ts";
import { orderSnapshot } from "../events/mint.ts";
import { at, emptyStore } from "../testing/projection_test_kit.ts";
import { Projector } from "../projection/projector.ts";
import { readOrderState } from "../projection/codec/stored_state.ts";
import { type OrderQuery, Orders, orderSelection } from "./orders.ts";

/** Few amounts, so that many orders are of one; the last two are of none. */
const AMOUNTS = ["0", "7", "7.5", "100", "0.1234567", "9999999999"];

/** A ledger of orders that share amounts and moments, in no order of either. */
async function storeOf(count: number): Promise<Driver> {
  const driver = await emptyStore();
  const events = Array.from({ length: count }, (_, n) =>
    orderSnapshot({
      source: JSON.stringify({
        order_id: `O${String(n).padStart(3, "0")}`,
        status: n % 3 === 0 ? "success" : "failed",
        currency: n % 2 === 0 ? "USD" : "EUR",
        currency_amount: AMOUNTS[n * 7 % AMOUNTS.length],
        user_id: `U${n % 2}`,
        created_at: at(n * 11 % 5),
      }),
      readAt: at(10 + n),
      recordedAt: at(10 + n),
      salt: new Uint8Array(16),
    }));
  await driver.batch([appendStatement(events)], "write");
  const projector = new Projector({ driver, assets: "sandbox" });
  while ((await projector.step("live")).events > 0);
  return driver;
}

/** What the database says of every order: id, time, amount, place. */
async function sortedAs(
  driver: Driver,
  { sort = "newest", status, currency, userId, ...query }: OrderQuery,
): Promise<string[]> {
  const rows = [
    ...(await driver.batch([{
      sql: `SELECT order_id, sort_at, coalesce(amount, -1), place, status,
      currency, user_id FROM orders`,
      args: [],
    }], "read"))[0]?.rows ?? [],
  ].map((
    [id, time, amount, place, is, of, user],
  ) => ({
    id: String(id),
    key: (sort === "newest" || sort === "oldest" ? "" : digits(amount)) +
      digits(time) + digits(place),
    isChosen: (status === undefined || is === status) &&
      (currency === undefined || of === currency) &&
      (userId === undefined || user === userId) &&
      Number(amount) >= Number(query.amountFrom ?? -1) * 1e6 &&
      Number(time) > Date.parse(query.createdAfter ?? "1970-01-01"),
  })).filter(({ isChosen }) => isChosen);
  const sign = sort === "newest" || sort === "largest" ? -1 : 1;
  return rows.sort((a, b) => a.key < b.key ? -sign : sign).map(({ id }) => id);
}

function digits(value: unknown): string {
  return String(Number(value) + 1).padStart(20, "0");
}

Deno.test("Orders.page() sorts by time and amount, and reads each of equal amounts once, whatever the pages and steps", async () => {
  const driver = await storeOf(60);
  const query: fc.Arbitrary<OrderQuery> = fc.record({
    sort: fc.constantFrom("newest", "oldest", "largest", "smallest"),
    status: fc.constantFrom("success", "none"),
    currency: fc.constantFrom("EUR"),
    userId: fc.constantFrom("U0", "U1"),
    amountFrom: fc.constantFrom("0", "7", "7.1"),
    createdAfter: fc.constantFrom(at(-60), at(2)),
    limit: fc.integer({ min: 1, max: 9 }),
  }, { requiredKeys: ["sort", "limit"] });
  await fc.assert(
    fc.asyncProperty(
      query,
      fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1, maxLength: 3 }),
      fc.constantFrom(20, 200),
      async (query, steps, sorted) => {
        const found: string[] = [];
        let after: string | null = "";
        while (after !== null) {
          const page: RowPage = await selectPage(
            driver,
            orderSelection({ ...query, ...(after === "" ? {} : { after }) }),
            steps,
            sorted,
          );
          assert.ok(page.rows.length <= (query.limit ?? 0));
          assert.ok(page.next !== null || page.searchedTo === null);
          found.push(
            ...page.rows.map(({ state }) => readOrderState(state).orderId),
          );
          after = page.next;
        }
        assert.deepEqual(found, await sortedAs(driver, query));
      },
    ),
    { numRuns: 200 },
  );
  await driver.close();
});

Deno.test("Orders.page() ends a page once it has looked through many orders, and says how far it got", async () => {
  const driver = await storeOf(30);
  const page = (query: OrderQuery, steps: readonly number[]) =>
    selectPage(driver, orderSelection(query), steps);
  const rare = { currency: "GBP", status: "success" } as const;
  const first = await page(rare, [4, 6]);
  const whole = await sortedAs(driver, {});
  assert.deepEqual(first.rows, []);
  assert.equal(first.searchedTo?.id, whole[9]);
  const { next } = first;
  assert.ok(next !== null);
  assert.deepEqual(await page({ ...rare, after: next }, [40]), {
    rows: [],
    next: null,
    searchedTo: null,
  });
  await driver.close();
});

Deno.test("Orders.page() refuses the cursor of a page that was sorted otherwise", async () => {
  const driver = await storeOf(9);
  const orders = new Orders(driver);
  const { next } = await orders.page({ limit: 3, sort: "largest" });
  assert.ok(next !== null);
  assert.equal(
    (await orders.page({ sort: "largest", after: next })).next,
    null,
  );
  await assert.rejects(
    orders.page({ after: next }),
    /Wrong cursor: .* is not "next" of a page sorted likewise/,
  );
  const byTime = await orders.page({ limit: 3 });
  await assert.rejects(
    orders.page({ sort: "smallest", after: byTime.next ?? "" }),
    RangeError,
  );
  await driver.close();
});
