import assert from "node:assert/strict";
import fc from "fast-check";
import { isDeeperThan } from "../json/json_depth.ts";
import { readOrderRow, readUserRow } from "./read_row.ts";

const fields = [
  "status",
  "click_id",
  "currency_amount",
  "crypto_amount",
  "tx_id",
  "service_fee",
  "additional_data",
  "__proto__",
];
const value = fc.oneof(
  fc.constantFrom(null, "", "a", "1.5", "-0", "1e5", true, {}, [], "\ud800"),
  fc.string(),
);
const row = fc.array(fc.tuple(fc.constantFrom(...fields), value)).map(
  (entries) => Object.fromEntries([["status", "success"], ...entries]),
);

Deno.test("readOrderRow() gives the same for a row, looked at quickly or slowly", () => {
  let sound = 0;
  fc.assert(
    fc.property(row, (row) => {
      const quick = readOrderRow(row, false);
      if (quick.odd.length === 0) {
        sound++;
        assert.deepEqual(quick.row, row);
      }
      const slow = readOrderRow(row, true);
      if (JSON.stringify(row).includes("\\u0000")) return;
      assert.deepEqual({ ...slow.row }, { ...quick.row });
      assert.deepEqual(slow.odd, quick.odd);
    }),
    { numRuns: 2000 },
  );
  assert.ok(sound > 100, `only ${sound} were sound`);
});

Deno.test("readOrderRow() reads what it gave once more without oddity, but for the status", () => {
  fc.assert(fc.property(row, (row) => {
    const once = readOrderRow(row, true).row;
    const again = readOrderRow({ ...once }, true);
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
