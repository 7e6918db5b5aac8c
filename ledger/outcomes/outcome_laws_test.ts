import assert from "node:assert/strict";
import { OUTCOME_WORDS } from "../../resources/wording/outcome.ts";
import { COMBINATIONS, POSSIBLE, variants } from "./combinations_test.ts";
import {
  applies,
  forgetOutcomes,
  OUTCOME_TABLE,
  type OutcomeFacts,
  outcomeOf,
  type OutcomeRow,
  type RowOutcome,
} from "./outcome_table.ts";
import { settle } from "./match.ts";

/** Whether something holds of the outcome with each value of a fact. */
type WithEach = (
  fact: keyof OutcomeFacts,
  holds: (other: RowOutcome) => boolean,
) => boolean;

/** Whether a law holds for one combination. */
type Law = (
  facts: OutcomeFacts,
  outcome: RowOutcome,
  withEach: WithEach,
) => boolean;

const isEnded = ({ shown }: OutcomeFacts) =>
  shown === "failed" || shown === "cancelled";
const isOpen = ({ shown }: OutcomeFacts) =>
  shown === "created" || shown === "progress" || shown === "pending";
/** What was asked for, and the chain has not shown it, for less than a day. */
const isWaitingForChain = (facts: OutcomeFacts) =>
  facts.required === "yes" && facts.overdue === "no" &&
  (facts.chain === "none" || facts.chain === "open");
/** The service left the wallet out, as it does in its earlier form. */
const isOfEarlierForm = ({ match, tx }: OutcomeFacts) =>
  match === "incomplete" && tx === "unstated";
/** The order was shown, with a status. */
const isRead = ({ shown }: OutcomeFacts) =>
  !["none", "denied", "unreadable"].includes(shown);

const GIVES = { no: 0, wait: 0, unchecked: 1, yes: 2 } as const;

