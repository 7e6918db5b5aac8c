import assert from "node:assert/strict";
import fc from "fast-check";
import { SortedIds } from "./order_store.ts";

Deno.test("SortedIds keeps the order of (time, id) and returns exact windows", () => {
  const row = fc.record({
    timeMs: fc.integer({ min: 0, max: 20 }),
    id: fc.string({ minLength: 1, maxLength: 3 }),
  });
  fc.assert(fc.property(
    fc.uniqueArray(row, { selector: (one) => one.id }),
    fc.integer({ min: -1, max: 21 }),
    fc.integer({ min: -1, max: 21 }),
    (rows, after, upTo) => {
      const sorted = new SortedIds();
      for (const { timeMs, id } of rows) sorted.add(timeMs, id);
      const expected = [...rows].sort((a, b) =>
        a.timeMs - b.timeMs || (a.id < b.id ? -1 : 1)
      );
      assert.deepEqual(
        sorted.between(after, upTo),
        expected.filter(({ timeMs }) => timeMs > after && timeMs <= upTo)
          .map(({ id }) => id),
      );
      assert.equal(sorted.last?.id, expected.at(-1)?.id);
      assert.equal(sorted.size, rows.length);
    },
  ));
});
