import assert from "node:assert/strict";
import fc from "fast-check";
import { openDriver } from "../connections/open_driver.ts";
import { PackedRows } from "./packed_rows.ts";

Deno.test("PackedRows bring columns and any well-formed text through the database", async () => {
  const driver = await openDriver({ url: ":memory:" });
  const text = fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: "grapheme-ascii" }) },
    fc.string({ unit: "binary" }).map((raw) =>
      raw.toWellFormed().replaceAll("\0", "")
    ),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(text, fc.option(fc.integer()), text, text), {
        maxLength: 8,
      }),
      async (rows) => {
        for (const repeated of [[], [0], [1], [0, 1]]) {
          const packed = new PackedRows(2, 2, repeated);
          const [result] = await driver.batch([{
            sql: `SELECT ${[...packed.sql, ...packed.texts].join(", ")}
              FROM ${packed.from} ORDER BY w.key`,
            args: packed.pack(rows.map(([a, b, c, d]) => ({
              columns: [a, b],
              texts: [c, d],
            }))),
          }], "read");
          assert.deepEqual(result?.rows, rows);
        }
      },
    ),
  );
  await driver.close();
});
