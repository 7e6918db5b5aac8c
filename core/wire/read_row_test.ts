import assert from "node:assert/strict";
import fc from "fast-check";
import { isDeeperThan } from "../guards.ts";
import {
  ORDER_FIELD_NAMES,
  orderField,
  readOrderRow,
  readUserRow,
} from "./fields.ts";

const SOUND = {
  text: "text",
  identifier: "id",
  decimal: "0.212345678901234567",
};
const order: Readonly<Record<string, unknown>> = {
  order_id: "A",
  status: "success",
  created_at: "2026-01-01 10:00:00",
  changed_at: "2026-01-01 10:00:00",
  additional_data: null,
  ...Object.fromEntries(
    ORDER_FIELD_NAMES.map(orderField).map((
      { wire, shape },
    ) => [wire, SOUND[shape]]),
  ),
};
const fields = [...Object.keys(order), "unknown", "__proto__"];
const value = fc.oneof(
  fc.constantFrom(null, "", "a", "1.5", "-0", "1e5", true, {}, [], "\ud800"),
  fc.constantFrom("1.", ".5", "-", "--1", "1.2.3", " 1", "+1", "1\u0660", "١"),
  fc.constantFrom("9".repeat(200), "9".repeat(201)),
  fc.string(),
);
const row = fc.array(fc.tuple(fc.constantFrom(...fields), value)).map(
  (entries) => Object.fromEntries([["status", "success"], ...entries]),
);

Deno.test("readOrderRow() gives a sound row itself, and of another one each field or its oddity", () => {
  let sound = 0;
  fc.assert(
    fc.property(row, (row) => {
      const { row: read, odd } = readOrderRow(row);
      if (odd.length === 0) {
        sound++;
        assert.equal(read, row);
        return;
      }
      for (const [name, value] of Object.entries(row)) {
        const isOdd = odd.some(({ field }) => field === name);
        const kept = Object.entries(read).find(([field]) => field === name);
        if (isOdd && name !== "status") assert.equal(kept, undefined, name);
        if (!isOdd) assert.deepEqual(kept, [name, value]);
      }
    }),
    { numRuns: 2000 },
  );
  assert.ok(sound > 100, `only ${sound} were sound`);
});

Deno.test("readOrderRow() finds each odd field of an order that is sound otherwise", () => {
  assert.equal(readOrderRow(order).row, order);
  for (const field of Object.keys(order)) {
    if (field === "order_id" || field === "additional_data") continue;
    const { odd } = readOrderRow({ ...order, [field]: true });
    assert.deepEqual(odd[0], { field, value: "boolean" });
  }
});

Deno.test("readOrderRow() looks into every field that is too deep", () => {
  let deep: unknown = "x";
  for (let level = 0; level < 101; level++) deep = [deep];
  for (const field of ["additional_data", "unknown"]) {
    const { odd } = readOrderRow({ ...order, [field]: deep });
    assert.deepEqual(odd, [{ field, value: "too_deep" }]);
  }
});

Deno.test("readOrderRow() reads what it gave once more without oddity, but for the status", () => {
  fc.assert(fc.property(row, (row) => {
    const once = readOrderRow(row).row;
    const again = readOrderRow({ ...once });
    assert.deepEqual(again.row, once);
    const others = again.odd.filter(({ field }) => field !== "status");
    assert.deepEqual(others, []);
  }));
});

Deno.test("readUserRow() tells of a bounded number of fields, in order", () => {
  const cards = Array.from({ length: 1000 }, () => ({ brand: {} }));
  const { odd } = readUserRow({ linked_payment_methods: [{ cards }] });
  assert.equal(odd.length, 20);
  assert.deepEqual(odd, odd.toSorted((a, b) => a.field < b.field ? -1 : 1));
});

Deno.test("isDeeperThan() takes any depth without recursion", () => {
  let value: unknown = "x";
  for (let level = 0; level < 1_000_000; level++) value = [value];
  assert.equal(isDeeperThan(value), true);
  assert.equal(isDeeperThan([[{}]], 3), false);
  assert.equal(isDeeperThan([[{}]], 2), true);
  assert.equal(isDeeperThan("[[[["), false);
});
