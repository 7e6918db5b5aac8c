import {
  MATCH_FACTS,
  type MatchFact,
  type StandingOutcome,
} from "../events/event.ts";

/** Every kind, the gravest first. */
export const ATTENTION_KINDS = [
  "refund_due",
  "reversed_after_success",
  "sent_without_success",
  "cancelled_after_payment",
  "amount_mismatch",
  "no_longer_shown",
  "paid_twice",
  "yes_withheld",
  "not_as_requested",
  "several_match",
  "chain_differs",
  "contradictory_reading",
  "success_without_transaction",
  "final_changed",
  "witness_missing",
  "stuck",
  "unknown_status",
  "not_comparable",
  "chain_amount",
  "forged_or_unknown",
] as const;

/**
 * Why an order waits for a person, the gravest first: money that is owed, goods
 * that may be lost, then what is only unclear.
 *
 * - `refund_due`: paid after the order's time (4016).
 * - `reversed_after_success`: the service took a success back.
 * - `sent_without_success`: failed or cancelled, and a transaction is shown.
 * - `cancelled_after_payment`: cancelled once the payment was processed.
 * - `amount_mismatch`: paid another amount than the order's (4017).
 * - `no_longer_shown`: the service showed the order, and does not any more.
 * - `paid_twice`: another order of the same reference was released before.
 * - `yes_withheld`: the release changed, and it was sent to nobody.
 * - `not_as_requested`: success, and not what was asked for.
 * - `several_match`: success, and several references fit.
 * - `chain_differs`: success, and the transaction is not what the order says.
 * - `contradictory_reading`: success beside a payment error.
 * - `success_without_transaction`: success, with an empty transaction.
 * - `final_changed`: the service took another final status back.
 * - `witness_missing`: success, and the chain has not shown it for a day.
 * - `stuck`: paid, and not sent for an hour.
 * - `unknown_status`: the service shows a status that is not known.
 * - `not_comparable`: success, and no amount was recorded to compare with.
 * - `chain_amount`: success, and another amount arrived on the chain.
 * - `forged_or_unknown`: webhooks name it, and the service does not know it.
 */
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

/**
 * Every value of each fact, in the order in which documents list them. The first
 * stays the first: stored states leave it out.
 */
export const FACT_VALUES = {
  shown: [
    "none",
    "denied",
    "unreadable",
    "unlisted",
    "created",
    "progress",
    "pending",
    "success",
    "failed",
    "cancelled",
  ],
  gone: ["no", "yes"],
  before: ["none", "success", "other"],
  code: ["none", "declined", "expired", "late", "amount", "user", "other"],
  tx: ["named", "unreadable", "empty", "unstated"],
  match: MATCH_FACTS as typeof MATCH_FACTS,
  chain: ["none", "agrees", "differs", "off", "open"],
  required: ["no", "yes"],
  claim: ["none", "counts", "rejected"],
  overdue: ["no", "yes"],
  twice: ["no", "yes"],
} as const;

/**
 * What the latest reading shows.
 *
 * - `none`: the service was not read yet.
 * - `denied`: the service was asked, and never showed the order; or it agreed
 *   with no claim.
 * - `unreadable`: a row without a status that can be read.
 * - `unlisted`: a status that this version does not know.
 * - any other: that status.
 */
export type ShownFact = (typeof FACT_VALUES)["shown"][number];

/**
 * Group of the payment error that the latest reading names.
 *
 * - `declined`: 4000 to 4005 and 4010 to 4014.
 * - `expired` 4015, `late` 4016, `amount` 4017, `user` 4018.
 * - `other`: any other code or text.
 * - `none`: none is named.
 */
export type CodeFact = (typeof FACT_VALUES)["code"][number];

/**
 * What the chain shows of the transaction.
 *
 * - `agrees`: delivered and final.
 * - `differs`: another recipient or asset, or reverted; final.
 * - `off`: another amount; final.
 * - `open`: unknown, or not final.
 * - `none`: nobody looked.
 */
export type ChainFact = (typeof FACT_VALUES)["chain"][number];

