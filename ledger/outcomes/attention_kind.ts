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
