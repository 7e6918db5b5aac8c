import assert from "node:assert/strict";
import fc from "fast-check";
import { isPlainOrdersList } from "./_quick_orders.ts";
import { orderSchema, ordersSchema } from "./_schemas.ts";

const value = fc.oneof(
  fc.constantFrom(null, "", "a", "1.5", "-0", "1e5", true, {}, [], "\ud800"),
  fc.string(),
);
const order = fc.record(
  Object.fromEntries(
    Object.keys(orderSchema.shape).map((name) => [
      name,
      fc.oneof({ weight: 30, arbitrary: fc.constantFrom("1.50", null) }, value),
    ]),
  ),
  { requiredKeys: [], noNullPrototype: true },
).map((fields) => ({ order_id: "A", status: "success", extra: 1, ...fields }));
const list = fc.record({
  success: fc.constantFrom(true, true, true, false, "true", null),
  data: fc.oneof(
    { weight: 9, arbitrary: fc.array(order, { maxLength: 3 }) },
    fc.constantFrom({}, null, [1], [[]]),
  ),
  next_cursor_id: fc.constantFrom("C", "", null, {}),
  total: value,
}, { requiredKeys: [], noNullPrototype: true });

Deno.test("isPlainOrdersList() accepts only what the schema gives back unchanged", () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof(list, value), (body) => {
      if (!isPlainOrdersList(body)) return;
      accepted++;
      assert.deepEqual(ordersSchema.parse(body), body);
    }),
    { numRuns: 3000 },
  );
  assert.ok(accepted > 100, `only ${accepted} accepted`);
});

Deno.test("isPlainOrdersList() accepts a page of the documented form", () => {
  const fields = Object.keys(orderSchema.shape).map((name) => [name, "1.5"]);
  const full = Object.fromEntries(fields);
  assert.ok(isPlainOrdersList({ success: true, data: [full], total: "1" }));
  for (const name of Object.keys(full)) {
    if (name === "additional_data") continue;
    const broken = { ...full, [name]: {} };
    assert.ok(!isPlainOrdersList({ success: true, data: [broken] }), name);
  }
});
