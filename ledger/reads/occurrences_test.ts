import fc from "fast-check";
import assert from "node:assert/strict";
import { at } from "../testing/given_facts.ts";
import { openLedger } from "../open_ledger.ts";
import { webhook } from "../testing/projection_test_kit.ts";
import { classifyOccurrences } from "./deliveries.ts";

/** Deliveries `[minute, answered]`, named by place. */
function deliveries(
  ...all: readonly (readonly [number, boolean])[]
): Parameters<typeof classifyOccurrences>[0] {
  return all.map(([minute, answered], place) => ({
    eventId: `D${place}`,
    recordedAt: at(minute),
    answered,
  }));
}

Deno.test.each(
  [
    ["repeats at other times happened again", "0+ 3+ 30+", "ooo"],
    ["also where the first was not answered", "0- 3+", "oo"],
    ["a schedule from the first failure", "0- 5- 60- 120- 240- 480-", "orrrrr"],
    ["or from the one before", "0- 5- 65- 185- 425- 905-", "orrrrr"],
    ["attempts in between never arrived", "0- 480+", "or"],
    ["attempts in between never arrived", "0- 905+", "or"],
    ["attempts in between never arrived", "0- 425+", "or"],
    ["a repeat after an answer is possible", "0+ 5+", "op"],
    ["a repeat after an answer is possible", "0- 5+ 60+", "orp"],
    ["a retry may be a minute late", "0- 6+", "or"],
    ["or early", "0- 4+", "or"],
    ["and no more", "0- 6.01+", "oo"],
    ["each is repeated once", "0- 5- 5.1-", "oro"],
  ] as [string, string, string][],
)("classifyOccurrences(): %s: %s", (_, given, expected) => {
  const all = given.split(" ").map((one) =>
    [parseFloat(one), one.endsWith("+")] as const
  );
  const found = classifyOccurrences(deliveries(...all));
  assert.equal(found.map(({ as }) => as.charAt(0)).join(""), expected);
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

Deno.test("Ledger.occurrences() holds a thousand deliveries against each other, the nearest to the one that is asked for", async () => {
  await using ledger = await openLedger({
    ...{ url: ":memory:", environment: "sandbox" },
  });
  await ledger.append(
    Array.from({ length: 1_500 }, (_, n) =>
      webhook(`W${n}`, n / 60_000, {
        ...{ type: "login", user: { user_id: "U1" } },
      })),
  );
  await ledger.project();
  const found = await ledger.occurrences("W1499");
  assert.equal(found.length, 1_000);
  assert.equal(found.at(-1)?.eventId, "W1499");
});
