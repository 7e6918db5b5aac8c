import assert from "node:assert/strict";
import fc from "fast-check";
import { type MatchRow, matchRows } from "./match_statement.ts";

const NOTHING: MatchRow = {
  orderId: null,
  externalOrderId: null,
  txId: null,
  amount: null,
  currency: null,
  day: null,
};

const row = (part: Partial<MatchRow> & { readonly name?: string }) => ({
  ...NOTHING,
  amount: "30.10",
  currency: "USD",
  day: "2026-11-20",
  ...part,
});

/** What belongs together, by the names of the rows. */
function matched(
  there: readonly ReturnType<typeof row>[],
  here: readonly ReturnType<typeof row>[],
  daysApart = 0,
) {
  return matchRows(there, here, daysApart).map(
    ({ there, here, by, isOneOfSeveral }) =>
      [
        `${there?.name ?? "-"} ${here?.name ?? "-"} ${by}`,
        ...isOneOfSeveral ? ["of several"] : [],
      ].join(" "),
  );
}

Deno.test("matchRows() goes by order id, external id and transaction before it goes by amount", () => {
  assert.deepEqual(
    matched([
      row({ name: "bank", amount: "30.1" }),
      row({ name: "hash", txId: "0xAB", amount: "1" }),
      row({ name: "ours", externalOrderId: "X1" }),
      row({ name: "service", orderId: "O1", amount: "9" }),
    ], [
      row({ name: "O1", orderId: "O1", externalOrderId: "X9" }),
      row({ name: "O2", orderId: "O2", externalOrderId: "X1" }),
      row({ name: "O3", orderId: "O3", txId: "0xab" }),
      row({ name: "O4", orderId: "O4" }),
    ]),
    [
      "bank O4 amount",
      "hash O3 txId",
      "ours O2 externalOrderId",
      "service O1 orderId",
    ],
  );
});

Deno.test("matchRows() never takes two rows for one that name different ids, whatever else agrees", () => {
  assert.deepEqual(
    matched(
      [row({ name: "a", orderId: "O9", externalOrderId: "X1", txId: "T" })],
      [row({ name: "O1", orderId: "O1", externalOrderId: "X1", txId: "T" })],
    ),
    ["a - null", "- O1 null"],
  );
});

Deno.test("matchRows() puts rows of one id together by their money, and leaves a row that comes twice alone", () => {
  assert.deepEqual(
    matched([
      row({ name: "again", orderId: "O1", amount: "31.1" }),
      row({ name: "back", orderId: "O1", amount: "-30.1" }),
      row({ name: "twice", orderId: "O1", amount: "31.1" }),
    ], [
      row({ name: "reversal", orderId: "O1", amount: "-30.10" }),
      row({ name: "restatement", orderId: "O1", amount: "31.10" }),
    ]),
    ["again restatement orderId", "back reversal orderId", "twice - null"],
  );
});

Deno.test("matchRows() goes by the nearest day within the days given, and says where it had a choice", () => {
  const here = [
    row({ name: "20", orderId: "O1" }),
    row({ name: "21", orderId: "O2", day: "2026-11-21" }),
  ];
  const there = [
    row({ name: "a", day: "2026-11-23" }),
    row({ name: "b", day: "2026-11-21" }),
  ];
  assert.deepEqual(matched(there, here), [
    "a - null",
    "b 21 amount",
    "- 20 null",
  ]);
  assert.deepEqual(matched(there, here, 3), ["a 20 amount", "b 21 amount"]);
  assert.deepEqual(
    matched([row({ name: "a" })], [row({ name: "1" }), row({ name: "2" })]),
    ["a 1 amount of several", "- 2 null"],
  );
  assert.deepEqual(
    matched([row({ name: "a", day: null })], here),
    ["a 20 amount of several", "- 21 null"],
  );
});

Deno.test("matchRows() compares amounts of any length exactly", () => {
  const here = [
    row({ name: "O1", orderId: "O1", amount: "0.012300000000000001" }),
  ];
  assert.deepEqual(matched([row({ name: "a", amount: "0.0123" })], here), [
    "a - null",
    "- O1 null",
  ]);
  assert.deepEqual(
    matched([row({ name: "a", amount: "0.01230000000000000100" })], here),
    ["a O1 amount"],
  );
});

const id = (letters: string) =>
  fc.option(fc.constantFrom(...letters), { nil: null });
const anyRow: fc.Arbitrary<MatchRow> = fc.record({
  orderId: id("ABCD"),
  externalOrderId: id("XYZ"),
  txId: id("TUV"),
  amount: fc.option(fc.constantFrom("1", "1.0", "2", "-1"), { nil: null }),
  currency: fc.constantFrom("USD", "EUR", null),
  day: fc.option(
    fc.nat(5).map((at) => `2026-11-2${at}`),
    { nil: null },
  ),
});

Deno.test("matchRows() uses each row of either side exactly once, and matches only what may be of each other", () => {
  fc.assert(fc.property(
    fc.array(anyRow, { maxLength: 12 }),
    fc.array(anyRow, { maxLength: 12 }),
    fc.nat(3),
    (there, here, daysApart) => {
      const pairs = matchRows(there, here, daysApart);
      const theirs = pairs.flatMap(({ there }) => there ?? []);
      const ours = pairs.flatMap(({ here }) => here ?? []);
      assert.deepEqual(theirs, there);
      assert.equal(ours.length, here.length);
      assert.equal(new Set(ours).size, here.length);
      const surest = (a: MatchRow, b: MatchRow) =>
        (["orderId", "externalOrderId", "txId"] as const).find((id) =>
          a[id] !== null && b[id] !== null
        );
      const mayBe = (a: MatchRow, b: MatchRow) => {
        const id = surest(a, b);
        if (id !== undefined) return a[id] === b[id];
        return a.amount !== null && b.amount !== null &&
          Number(a.amount) === Number(b.amount) && a.currency !== null &&
          a.currency === b.currency &&
          (a.day === null || b.day === null ||
            Math.abs(Date.parse(a.day) - Date.parse(b.day)) <=
              daysApart * 86_400_000);
      };
      for (const { there, here, by } of pairs) {
        assert.equal(by !== null, there !== null && here !== null);
        if (there === null || here === null) continue;
        assert.ok(mayBe(there, here));
        if (by !== "amount") assert.equal(surest(there, here), by);
      }
      // Nothing is left on both sides that could be of each other.
      const leftThere = pairs.flatMap((one) =>
        one.here === null && one.there !== null ? [one.there] : []
      );
      const leftHere = pairs.flatMap((one) =>
        one.there === null && one.here !== null ? [one.here] : []
      );
      for (const a of leftThere) {
        assert.ok(!leftHere.some((b) => mayBe(a, b)));
      }
    },
  ));
});
