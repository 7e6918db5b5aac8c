import type { OrderVerdict } from "../../../ledger/mod.ts";

/** What a customer is told of a failed payment, by the service's code. */
const FAILED: Readonly<Record<string, string>> = {
  "4000": "Your card could not be charged. Please try again, or use another " +
    "card.",
  "4001":
    "The security code of your card was not right. Please try again and " +
    "check the three or four digits on the card.",
  "4002": "Your bank declined the payment. Please ask your bank, or use " +
    "another card.",
  "4003":
    "The details of your card were not right. Please try again and check " +
    "number and date.",
  "4004": "There was not enough money for the payment. Please use another " +
    "card or a smaller amount.",
  "4005": "The payment was above the limit of your card. Please use another " +
    "card or a smaller amount.",
  "4010": "Your bank declined the payment. Please ask your bank, or use " +
    "another card.",
  "4011": "Your card could not be checked. Please try again, or use another " +
    "card.",
  "4012": "Your bank declined the payment. Please ask your bank, or use " +
    "another card.",
  "4013":
    "Our payment partner did not accept the payment. Please use another " +
    "way to pay.",
  "4014": "The name of the bank account is not the name that was verified. " +
    "Please pay from an account in your own name.",
  "4015":
    "No payment came in time, so the order has ended. Please start a new " +
    "one.",
  "4017": "The amount that was paid is not the amount of the order. We are " +
    "asking our payment partner about your money, and will write to you again.",
  "4018": "The payment was cancelled and you were not charged.",
};

const CHECKING = "We are checking your order with our payment partner, and " +
  "will write to you again. You need do nothing.";

/** What support may tell the customer: only what the service itself has shown. */
export function customerMessage(verdict: OrderVerdict): string {
  switch (verdict.code) {
    case "unknown_to_service":
      return "Our payment partner knows no such order. Please send us the " +
        "confirmation that you received when you paid.";
    case "created":
      return "We have not received a payment for your order yet. If you have " +
        "paid, please send us the confirmation of your payment.";
    case "progress":
      return "Your payment is being processed. You need do nothing.";
    case "pending":
      return "Your payment has arrived, and the crypto is about to be sent to " +
        "your wallet. You need do nothing.";
    case "succeeded":
      return verdict.txId === null
        ? "Your order is complete, and the crypto was sent to your wallet."
        : "Your order is complete, and the crypto was sent to your wallet. " +
          `The transaction is ${verdict.txId}`;
    case "refund_due":
      return "Your payment came after the time of the order, so the order was " +
        "not carried out. Our payment partner is to refund you the way you " +
        "paid. We will ask for it, and write to you again.";
    case "failed":
      return `${
        verdict.failReason === null
          ? "Your payment failed."
          : Object.hasOwn(FAILED, verdict.failReason)
          ? FAILED[verdict.failReason]
          : "Your payment failed."
      }${verdict.failReason === "4017" ? "" : " No crypto was sent."}`;
    case "cancelled_by_customer":
      return "Your order was cancelled and you were not charged. No crypto was " +
        "sent.";
    case "cancelled_after_payment":
      return "Your order was cancelled after you had paid, and no crypto was " +
        "sent. We are making sure that you get your money back, and will write " +
        "to you again.";
    case "success_without_transaction":
      return "Our payment partner says that your order is complete. We are " +
        "asking for the transaction, and will write to you again.";
    case "nothing_known":
    case "not_shown_yet":
    case "no_longer_shown":
    case "without_status":
    case "unrecognised_status":
    case "not_confirmed":
    case "claim_rejected":
    case "final_changed":
    case "success_not_as_requested":
    case "sent_without_success":
      return CHECKING;
  }
}