/** The facts that decide an order's row in the table of outcomes. */
export interface OutcomeFacts {
  /** What the latest reading shows. */
  readonly shown: ShownFact;
  /** Whether a reading showed the order and the last one asked for did not. */
  readonly gone: (typeof FACT_VALUES)["gone"][number];
  /** Another final status that readings have shown. */
  readonly before: (typeof FACT_VALUES)["before"][number];
  /** Group of the payment error that the latest reading names. */
  readonly code: CodeFact;
  /**
   * The transaction of the latest reading: `named`, `unreadable` (not in the
   * form of its network), `empty` (stated as none), or `unstated`.
   */
  readonly tx: (typeof FACT_VALUES)["tx"][number];
  /** How the latest reading compares with what the partner recorded. */
  readonly match: MatchFact;
  /** What the chain shows of the transaction. */
  readonly chain: ChainFact;
  /** Whether the release of a success waits until the chain agrees. */
  readonly required: (typeof FACT_VALUES)["required"][number];
  /**
   * Whether a webhook says more than the service does, of an order that is not
   * final: `counts`, or `rejected` when the service did not agree.
   */
  readonly claim: (typeof FACT_VALUES)["claim"][number];
  /**
   * Whether it is paid and unchanged for an hour, or waits for the chain for a
   * day. Not stored: readers add it.
   */
  readonly overdue: (typeof FACT_VALUES)["overdue"][number];
  /** Whether another order holds its reference. Not stored: readers add it. */
  readonly twice: (typeof FACT_VALUES)["twice"][number];
}

/**
 * The facts that a state holds: those that depend neither on time nor on other
 * orders.
 */
export type StoredFacts = Omit<OutcomeFacts, "overdue" | "twice">;

/** Outcome of an order, by the table of outcomes. */
export interface Outcome {
  /** Code of the row that applies. */
  readonly code: OutcomeCode;
  /** Whether what the order pays for may be released. */
  readonly release: Release;
  /** Why. */
  readonly reason: ReleaseReason;
  /** What a month books. */
  readonly booked: Booked;
  /**
   * Why a person has to look, the gravest first: the kind of the row that
   * applies, and those of later rows that apply as well.
   */
  readonly attention: readonly AttentionKind[];
}

/** The outcome of an order by its row alone, whatever a person recorded. */
export type RowOutcome =
  & Omit<Outcome, "release" | "reason">
  & Pick<OutcomeRow, "release" | "reason">;

/**
 * Goes down the table of outcomes and takes the first row that applies.
 *
 * @throws {Error} When no row applies, which a test excludes.
 */
export function outcomeOf(
  facts: StoredFacts & Partial<OutcomeFacts>,
): RowOutcome {
  const known: OutcomeFacts = { overdue: "no", twice: "no", ...facts };
  let key = "";
  for (const fact of FACTS) key += `${known[fact]} `;
  let outcome = found.get(key);
  if (outcome === undefined) {
    outcome = firstOf(known);
    if (found.size === MOST_FOUND) found.clear();
    found.set(key, outcome);
  }
  return outcome;
}

const FACTS = Object.keys(FACT_VALUES) as readonly (keyof OutcomeFacts)[];

/**
 * Outcomes by their facts: nearly all orders share a few, and every state asks,
 * so that going down the table each time would be a part of the fold that shows.
 */
const found = new Map<string, RowOutcome>();

const MOST_FOUND = 500;

/** Forgets what was looked up, for a test that changes the table in place. */
export function forgetOutcomes(): void {
  found.clear();
}

function firstOf(known: OutcomeFacts): RowOutcome {
  const rows = OUTCOME_TABLE.filter(({ when }) => applies(known, when));
  const [first] = rows;
  if (first === undefined) {
    throw new Error(
      `Fix the table of outcomes: no row applies to ${JSON.stringify(known)}`,
    );
  }
  const kinds = new Set(rows.map(({ attention }) => attention));
  const { shown, chain, match, tx } = known;
  // It changes nothing else, so that no row says it.
  if (shown === "success" && chain === "off") kinds.add("chain_amount");
  // The earlier form of the service's answers has no address, so that no wallet can
  // be compared: one health condition says so, in place of a task for each order.
  if (match === "incomplete" && tx === "unstated") {
    kinds.delete("not_comparable");
  }
  const { code, release, reason, booked } = first;
  return {
    code,
    release,
    reason,
    booked,
    attention: ATTENTION_KINDS.filter((kind) => kinds.has(kind)),
  };
}

/**
 * Whether what an order pays for may be released.
 *
 * - `yes`: the service shows success, and it is what the partner recorded.
 * - `no`: the service shows failed or cancelled.
 * - `wait`: not known yet, or a person has to look first.
 * - `unchecked`: the service shows success, and it could not be compared with
 *   what the partner recorded.
 * - `settled`: a person has delivered, refunded or written it off.
 */
