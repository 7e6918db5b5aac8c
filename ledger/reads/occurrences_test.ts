import fc from "fast-check";
import assert from "node:assert/strict";
import { at } from "../testing/given_facts.ts";
import { classifyOccurrences, type EqualDelivery } from "./deliveries.ts";

/** Deliveries `[minute, answered]`, named by place. */
function deliveries(
  ...all: readonly (readonly [number, boolean])[]
): EqualDelivery[] {
  return all.map(([minute, answered], place) => ({
    eventId: `D${place}`,
    recordedAt: at(minute),
    answered,
  }));
}

function kinds(...all: readonly (readonly [number, boolean])[]): string[] {
  return classifyOccurrences(deliveries(...all)).map(({ as }) => as);
}

Deno.test("classifyOccurrences() calls repeats at other times new occurrences", () => {
  assert.deepEqual(kinds([0, true], [3, true], [30, true]), [
    "occurrence",
    "occurrence",
    "occurrence",
  ]);
  assert.deepEqual(kinds([0, false], [3, true]), ["occurrence", "occurrence"]);
});

Deno.test("classifyOccurrences() follows the schedule counted from the first failure", () => {
  const attempts = [0, 5, 60, 120, 240, 480];
  assert.deepEqual(
    kinds(...attempts.map((minute) => [minute, false] as const)),
    ["occurrence", "retry", "retry", "retry", "retry", "retry"],
  );
});

Deno.test("classifyOccurrences() follows the schedule counted from the previous failure", () => {
  const attempts = [0, 5, 65, 185, 425, 905];
  assert.deepEqual(
    kinds(...attempts.map((minute) => [minute, false] as const)),
    ["occurrence", "retry", "retry", "retry", "retry", "retry"],
  );
});

Deno.test("classifyOccurrences() knows a retry when attempts in between never arrived", () => {
  assert.deepEqual(kinds([0, false], [480, true]), ["occurrence", "retry"]);
  assert.deepEqual(kinds([0, false], [905, true]), ["occurrence", "retry"]);
  assert.deepEqual(kinds([0, false], [425, true]), ["occurrence", "retry"]);
});

Deno.test("classifyOccurrences() calls a repeat after an answer possible", () => {
  assert.deepEqual(kinds([0, true], [5, true]), [
    "occurrence",
    "possibleRepeat",
  ]);
  assert.deepEqual(kinds([0, false], [5, true], [60, true]), [
    "occurrence",
    "retry",
    "possibleRepeat",
  ]);
});

Deno.test("classifyOccurrences() keeps to its tolerance", () => {
  assert.deepEqual(kinds([0, false], [6, true]), ["occurrence", "retry"]);
  assert.deepEqual(kinds([0, false], [4, true]), ["occurrence", "retry"]);
  assert.deepEqual(kinds([0, false], [6.01, true]), [
    "occurrence",
    "occurrence",
  ]);
});

Deno.test("classifyOccurrences() prefers the unanswered delivery, then the nearer one", () => {
  const found = classifyOccurrences(
    deliveries([0, true], [0.5, false], [5.2, true]),
  );
  assert.deepEqual(found[2], {
    eventId: "D2",
    recordedAt: at(5.2),
    as: "retry",
    of: "D1",
    gapMs: 4.7 * 60_000,
  });
  const nearer = classifyOccurrences(
    deliveries([0, false], [0.5, false], [5.4, true]),
  );
  assert.equal(nearer[2]?.of, "D1");
});

Deno.test("classifyOccurrences() lets each delivery be repeated once", () => {
  const found = classifyOccurrences(
    deliveries([0, false], [5, false], [5.1, false]),
  );
  assert.deepEqual(found.map(({ as }) => as), [
    "occurrence",
    "retry",
    "occurrence",
  ]);
});

Deno.test("classifyOccurrences() does not depend on the order it is given them in", () => {
  const delivery = fc.tuple(
    fc.constantFrom(0, 1, 5, 6, 60, 65, 120, 185, 480, 905),
    fc.boolean(),
  );
  fc.assert(
    fc.property(fc.array(delivery, { maxLength: 8 }), (all) => {
      const given = deliveries(...all);
      const found = classifyOccurrences(given);
      assert.deepEqual(classifyOccurrences(given.toReversed()), found);
      assert.equal(found.length, given.length);
      const repeated = found.flatMap(({ of }) => of === null ? [] : [of]);
      assert.equal(new Set(repeated).size, repeated.length);
    }),
  );
});