const laws: Readonly<Record<string, Law>> = {
  "yes stands beside no attention but that of an amount on the chain": (
    _,
    { release, attention },
  ) => release !== "yes" || attention.every((kind) => kind === "chain_amount"),
  "yes stands beside no advice to hold, stop or compare first": (
    _,
    { release, code },
  ) =>
    release !== "yes" ||
    !/nothing|hold|stop|compare|before you/i.test(OUTCOME_WORDS[code].next),
  "yes means success, still shown, no other end, matched, a transaction, and a chain not against it":
    (facts, { release }) =>
      release !== "yes" ||
      (facts.shown === "success" && facts.gone === "no" &&
        facts.before === "none" && facts.match === "matched" &&
        facts.tx !== "empty" && facts.tx !== "unreadable" &&
        facts.chain !== "differs" &&
        facts.twice === "no" &&
        (facts.code === "none" || facts.code === "declined")),
  "every success is yes, or somebody's task, or waits for the chain for less than a day, or is told by a health condition":
    (facts, { release, attention }) =>
      facts.shown !== "success" || release === "yes" || attention.length > 0 ||
      isWaitingForChain(facts) || isOfEarlierForm(facts),
  "where the chain is required, yes means that a final look agrees": (
    facts,
    { release },
  ) => facts.required === "no" || release !== "yes" || facts.chain === "agrees",
  "to require the chain takes a yes away, and books nothing": (
    facts,
    one,
    withEach,
  ) =>
    facts.required === "yes" ||
    withEach("required", (other) =>
      GIVES[other.release] <= GIVES[one.release] &&
      other.booked === one.booked),
  "the chain gives a yes only where it is required": (facts, one, withEach) =>
    facts.chain !== "none" || facts.required === "yes" ||
    withEach("chain", (other) => GIVES[other.release] <= GIVES[one.release]),
  "unchecked means that nothing but a comparison is missing": (
    facts,
    { release, attention },
  ) =>
    release !== "unchecked" ||
    ((attention.includes("not_comparable") || isOfEarlierForm(facts)) &&
      (facts.match === "nothing" || facts.match === "incomplete")),
  "no means that the service shows failed or cancelled": (
    facts,
    { release },
  ) => release !== "no" || isEnded(facts),
  "failed and cancelled are no while the service shows them": (
    facts,
    { release },
  ) => !isEnded(facts) || facts.gone === "yes" || release === "no",
  "webhooks change no release and book nothing": (_, one, withEach) =>
    withEach(
      "claim",
      (other) => other.release === one.release && other.booked === one.booked,
    ),
  "webhooks change neither reason nor attention of an order that was shown": (
    facts,
    one,
    withEach,
  ) =>
    !isRead(facts) ||
    withEach("claim", (other) =>
      other.reason === one.reason &&
      other.attention.join() === one.attention.join()),
  "a final order has the same row whatever webhooks say": (
    facts,
    one,
    withEach,
  ) =>
    !(isEnded(facts) || facts.shown === "success") ||
    withEach("claim", ({ code }) => code === one.code),
  "the chain books nothing": (facts, one, withEach) =>
    facts.chain !== "none" ||
    withEach("chain", (other) => other.booked === one.booked),
  "the chain never gives a yes that the order would not have if it were not required":
    (facts, one, withEach) =>
      facts.required === "no" || one.release !== "yes" ||
      withEach("required", (other) => other.release === "yes"),
  "time changes no release, no reason and does not book": (
    _,
    one,
    withEach,
  ) =>
    withEach(
      "overdue",
      (other) =>
        other.release === one.release && other.reason === one.reason &&
        other.booked === one.booked,
    ),
  "another order of the reference takes a yes away, and does not book": (
    facts,
    one,
    withEach,
  ) =>
    facts.twice === "yes"
      ? one.release !== "yes" && one.attention.includes("paid_twice")
      : withEach(
        "twice",
        (other) =>
          GIVES[other.release] <= GIVES[one.release] &&
          other.booked === one.booked,
      ),
  "what was recorded does not book, and moves the release of a success alone": (
    facts,
    one,
    withEach,
  ) =>
    facts.match !== "nothing" ||
    withEach("match", (other) =>
      other.booked === one.booked &&
      (facts.shown === "success" || other.release === one.release)),
  "a sale is booked exactly where the service shows success, still": (
    facts,
    { booked },
  ) =>
    (booked === "sale") === (facts.shown === "success" && facts.gone === "no"),
  "a reversal is booked exactly where a success was taken back": (
    facts,
    { booked },
  ) =>
    (booked === "reversal") ===
      (facts.before === "success" && facts.gone === "no" &&
        (isEnded(facts) || isOpen(facts))),
  "where a success waits for more than the chain, or a status is not known, a person is told":
    (facts, { release, attention, code }) =>
      !(facts.shown === "success" && release === "wait") &&
        facts.shown !== "unlisted" && facts.shown !== "unreadable" ||
      attention.length > 0 ||
      (code === "witness_open" && isWaitingForChain(facts)),
  "an order that is not shown any more is always listed as that": (
    { gone },
    { attention },
  ) => gone === "no" || attention.includes("no_longer_shown"),
  "no_longer_shown is never called forged": ({ gone }, { attention }) =>
    gone === "no" || !attention.includes("forged_or_unknown"),
  "a success that was taken back is always listed as that": (
    facts,
    { attention },
  ) =>
    facts.before !== "success" || facts.shown === "success" ||
    attention.includes("reversed_after_success"),
  "another end that changed is always listed as that": (
    facts,
    { attention },
  ) => facts.before !== "other" || attention.includes("final_changed"),
  "an end with a transaction is always listed as sent_without_success": (
    facts,
    { attention },
  ) =>
    !isEnded(facts) || (facts.tx !== "named" && facts.tx !== "unreadable") ||
    attention.includes("sent_without_success"),
  "4016 is always listed as refund_due": (facts, { attention }) =>
    facts.code !== "late" || attention.includes("refund_due"),
  "4017 is always listed": (facts, { attention }) =>
    facts.code !== "amount" ||
    attention.includes(
      facts.shown === "success" ? "contradictory_reading" : "amount_mismatch",
    ),
  "cancelled after the payment is always listed": (facts, { attention }) =>
    facts.shown !== "cancelled" || facts.code === "user" ||
    attention.includes("cancelled_after_payment"),
  "what is paid and overdue is always listed as stuck": (
    facts,
    { attention },
  ) =>
    facts.overdue === "no" || facts.shown === "success" ||
    attention.includes("stuck"),
  "what was asked for, and the chain does not show for a day, is always listed as that":
    (facts, { attention }) =>
      facts.overdue === "no" || facts.shown !== "success" ||
      (facts.chain !== "none" && facts.chain !== "open") ||
      attention.includes("witness_missing"),
  "the customer is told that it has arrived by no row": (_, { code }) =>
    !/arrived/.test(OUTCOME_WORDS[code].customer),
  "an order that a webhook says more of is never called unpaid": (
    facts,
    { code },
  ) => facts.claim === "none" || code !== "created",
  "an order that is created, and of which no webhook says more, is called nothing else":
    (
      facts,
      { code },
    ) =>
      facts.shown !== "created" || facts.claim !== "none" ||
      code !== "processing",
  "the customer is told that something was sent only at success": (
    facts,
    { code },
  ) =>
    !/\bsent\b/.test(OUTCOME_WORDS[code].customer) || facts.shown === "success",
  "the customer is told of no charge only at 4018": (facts, { code }) =>
    !/not charged/.test(OUTCOME_WORDS[code].customer) || facts.code === "user",
  "nobody is told that crypto was sent and that the money goes back": (
    _,
    { code },
  ) =>
    !(/\bsent\b/.test(OUTCOME_WORDS[code].customer) &&
      /money goes back|refunded/.test(OUTCOME_WORDS[code].next)),
};

