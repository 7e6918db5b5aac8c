/** Every kind of event, as keys. */
export const EVENT_KINDS = {
  webhook: true,
  order_snapshot: true,
  user_snapshot: true,
  order_absent: true,
  order_contradicted: true,
  session_created: true,
  order_expected: true,
  delivery_unanswered: true,
  order_released: true,
  chain_reading: true,
  witness_required: true,
  order_redacted: true,
  month_closed: true,
  note: true,
  person_erased: true,
} as const;

/**
 * What kind of fact an event records.
 *
 * - `webhook`: one delivery that arrived.
 * - `order_snapshot`, `user_snapshot`: a reading of the Data API that differs
 *   from the latest observation of that entity.
 * - `order_absent`: the service was asked, the walk was exhausted, and the
 *   order was not there.
 * - `order_contradicted`: the service was asked, and for ten minutes has not
 *   agreed with a claim.
 * - `session_created`: a session made by this partner; see
 *   `SessionCreatedBody`.
 * - `order_expected`: what the partner expects of an order, without a session;
 *   see `OrderExpectedBody`.
 * - `delivery_unanswered`: a delivery that was stored but answered late, with
 *   503, or not at all.
 * - `order_released`: a person delivered or refunded an order; see
 *   `OrderReleasedBody`.
 * - `chain_reading`: what the partner's own chain nodes showed of an order's
 *   transaction.
 * - `witness_required`: since when orders wait for the chain, or until when; see
 *   `WitnessRequiredBody`.
 * - `order_redacted`: what is kept of an erased reading or webhook of an
 *   order.
 * - `month_closed`: a month whose books this partner closed, with the files as
 *   they were then.
 * - `note`: what a person noted about something that waits; see `Note`.
 * - `person_erased`: which events say less since a person was erased, or bodies
 *   were pruned.
 */
export type EventKind = keyof typeof EVENT_KINDS;

/** Whether events of a kind say what the partner expects of an order. */
export function isExpectationKind(
  kind: EventKind,
): kind is "session_created" | "order_expected" {
  return kind === "session_created" || kind === "order_expected";
}
