import assert from "node:assert/strict";
import fc from "fast-check";
import { emptyStore, orderRead } from "../testing/projection_test_kit.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import { Projector } from "../projection/projector.ts";
import { readTotals } from "./order_totals.ts";
import { type OrderQuery, orderSelection } from "./orders.ts";

Deno.test("readTotals() counts each order once, whatever the steps", async () => {
  const driver = await emptyStore();
  await driver.batch([appendStatement(
    Array.from({ length: 23 }, (_, n) =>
      orderRead(n, {
        orderId: `O${String(n).padStart(2, "0")}`,
        status: n % 3 === 0 ? "success" : "failed",
        // Many are of one moment.
        created: Math.floor(n / 5),
      })),
  )], "write");
  const projector = new Projector({ driver, assets: "sandbox" });
  while ((await projector.step("live")).events > 0);
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
      },
    ),
  );
  await driver.close();
});
