import assert from "node:assert/strict";
import fc from "fast-check";
import type { Driver } from "../store/driver/driver.ts";
import {
  compareGenerations,
  diffStates,
  type StateChange,
} from "./compare_generations.ts";
import { emptyStore } from "../testing/projection_test_kit.ts";
import { tries } from "../../tests/kit/thorough.ts";

type States = Readonly<Record<string, string>>;

async function write(driver: Driver, generation: number, states: States) {
  const rows = Object.entries(states).map(([id, status]) => [
    id,
    JSON.stringify({ status }),
  ]);
  await driver.batch([{
    sql: `INSERT INTO users
        (generation, place, user_id, status, trust, sort_at, state, activity,
          fold)
      SELECT ?1, key, value ->> 0, '', '', 0, value ->> 1, '', ''
      FROM json_each(?2)`,
    args: [generation, JSON.stringify(rows)],
  }], "write");
}

Deno.test("compareGenerations() finds in pages of any size what differs, is new or is gone", async () => {
  // Beyond U+FFFF text sorts by bytes in SQLite, and not so in JavaScript.
  const id = fc.constantFrom(..."abcdefghij", "\u{fffd}", "\u{1f600}", "é");
  const states = fc.dictionary(id, fc.constantFrom("x", "y"));
  await fc.assert(
    fc.asyncProperty(
      states,
      states,
      fc.integer({ min: 1, max: 5 }),
      async (was, is, limit) => {
        const driver = await emptyStore();
        await write(driver, 1, was);
        await write(driver, 2, is);
        await write(driver, 3, { a: "z", other: "z" });
        const found: StateChange[] = [];
        let pages = 0;
        for (let afterId: string | null = ""; afterId !== null;) {
          const page = await compareGenerations(driver, {
            entity: "user",
            before: 1,
            after: 2,
            afterId,
            limit,
          });
          found.push(...page.changes);
          afterId = page.last;
          assert.ok(++pages < 40, "it ends");
        }
        const expected = [...new Set([...Object.keys(was), ...Object.keys(is)])]
          .filter((id) => was[id] !== is[id])
          .map((id) => [id, was[id] ?? null, is[id] ?? null]);
        assert.deepEqual(
          found.map(({ id, fields }) => {
            const status = fields.find(({ field }) => field === "status");
            return [id, status?.before, status?.after];
          }).sort(),
          expected.sort(),
        );
        await driver.close();
      },
    ),
    { numRuns: tries(60) },
  );
});

Deno.test("diffStates() names the fields that differ, dotted", () => {
  const before = JSON.stringify({
    a: 1,
    fees: { x: "1", y: "2" },
    list: ["p"],
  });
  const after = JSON.stringify({
    a: 1,
    fees: { x: "1", y: "3" },
    list: ["p", "q"],
  });
  assert.deepEqual(diffStates(before, after), [
    { field: "fees.y", before: "2", after: "3" },
    { field: "list.1", before: null, after: "q" },
  ]);
});

Deno.test("diffStates() takes null, an empty list and a missing field for the same", () => {
  assert.deepEqual(diffStates('{"a":null,"b":[],"c":{}}', "{}"), []);
});

Deno.test("diffStates() shows an entity that is new or gone with all its fields", () => {
  assert.deepEqual(diffStates(null, '{"a":true}'), [
    { field: "a", before: null, after: "true" },
  ]);
  assert.deepEqual(diffStates('{"a":true}', null), [
    { field: "a", before: "true", after: null },
  ]);
  assert.deepEqual(diffStates(null, null), []);
});
