import type { AttentionKind } from "../../ledger/mod.ts";

/** What a kind of attention means, and what to do next. */
export const ATTENTION: Readonly<
  Record<AttentionKind, { readonly what: string; readonly next: string }>
> = {
  refund_due: {
    what: "Paid after the order's time: the service owes the customer a refund",
    next: "Ask the service whether it has refunded, and tell the customer",
  },
  reversed_after_success: {
    what: "The service took a success back, as for a disputed payment",
    next: "Stop what you have not delivered; ask the service for the reason",
  },
  cancelled_after_payment: {
    what: "Cancelled after the payment was processed",
    next: "See that the customer has the money back; deliver nothing",
  },
  sent_without_success: {
    what: "Failed or cancelled, and yet the service names a transaction",
    next: "Look for the transaction on the chain, then ask the service",
  },
  amount_mismatch: {
    what: "Another amount or currency was paid or asked for than the order has",
    next: "Compare the order with your own; release only what was paid for",
  },
  success_without_transaction: {
    what: "Success, and the service names no transaction",
    next: "Look at the wallet address on the chain; ask the service for the " +
      "transaction",
  },
  final_changed: {
    what: "The service took a final status back",
    next: "Compare what you did for the earlier status; ask the service",
  },
  stuck: {
    what: "Paid, and not sent for an hour or longer",
    next: "Tell the customer that it is late; ask the service",
  },
  forged_or_unknown: {
    what: "Named by webhooks, and unknown to the service: treat as forged",
    next: "Release nothing; if there are many, change the webhook secret",
  },
};