const NO_ROW = "every combination has a first row";

/** What a table makes of the combination at an index; null without a row. */
type Decide = (at: number) => RowOutcome | null;

/**
 * Names the laws that a table breaks.
 *
 * @param table The table.
 * @param decide What it makes of each combination.
 * @param most How many are enough.
 * @param first Where those combinations are that are looked at first.
 */
function brokenLaws(
  table: readonly OutcomeRow[],
  decide: Decide,
  most: number,
  first: readonly number[] = [],
): string[] {
  const broken = new Set<string>();
  const reached = new Set<string>();
  for (const at of new Set([...first, ...POSSIBLE])) {
    const outcome = decide(at);
    if (outcome === null) broken.add(NO_ROW);
    else {
      reached.add(outcome.code);
      const facts = factsAt(at);
      const withEach: WithEach = (fact, holds) =>
        variants(at, fact).every((other) => {
          const found = decide(other);
          return found === null || holds(found);
        });
      for (const [name, law] of LAWS) {
        if (!law(facts, outcome, withEach)) broken.add(name);
      }
    }
    if (broken.size >= most) return [...broken];
  }
  if (table.some(({ code }) => !reached.has(code))) {
    broken.add("every row is reached");
  }
  return [...broken];
}

const LAWS = Object.entries(laws);

function factsAt(at: number): OutcomeFacts {
  return COMBINATIONS[at] ?? assert.fail();
}

/** Decides each combination once. */
function once(outcome: (facts: OutcomeFacts) => RowOutcome | null): Decide {
  const outcomes: (RowOutcome | null)[] = [];
  return (at) => outcomes[at] ??= outcome(factsAt(at));
}

function hasRow(table: readonly OutcomeRow[], facts: OutcomeFacts): boolean {
  return table.some(({ when }) => applies(facts, when));
}

const decide = once((facts) => outcomeOf(facts));

/** Puts other rows into the table. */
function use(rows: readonly OutcomeRow[]): void {
  (OUTCOME_TABLE as OutcomeRow[]).splice(0, OUTCOME_TABLE.length, ...rows);
  forgetOutcomes();
}

Deno.test("outcomeOf() keeps every law in every combination that can occur", () => {
  assert.deepEqual(brokenLaws(OUTCOME_TABLE, decide, Infinity), []);
});

Deno.test("outcomeOf() has a row for combinations that cannot occur too", () => {
  const without = COMBINATIONS.filter((facts) => !hasRow(OUTCOME_TABLE, facts));
  assert.deepEqual(without, []);
});

for (const { code, when } of [...OUTCOME_TABLE]) {
  Deno.test(`outcomeOf() breaks a law without the row ${code}`, () => {
    const rows = [...OUTCOME_TABLE];
    const less = rows.filter((row) => row.code !== code);
    const isOfRow = (at: number) => applies(factsAt(at), when);
    const changed = once((facts) =>
      hasRow(less, facts) ? outcomeOf(facts) : null
    );
    use(less);
    try {
      // Where the row does not apply, nothing changes without it.
      const found = brokenLaws(
        less,
        (at) => isOfRow(at) ? changed(at) : decide(at),
        1,
        POSSIBLE.filter(isOfRow),
      );
      assert.notDeepEqual(found, []);
    } finally {
      use(rows);
    }
  });
}

Deno.test("settle() lays what a person recorded over every combination that can occur", () => {
  for (const at of POSSIBLE) {
    const facts = factsAt(at);
    const byRow = decide(at) ?? assert.fail();
    assert.equal(settle(byRow, facts, null), byRow);
    for (const outcome of ["delivered", "refunded", "written_off"] as const) {
      for (const seen of [true, false]) {
        const byHand = { outcome, seen, at: "", settled: [] };
        const { code, booked, release, reason, attention } = settle(
          byRow,
          facts,
          byHand,
        );
        assert.deepEqual([code, booked], [byRow.code, byRow.booked]);
        assert.equal(release, byRow.release === "no" ? "no" : "settled");
        if (release === "settled") assert.equal(reason, outcome);
        const isReversed = outcome === "delivered" && release === "no" && !seen;
        assert.ok(!isReversed || attention.includes("reversed_after_success"));
        const left = attention.filter((kind) =>
          !byRow.attention.includes(kind)
        );
        assert.ok(
          left.every((kind) => isReversed && kind === "reversed_after_success"),
        );
        const closed = byRow.attention.filter((kind) =>
          kind !== "paid_twice" && !attention.includes(kind)
        );
        if (!seen || facts.gone === "yes") assert.deepEqual(closed, []);
        if (facts.gone === "yes") {
          assert.ok(attention.includes("no_longer_shown"));
        } else if (seen && facts.shown === "success") {
          assert.deepEqual(attention, []);
        }
      }
    }
  }
});
