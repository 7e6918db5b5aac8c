import assert from "node:assert/strict";
import fc from "fast-check";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import { openDriver } from "./connections/open_driver.ts";
import { timeMs } from "./tables/stored_times.ts";

Deno.test("migrate() to version 9 makes the time that an order is sorted by the number that is stored of it, and keeps its amount", async () => {
  const noSmallYear = { min: new Date("0000-01-01"), noInvalidDate: true };
  const time = fc.date({ ...noSmallYear, max: new Date("9999-12-31") })
    .map((date) => date.toISOString());
  await fc.assert(
    fc.asyncProperty(fc.array(time, { minLength: 1 }), async (times) => {
      const driver = await openDriver({ url: ":memory:", worker: false });
      const to = (version: number) =>
        migrate(driver, {
          migrations: migrations.filter((one) => one.version <= version),
          environment: "sandbox",
          now: () => 0,
        });
      await to(8);
      await driver.batch([{
        sql: `INSERT INTO orders (row, generation, place, order_id, status,
            trust, open, sort_at, release, release_reason, state, activity,
            fold)
          SELECT key + 1, 1, key + 1, 'O' || key, 's', 't', 1, value, 'r', 'n',
            json_object('outcome', 'o', 'network', 'n', 'currency', 'USD',
              'currencyAmount', key || '.5'), '', ''
          FROM json_each(?)`,
        args: [JSON.stringify(times)],
      }], "write");
      await to(9);
      const [rows] = await driver.batch([{
        sql: `SELECT sort_at, outcome, network, currency, amount, sort_amount
          FROM orders ORDER BY place`,
        args: [],
      }], "read");
      await driver.close();
      assert.deepEqual(
        rows?.rows.map((row) => [...row]),
        times.map((time, at) => {
          const amount = at * 1_000_000 + 500_000;
          return [timeMs.write(time), "o", "n", "USD", amount, amount];
        }),
      );
    }),
    { numRuns: 20 },
  );
});
