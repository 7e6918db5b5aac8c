import assert from "node:assert/strict";
import fc from "fast-check";
import { openDriver } from "../connections/open_driver.ts";
import type { SqlValue } from "../driver/driver.ts";
import { RepeatedRows } from "./repeated_rows.ts";

Deno.test("RepeatedRows bring rows through the database in their order, whichever columns repeat", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const value: fc.Arbitrary<SqlValue> = fc.constantFrom(null, 0, 1, "a", '"b"');
  const row = fc.array(value, { minLength: 4, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 12 }),
      fc.subarray([0, 1, 2, 3]),
      async (rows, repeated) => {
        const columns = new RepeatedRows(4, repeated);
        const packed = columns.pack(rows);
        const [result] = await driver.batch([{
          sql: `SELECT ${columns.sql.join(", ")} FROM ${columns.from("?1")}
            ORDER BY w.key`,
          args: [packed],
        }], "read");
        assert.deepEqual(result?.rows, rows);
        assert.deepEqual(columns.unpack(packed), rows);
      },
    ),
  );
  await driver.close();
});
