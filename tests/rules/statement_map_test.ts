import assert from "node:assert/strict";
import * as z from "zod";
import { jsonSchemaOf } from "../../resources/schemas/json_schema.ts";
import { readStatementMap } from "../../resources/statement/statement_map.ts";

const schema = z.fromJSONSchema(
  jsonSchemaOf("statement-map", "StatementMap") as z.core.JSONSchema.JSONSchema,
);

const columns = { orderId: "Order" };

Deno.test("readStatementMap() takes what the schema takes, and refuses what it refuses", () => {
  for (
    const [taken, map] of [
      [true, { columns }],
      [true, { columns, delimiter: "\t", decimalMark: ",", daysApart: 31 }],
      [true, { columns: { amount: "A" }, currency: "EUR", thousandsMark: "'" }],
      [true, { columns, amountOf: "partnerFeeUsd", dayFormat: "DD/MM/YYYY" }],
      [false, []],
      [false, {}],
      [false, { columns: [] }],
      [false, { columns: { ...columns, id: "x" } }],
      [false, { columns: { orderId: 7 } }],
      [false, { columns, encoding: "utf-8" }],
      [false, { columns, amountOf: "amount" }],
      [false, { columns, delimiter: ";;" }],
      [false, { columns, decimalMark: ";" }],
      [false, { columns, daysApart: -1 }],
      [false, { columns, daysApart: 32 }],
    ] as const
  ) {
    const { success } = schema.safeParse(map);
    assert.equal(success, taken, JSON.stringify(map));
    if (taken) readStatementMap(map);
    else assert.throws(() => readStatementMap(map), TypeError);
  }
});

Deno.test("the mapping that COMMANDS.md shows can be used", async () => {
  const text = await Deno.readTextFile(
    new URL("../../COMMANDS.md", import.meta.url),
  );
  const [, shown = ""] = /```json ignore\n(\{\n {2}"columns"[\s\S]*?)```/
    .exec(text) ?? [];
  assert.equal(readStatementMap(JSON.parse(shown)).thousandsMark, ".");
});