export type Release = "yes" | "no" | "wait" | "unchecked" | "settled";

/** Why a release is what it is. */
export type ReleaseReason =
  | "not_shown"
  | "absent"
  | "unknown_status"
  | "final_changed"
  | "ended"
  | "not_final"
  | "not_as_requested"
  | "contradictory"
  | "no_transaction"
  | "chain_differs"
  | "several_match"
  | "paid_twice"
  | "witness_open"
  | "session_matched"
  | "incomplete"
  | "nothing_recorded"
  | StandingOutcome;

/**
 * What a month books of an order.
 *
 * - `sale`: what the latest reading says is booked, or restated.
 * - `reversal`: what a closed month has booked is taken back.
 * - `nothing`: nothing new, and what a closed month has booked stands.
 */
export type Booked = "sale" | "reversal" | "nothing";

/** Code of a row of the table of outcomes. */
export type OutcomeCode =
  | "not_read_yet"
  | "not_shown_yet"
  | "unknown_to_service"
  | "no_longer_shown"
  | "unknown_status"
  | "reversed"
  | "success_withdrawn"
  | "sent_without_success"
  | "refund_due"
  | "other_amount_paid"
  | "end_changed"
  | "cancelled_by_customer"
  | "cancelled_after_payment"
  | "not_paid_in_time"
  | "declined"
  | "failed"
  | "refund_due_open"
  | "other_amount_open"
  | "reopened"
  | "stuck"
  | "created"
  | "processing"
  | "success_after_end"
  | "not_as_requested"
  | "success_paid_late"
  | "success_with_error"
  | "success_without_transaction"
  | "chain_differs"
  | "several_match"
  | "paid_twice"
  | "witness_missing"
  | "witness_open"
  | "session_matched"
  | "incomplete"
  | "nothing_recorded";

/** Facts that have to hold: of each that is named, one of the values. */
export type FactCondition = {
  readonly [Fact in keyof OutcomeFacts]?: readonly OutcomeFacts[Fact][];
};

/** A row of the table of outcomes. */
export interface OutcomeRow {
  /** Its code. */
  readonly code: OutcomeCode;
  /** When the row applies. */
  readonly when: FactCondition;
  /** Whether what the order pays for may be released. */
  readonly release: Exclude<Release, "settled">;
  /** Why. */
  readonly reason: Exclude<ReleaseReason, StandingOutcome>;
  /** Why it waits for a person; null when nobody has to look. */
  readonly attention: AttentionKind | null;
  /** What a month books. */
  readonly booked: Booked;
}

/** Rows that are about the same orders and say the same of release and booking. */
function rows(
  { release, booked, ...of }:
    & Pick<OutcomeRow, "release" | "booked">
    & Pick<FactCondition, "shown">,
  rest: {
    readonly [Code in OutcomeCode]?: readonly [
      when: FactCondition,
      reason: OutcomeRow["reason"],
      attention?: AttentionKind,
    ];
  },
): OutcomeRow[] {
  return Object.entries(rest).map(([code, [when, reason, attention]]) => ({
    ...{ code: code as OutcomeCode, when: { ...of, ...when }, release, reason },
    ...{ attention: attention ?? null, booked },
  }));
}

const OPEN = ["created", "progress", "pending"] as const;
const NOT_FINAL = [...OPEN, "unlisted"] as const;
const ENDED = ["failed", "cancelled"] as const;
const SUCCESS = ["success"] as const;
/** Not yet seen to arrive, whatever was recorded. */
const NOT_SEEN = { chain: ["none", "open"], required: ["yes"] } as const;

/**
 * The table of outcomes: the first row that applies to an order says its
 * release, the reason, the booking and the advice.
 */
