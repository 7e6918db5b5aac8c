import type { AttentionKind } from "../../ledger/for_resources.ts";

/**
 * What a kind of attention means. The order's outcome says what to do next.
 */
export const ATTENTION: Readonly<Record<AttentionKind, string>> = {
  refund_due:
    "Paid after the order's time: the service owes the customer a refund",
  reversed_after_success:
    "The service took a success back, as for a disputed payment",
  sent_without_success:
    "Failed or cancelled, but the service names a transaction",
  cancelled_after_payment: "Cancelled after the payment was processed",
  amount_mismatch: "Another amount was paid than the order's",
  no_longer_shown:
    "The service showed the order, and does not show it any more",
  paid_twice: "Another order holds the same reference",
  yes_withheld: "The release changed, and it was sent to nobody",
  not_as_requested: "Success, and not what was asked for",
  several_match: "Success, and several references fit",
  chain_differs: "Success, and the chain shows another transfer",
  contradictory_reading: "Success, and the service names a payment error",
  success_without_transaction: "Success, and the service names no transaction",
  final_changed: "The service took a final status back",
  witness_missing:
    "Success, and the chain has not shown it for a day or longer",
  stuck: "Paid, and not sent for an hour or longer",
  unknown_status: "The service shows a status that is not known",
  not_comparable: "Success, and no amount was recorded to compare with",
  chain_amount: "Success, and another amount arrived on the chain",
  forged_or_unknown:
    "Named by webhooks, and unknown to the service: treat as forged",
};
