import type { OrderVerdict } from "../../ledger/mod.ts";
import { FAILURES } from "./failures.ts";
import { listWords } from "./list_words.ts";

/** What is to be said of an order first, in one line. */
export function describeOrderVerdict(verdict: OrderVerdict): string {
  switch (verdict.code) {
    case "nothing_known":
      return "Nothing is known of its status: no webhook says one, and the service has not been asked. Do not release.";
    case "unknown_to_service":
      return "Unknown to the service. Treat as forged.";
    case "not_shown_yet":
      return `Not confirmed: a webhook says ${verdict.claimed}, and the service does not know the order. Forged, unless the service shows it within minutes. Do not release.`;
    case "no_longer_shown":
      return `The service showed ${verdict.read} and does not know the order any more. Ask its support.`;
    case "without_status":
      return "The service shows it without a status that can be read. Do not release.";
    case "unrecognised_status":
      return `The service shows ${verdict.read}, a status that this version does not know. Do not release.`;
    case "not_confirmed":
      return `Not confirmed: a webhook says ${verdict.claimed}, ` +
        (verdict.read === null
          ? "and the service has not been asked yet."
          : `the service says ${verdict.read}.`) +
        " Do not release.";
    case "claim_rejected":
      return `Still ${verdict.read}: a webhook said ${
        listWords(verdict.claimed)
      }, and the service did not agree. Do not release.`;
    case "created":
      return "Created: not paid yet.";
    case "progress":
      return "Under way: the payment is being processed.";
    case "pending":
      return verdict.transferSeen
        ? "Paid: a webhook says that the transfer has begun; the service has not said success."
        : "Paid, and not sent yet.";
    case "final_changed":
      return `The service took its word back: it showed ${
        listWords(verdict.before)
      } and shows ${verdict.read} now. ` +
        (verdict.txId === null ? "" : `Crypto was sent: ${verdict.txId}. `) +
        "A person has to look.";
    case "succeeded":
      return verdict.txId === null
        ? "Success. Final. Crypto was sent."
        : `Success. Final. Crypto was sent: ${verdict.txId}`;
    case "success_without_transaction":
      return "Success, but the service names no transaction. Ask its support for it.";
    case "success_not_as_requested":
      return `Success, but not what the session asked for${
        verdict.fields.length === 0 ? "" : `: ${listWords(verdict.fields)}`
      }. Do not release before a person has looked.`;
    case "sent_without_success":
      return `${first(verdict.read)}, but crypto was sent: ${verdict.txId}`;
    case "refund_due":
      return `${
        first(verdict.read)
      }: the payment came after the order's time. Final. The service is to refund the customer. ${
        unsent(verdict.claimedTxId)
      }`;
    case "failed":
      return `Failed: ${failure(verdict.failReason)}. Final. ${
        unsent(verdict.claimedTxId)
      }`;
    case "cancelled_by_customer":
      return `Cancelled by the customer: no money was charged. Final. ${
        unsent(verdict.claimedTxId)
      }`;
    case "cancelled_after_payment":
      return `Cancelled after the payment was processed. Final. ${
        unsent(verdict.claimedTxId)
      } See that the customer has the money back.`;
  }
}

/** Why a payment failed, as the middle of a sentence. */
function failure(reason: string | null): string {
  if (reason === null) return "the service gives no reason";
  return Object.hasOwn(FAILURES, reason)
    ? FAILURES[reason] ?? reason
    : `the service gives the reason "${reason}"`;
}

function unsent(claimedTxId: string | null): string {
  return claimedTxId === null
    ? "Nothing was sent."
    : `The service shows no transaction, though a webhook names ${claimedTxId}.`;
}

function first(status: string): string {
  return status.charAt(0).toUpperCase() + status.slice(1);
}
