import type { AssumptionName } from "../../../core/assumptions/assumptions.ts";

/**
 * One fact of an observation. None holds an identifier, an amount, an address
 * or a key: counts, statuses, kinds of values, forms of times, documented words
 * and names of fields.
 */
export type Fact = string | number | boolean | null | readonly string[];

/** What was seen of an assumption, by name. */
export type Facts = Readonly<Record<string, Fact>>;

/** Why an assumption could not be looked at. */
export const NOT_SEEN_REASONS = [
  "few_orders",
  "few_users",
  "no_such_order",
  "no_such_user",
  "earlier_form",
  "no_ledger",
  "nothing_recorded",
  "not_asked_for_sessions",
  "not_asked_for_wrong_key",
  "not_asked_for_test",
  "no_test_came",
  "other_environment",
  "only_in_widget",
  "only_by_failing",
  "only_by_person",
  "no_answer",
  "not_in_transcript",
] as const;

/** Why an assumption could not be looked at. */
export type NotSeenReason = typeof NOT_SEEN_REASONS[number];

/** Result of looking at an assumption. */
export type Observation =
  | { readonly facts: Facts }
  | { readonly notSeen: NotSeenReason };

/** Result of looking at each. */
export type Observations = Readonly<
  Partial<Record<AssumptionName, Observation>>
>;

/** An observation that could not be made. */
export function notSeen(reason: NotSeenReason): {
  readonly notSeen: NotSeenReason;
} {
  return { notSeen: reason };
}
