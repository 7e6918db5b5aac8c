import type { StandingOutcome } from "../events/hand_release.ts";
import type { AttentionKind } from "./attention_kind.ts";
import type { OutcomeFacts } from "./outcome_facts.ts";

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

/** A row of the table of outcomes, without its code. */
export interface OutcomeRule {
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

/** A row of the table of outcomes. */
export interface OutcomeRow extends OutcomeRule {
  /** Its code. */
  readonly code: OutcomeCode;
}

const OPEN = ["created", "progress", "pending"] as const;
const NOT_FINAL = [...OPEN, "unlisted"] as const;
const ENDED = ["failed", "cancelled"] as const;
const SUCCESS = ["success"] as const;
/** Not yet seen to arrive, whatever was recorded. */
const NOT_SEEN = {
  shown: SUCCESS,
  chain: ["none", "open"],
  required: ["yes"],
} as const;

/** The rows by their code; of those that apply the first one counts. */
const rules: Readonly<Record<OutcomeCode, OutcomeRule>> = {
  // The service has not shown the order, or does not show it any more.
  not_read_yet: {
    when: { shown: ["none"] },
    release: "wait",
    reason: "not_shown",
    attention: null,
    booked: "nothing",
  },
  not_shown_yet: {
    when: { shown: ["denied"], claim: ["counts"] },
    release: "wait",
    reason: "absent",
    attention: null,
    booked: "nothing",
  },
  unknown_to_service: {
    when: { shown: ["denied"], claim: ["none", "rejected"] },
    release: "wait",
    reason: "absent",
    attention: "forged_or_unknown",
    booked: "nothing",
  },
  no_longer_shown: {
    when: { gone: ["yes"] },
    release: "wait",
    reason: "absent",
    attention: "no_longer_shown",
    booked: "nothing",
  },
  unknown_status: {
    when: { shown: ["unreadable", "unlisted"] },
    release: "wait",
    reason: "unknown_status",
    attention: "unknown_status",
    booked: "nothing",
  },
  // A success was taken back.
  reversed: {
    when: { shown: ENDED, before: ["success"] },
    release: "no",
    reason: "final_changed",
    attention: "reversed_after_success",
    booked: "reversal",
  },
  success_withdrawn: {
    when: { shown: NOT_FINAL, before: ["success"] },
    release: "wait",
    reason: "final_changed",
    attention: "reversed_after_success",
    booked: "reversal",
  },
  // The order has ended without success.
  sent_without_success: {
    when: { shown: ENDED, tx: ["named", "unreadable"] },
    release: "no",
    reason: "ended",
    attention: "sent_without_success",
    booked: "nothing",
  },
  refund_due: {
    when: { shown: ENDED, code: ["late"] },
    release: "no",
    reason: "ended",
    attention: "refund_due",
    booked: "nothing",
  },
  other_amount_paid: {
    when: { shown: ENDED, code: ["amount"] },
    release: "no",
    reason: "ended",
    attention: "amount_mismatch",
    booked: "nothing",
  },
  end_changed: {
    when: { shown: ENDED, before: ["other"] },
    release: "no",
    reason: "final_changed",
    attention: "final_changed",
    booked: "nothing",
  },
  cancelled_by_customer: {
    when: { shown: ENDED, code: ["user"] },
    release: "no",
    reason: "ended",
    attention: null,
    booked: "nothing",
  },
  cancelled_after_payment: {
    when: {
      shown: ["cancelled"],
      code: ["none", "declined", "expired", "late", "amount", "other"],
    },
    release: "no",
    reason: "ended",
    attention: "cancelled_after_payment",
    booked: "nothing",
  },
  not_paid_in_time: {
    when: { shown: ["failed"], code: ["expired"] },
    release: "no",
    reason: "ended",
    attention: null,
    booked: "nothing",
  },
  declined: {
    when: { shown: ["failed"], code: ["declined"] },
    release: "no",
    reason: "ended",
    attention: null,
    booked: "nothing",
  },
  failed: {
    when: { shown: ["failed"], code: ["none", "other"] },
    release: "no",
    reason: "ended",
    attention: null,
    booked: "nothing",
  },
  // The order has not ended.
  refund_due_open: {
    when: { shown: NOT_FINAL, code: ["late"] },
    release: "wait",
    reason: "not_final",
    attention: "refund_due",
    booked: "nothing",
  },
  other_amount_open: {
    when: { shown: NOT_FINAL, code: ["amount"] },
    release: "wait",
    reason: "not_final",
    attention: "amount_mismatch",
    booked: "nothing",
  },
  reopened: {
    when: { shown: NOT_FINAL, before: ["other"] },
    release: "wait",
    reason: "final_changed",
    attention: "final_changed",
    booked: "nothing",
  },
  stuck: {
    when: { shown: ["progress", "pending"], overdue: ["yes"] },
    release: "wait",
    reason: "not_final",
    attention: "stuck",
    booked: "nothing",
  },
  created: {
    when: { shown: ["created"], claim: ["none"] },
    release: "wait",
    reason: "not_final",
    attention: null,
    booked: "nothing",
  },
  processing: {
    when: { shown: OPEN },
    release: "wait",
    reason: "not_final",
    attention: null,
    booked: "nothing",
  },
  // The service shows success.
  success_after_end: {
    when: { shown: SUCCESS, before: ["other"] },
    release: "wait",
    reason: "final_changed",
    attention: "final_changed",
    booked: "sale",
  },
  not_as_requested: {
    when: { shown: SUCCESS, match: ["differs"] },
    release: "wait",
    reason: "not_as_requested",
    attention: "not_as_requested",
    booked: "sale",
  },
  success_paid_late: {
    when: { shown: SUCCESS, code: ["late"] },
    release: "wait",
    reason: "contradictory",
    attention: "refund_due",
    booked: "sale",
  },
  success_with_error: {
    when: { shown: SUCCESS, code: ["expired", "amount", "user", "other"] },
    release: "wait",
    reason: "contradictory",
    attention: "contradictory_reading",
    booked: "sale",
  },
  success_without_transaction: {
    when: { shown: SUCCESS, tx: ["empty", "unreadable"] },
    release: "wait",
    reason: "no_transaction",
    attention: "success_without_transaction",
    booked: "sale",
  },
  chain_differs: {
    when: { shown: SUCCESS, chain: ["differs"] },
    release: "wait",
    reason: "chain_differs",
    attention: "chain_differs",
    booked: "sale",
  },
  several_match: {
    when: { shown: SUCCESS, match: ["several"] },
    release: "wait",
    reason: "several_match",
    attention: "several_match",
    booked: "sale",
  },
  paid_twice: {
    when: { shown: SUCCESS, match: ["matched"], twice: ["yes"] },
    release: "wait",
    reason: "paid_twice",
    attention: "paid_twice",
    booked: "sale",
  },
  witness_missing: {
    when: { ...NOT_SEEN, overdue: ["yes"] },
    release: "wait",
    reason: "witness_open",
    attention: "witness_missing",
    booked: "sale",
  },
  witness_open: {
    when: NOT_SEEN,
    release: "wait",
    reason: "witness_open",
    attention: null,
    booked: "sale",
  },
  session_matched: {
    when: { shown: SUCCESS, match: ["matched"] },
    release: "yes",
    reason: "session_matched",
    attention: null,
    booked: "sale",
  },
  incomplete: {
    when: { shown: SUCCESS, match: ["incomplete"] },
    release: "unchecked",
    reason: "incomplete",
    attention: "not_comparable",
    booked: "sale",
  },
  nothing_recorded: {
    when: { shown: SUCCESS, match: ["nothing"] },
    release: "unchecked",
    reason: "nothing_recorded",
    attention: "not_comparable",
    booked: "sale",
  },
};

/**
 * The table of outcomes: the first row that applies to an order says its
 * release, the reason, the booking and the advice.
 */
export const OUTCOME_TABLE: readonly OutcomeRow[] = (
  Object.entries(rules) as [OutcomeCode, OutcomeRule][]
).map(([code, rule]) => ({ code, ...rule }));

/** What is laid over the rows where a person has settled an order. */
export const SETTLEMENTS: readonly {
  readonly release: "settled";
  readonly reason: StandingOutcome;
}[] = (["delivered", "refunded", "written_off"] as const)
  .map((reason) => ({ release: "settled", reason }));

/**
 * What a person is shown besides the row that applies, and what changes nothing
 * else.
 */
export const ATTENTION_BESIDE: readonly {
  /** When it is shown. */
  readonly when: FactCondition;
  /** Why a person has to look. */
  readonly attention: AttentionKind;
}[] = [
  { when: { shown: SUCCESS, chain: ["off"] }, attention: "chain_amount" },
];

/** Whether facts satisfy a row. */
export function applies(facts: OutcomeFacts, when: FactCondition): boolean {
  for (const [fact, values] of Object.entries(when)) {
    if (
      !(values as readonly string[]).includes(facts[fact as keyof OutcomeFacts])
    ) {
      return false;
    }
  }
  return true;
}
