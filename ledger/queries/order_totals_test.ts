import assert from "node:assert/strict";
import fc from "fast-check";
import { at, emptyStore, orderRead } from "../testing/projection_test_kit.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import { Projector } from "../projection/projector.ts";
import { hasMany, readTotals } from "./order_totals.ts";
import { type OrderQuery, orderSelection } from "./orders.ts";

/** A database of 23 orders: 8 successes, 7 pending and 8 failed. */
async function someOrders() {
  const driver = await emptyStore();
  await driver.batch([appendStatement(
    Array.from({ length: 23 }, (_, n) =>
      orderRead(n, {
        orderId: `O${String(n).padStart(2, "0")}`,
        status: ["success", "failed", "pending"][n % 3] ?? "",
        // Many are of one moment.
        created: Math.floor(n / 5),
      })),
  )], "write");
  const projector = new Projector({ driver, assets: "sandbox" });
  while ((await projector.step("live")).events > 0);
  return driver;
}

Deno.test("readTotals() counts each order once, whatever the steps", async () => {
  const driver = await someOrders();
  const count = async (query: OrderQuery, step: number) =>
    (await readTotals(driver, orderSelection(query), step))
      .reduce((sum, { orders }) => sum + orders, 0);
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 30 }),
      fc.constantFrom("newest", "oldest"),
      async (step, sort) => {
        assert.equal(await count({ sort }, step), 23);
        assert.equal(await count({ sort, status: "success" }, step), 8);
        // Read by the few that an index has, and from two of its ranges.
        assert.equal(await count({ sort, open: true }, step), 7);
        assert.equal(await count({ sort, release: "no" }, step), 8);
      },
    ),
  );
  await driver.close();
});

Deno.test("hasMany() tells whether more orders are to be looked at than there may be", async () => {
  const driver = await someOrders();
  const all: readonly [OrderQuery, number][] = [
    [{}, 23],
    // Which of them are looked for is not known before.
    [{ status: "success" }, 23],
    [{ createdAfter: at(2) }, 8],
    [{ open: true }, 7],
    [{ userId: "nobody" }, 0],
  ];
  for (const [query, looked] of all) {
    const selection = orderSelection(query);
    for (const many of [1, looked - 1, looked, looked + 1]) {
      if (many < 0) continue;
      assert.equal(
        await hasMany(driver, selection, many),
        looked > many,
        `${JSON.stringify(query)} of ${many}`,
      );
    }
  }
  await driver.close();
});
