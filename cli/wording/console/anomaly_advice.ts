import type { AnomalyKind } from "../../../ledger/mod.ts";

/** What a person does about an anomaly. */
export const ANOMALY_ADVICE: Readonly<Record<AnomalyKind, string>> = {
  contested: "The service's own word counts. Where there are many, somebody " +
    "may know the webhook address: change the webhook secret",
  contradictory_webhooks:
    "Wait for the service's own word; release nothing until then",
  contradicted: "Release nothing: the service does not say what the webhook " +
    "says. Where there are many, change the webhook secret",
  final_changed: "Compare what you did for the earlier status, and ask the " +
    "service for the reason",
  regression: "Ask the service why the order went back",
  absent:
    "Release nothing. Where the service showed it before, ask its support",
  unrecognised_status: "Release nothing; a newer version may know the status",
  success_without_transaction:
    "Look at the wallet address on the chain, and ask the service for the " +
    "transaction",
  transaction_on_unsuccessful:
    "Look for the transaction on the chain, then ask the service",
  amount_mismatch: "Compare the order with your own; release only what was " +
    "paid for",
  asset_mismatch: "Compare the order with your own before you release",
  user_mismatch: "Find out who paid before you release",
  address_mismatch: "Compare the wallet address with the one that your " +
    "customer gave",
  transaction_mismatch: "The transaction that the service shows counts; look " +
    "for it on the chain",
  session_mismatch: "The sessions that you recorded count; where there are " +
    "many, change the webhook secret",
  verification_reversed:
    "Let the user buy nothing more until the service says " +
    "so again",
  time_in_future: "Nothing: no decision goes by it",
  unreadable_field:
    "Nothing for this order; tell the service's support where " +
    "there are many",
};
