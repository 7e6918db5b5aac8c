import assert from "node:assert/strict";
import fc from "fast-check";
import type { WatchedChange } from "../../ledger/for_sync.ts";
import { DECIDING_CHANGES, suspectDelivery } from "./watchdog_rule.ts";

/** Changes of these letters: `a` announced, `s` silent. */
function changes(letters: string): WatchedChange[] {
  return [...letters].map((letter, minute) => {
    const at = new Date(minute * 60_000).toISOString();
    return {
      orderId: `order-${minute}`,
      status: "success",
      movedAt: at,
      seenAt: at,
      announced: letter === "a",
    };
  });
}

const suspects = (letters: string) =>
  suspectDelivery(changes(letters)).suspected;
const silentOf = (letters: string) =>
  suspectDelivery(changes(letters)).silent.map(({ orderId }) => orderId);

Deno.test("suspectDelivery() suspects when the last two, or three of thirty, are silent", () => {
  for (const quiet of ["", "a", "s", "sa", "asas", `sas${"a".repeat(4)}`]) {
    assert.equal(suspects(quiet), false, quiet);
  }
  for (const loud of ["ss", "aaaaass", "sasas", "saaaasaaaas"]) {
    assert.equal(suspects(loud), true, loud);
  }
});

Deno.test("suspectDelivery() is calm again after five in a row, and not before", () => {
  assert.equal(suspects("ssaaaa"), true);
  assert.equal(suspects("ssaaaaa"), false);
  assert.deepEqual(silentOf("ssaaaa"), ["order-0", "order-1"]);
  assert.deepEqual(silentOf("ssaaaaa"), []);
  assert.deepEqual(silentOf("ssaaaaas"), ["order-7"]);
});

Deno.test("suspectDelivery() is calm again when the silent ones came after all", () => {
  assert.equal(suspects("assaa"), true);
  assert.equal(suspects("aaaaa"), false);
  assert.equal(suspects("asaaa"), false);
});

Deno.test("suspectDelivery() hears three silent ones among thirty, whatever is announced between", () => {
  for (let between = 0; between <= 13; between++) {
    const letters = `s${"a".repeat(between)}`.repeat(3).slice(
      0,
      2 * between + 3,
    );
    assert.equal(suspects(letters), true, letters);
  }
  assert.equal(suspects(`s${"a".repeat(14)}s${"a".repeat(15)}s`), false);
});

Deno.test("suspectDelivery() needs ten announced changes for each silent one to stay calm", () => {
  fc.assert(fc.property(
    fc.array(fc.nat({ max: 9 }), { minLength: 3, maxLength: 30 }),
    (gaps) => {
      const letters = gaps.map((gap) => `${"a".repeat(gap)}s`).join("");
      assert.equal(suspects(letters), true, letters);
    },
  ));
});

Deno.test("suspectDelivery() never minds what came before the last sixty", () => {
  const letters = fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constant("a") },
      { weight: 1, arbitrary: fc.constant("s") },
    ),
    { minLength: DECIDING_CHANGES, maxLength: 300 },
  );
  fc.assert(
    fc.property(letters, (all) => {
      const whole = all.join("");
      assert.equal(suspects(whole.slice(-DECIDING_CHANGES)), suspects(whole));
    }),
    { numRuns: 2000 },
  );
});
