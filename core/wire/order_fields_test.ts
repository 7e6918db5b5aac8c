import assert from "node:assert/strict";
import {
  ORDER_FIELD_NAMES,
  ORDER_FIELDS,
  orderField,
  readOrderRow,
} from "./fields.ts";

Deno.test("ORDER_FIELDS names what readOrderRow() checks, field by field", () => {
  for (const name of ORDER_FIELD_NAMES) {
    const { wire } = ORDER_FIELDS[name];
    const { row, odd } = readOrderRow(
      { order_id: "O", status: "success", [wire]: { odd: true } },
    );
    assert.deepEqual(odd, [{ field: wire, value: "object" }], name);
    assert.equal(wire in row, false, name);
  }
});

Deno.test("ORDER_FIELDS gives no two fields one title or one column", () => {
  for (const part of ["label", "column"] as const) {
    const given = ORDER_FIELD_NAMES.flatMap((name) =>
      orderField(name)[part] ?? []
    );
    assert.equal(new Set(given).size, given.length, part);
  }
});
