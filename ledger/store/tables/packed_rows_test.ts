import assert from "node:assert/strict";
import fc from "fast-check";
import { openDriver } from "../connections/open_driver.ts";
import { packedText, packRows } from "./packed_rows.ts";

Deno.test("packRows() brings columns and any well-formed text through the database", async () => {
  const driver = await openDriver({ url: ":memory:" });
  const text = fc.string({ unit: "binary" }).map((raw) =>
    raw.toWellFormed().replaceAll("\0", "")
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(text, fc.option(fc.integer()), text, text), {
        maxLength: 8,
      }),
      async (rows) => {
        const [result] = await driver.batch([{
          sql: `SELECT r.value ->> 0, r.value ->> 1, ${packedText(2, 0)},
            ${packedText(2, 1)} FROM json_each(?2) AS r ORDER BY r.key`,
          args: packRows(rows.map(([a, b, c, d]) => ({
            columns: [a, b],
            texts: [c, d],
          }))),
        }], "read");
        assert.deepEqual(result?.rows, rows);
      },
    ),
  );
  await driver.close();
});