export const OUTCOME_TABLE: readonly OutcomeRow[] = [
  // The service has not shown the order, or does not show it any more.
  ...rows({ release: "wait", booked: "nothing" }, {
    not_read_yet: [{ shown: ["none"] }, "not_shown"],
    not_shown_yet: [{ shown: ["denied"], claim: ["counts"] }, "absent"],
    unknown_to_service: [
      { shown: ["denied"], claim: ["none", "rejected"] },
      "absent",
      "forged_or_unknown",
    ],
    no_longer_shown: [{ gone: ["yes"] }, "absent", "no_longer_shown"],
    unknown_status: [
      { shown: ["unreadable", "unlisted"] },
      "unknown_status",
      "unknown_status",
    ],
  }),
  // A success was taken back.
  ...rows({ shown: ENDED, release: "no", booked: "reversal" }, {
    reversed: [
      { before: SUCCESS },
      "final_changed",
      "reversed_after_success",
    ],
  }),
  ...rows({ shown: NOT_FINAL, release: "wait", booked: "reversal" }, {
    success_withdrawn: [
      { before: SUCCESS },
      "final_changed",
      "reversed_after_success",
    ],
  }),
  // The order has ended without success.
  ...rows({ shown: ENDED, release: "no", booked: "nothing" }, {
    sent_without_success: [
      { tx: ["named", "unreadable"] },
      "ended",
      "sent_without_success",
    ],
    refund_due: [{ code: ["late"] }, "ended", "refund_due"],
    other_amount_paid: [{ code: ["amount"] }, "ended", "amount_mismatch"],
    end_changed: [{ before: ["other"] }, "final_changed", "final_changed"],
    cancelled_by_customer: [{ code: ["user"] }, "ended"],
    cancelled_after_payment: [
      {
        shown: ["cancelled"],
        code: ["none", "declined", "expired", "late", "amount", "other"],
      },
      "ended",
      "cancelled_after_payment",
    ],
    not_paid_in_time: [{ shown: ["failed"], code: ["expired"] }, "ended"],
    declined: [{ shown: ["failed"], code: ["declined"] }, "ended"],
    failed: [{ shown: ["failed"], code: ["none", "other"] }, "ended"],
  }),
  // The order has not ended.
  ...rows({ shown: NOT_FINAL, release: "wait", booked: "nothing" }, {
    refund_due_open: [{ code: ["late"] }, "not_final", "refund_due"],
    other_amount_open: [{ code: ["amount"] }, "not_final", "amount_mismatch"],
    reopened: [{ before: ["other"] }, "final_changed", "final_changed"],
    stuck: [
      { shown: ["progress", "pending"], overdue: ["yes"] },
      "not_final",
      "stuck",
    ],
    created: [{ shown: ["created"], claim: ["none"] }, "not_final"],
    processing: [{ shown: OPEN }, "not_final"],
  }),
  // The service shows success.
  ...rows({ shown: SUCCESS, release: "wait", booked: "sale" }, {
    success_after_end: [
      { before: ["other"] },
      "final_changed",
      "final_changed",
    ],
    not_as_requested: [
      { match: ["differs"] },
      "not_as_requested",
      "not_as_requested",
    ],
    success_paid_late: [{ code: ["late"] }, "contradictory", "refund_due"],
    success_with_error: [
      { code: ["expired", "amount", "user", "other"] },
      "contradictory",
      "contradictory_reading",
    ],
    success_without_transaction: [
      { tx: ["empty", "unreadable"] },
      "no_transaction",
      "success_without_transaction",
    ],
    chain_differs: [{ chain: ["differs"] }, "chain_differs", "chain_differs"],
    several_match: [{ match: ["several"] }, "several_match", "several_match"],
    paid_twice: [
      { match: ["matched"], twice: ["yes"] },
      "paid_twice",
      "paid_twice",
    ],
    witness_missing: [
      { ...NOT_SEEN, overdue: ["yes"] },
      "witness_open",
      "witness_missing",
    ],
    witness_open: [NOT_SEEN, "witness_open"],
  }),
  ...rows({ shown: SUCCESS, release: "yes", booked: "sale" }, {
    session_matched: [{ match: ["matched"] }, "session_matched"],
  }),
  ...rows({ shown: SUCCESS, release: "unchecked", booked: "sale" }, {
    incomplete: [{ match: ["incomplete"] }, "incomplete", "not_comparable"],
    nothing_recorded: [
      { match: ["nothing"] },
      "nothing_recorded",
      "not_comparable",
    ],
  }),
];

/** What is laid over the rows where a person has settled an order. */
export const SETTLEMENTS: readonly {
  readonly release: "settled";
  readonly reason: StandingOutcome;
}[] = (["delivered", "refunded", "written_off"] as const)
  .map((reason) => ({ release: "settled", reason }));

export function applies(facts: OutcomeFacts, when: FactCondition): boolean {
  return FACTS.every((fact) => {
    const values: readonly string[] | undefined = when[fact];
    return values === undefined || values.includes(facts[fact]);
  });
}
