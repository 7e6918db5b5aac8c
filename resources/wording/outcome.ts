import type { AttentionKind, OrderState } from "../../ledger/mod.ts";
import type { OutcomeCode, OutcomeFacts } from "../../ledger/for_resources.ts";
import { describeWitness } from "./release.ts";
import {
  ASKED_SOON,
  listWords,
  UNKNOWN_STATE,
  withDecimals,
} from "./phrases.ts";

/** Why a payment failed, by the service's code, as the middle of a sentence. */
export const FAILURES: Readonly<Record<string, string>> = {
  "4000": "the card could not be charged; the customer can try again",
  "4001": "the card's security code was wrong",
  "4002": "the card's issuer declined the payment",
  "4003": "the card's details were wrong",
  "4004": "the balance was too low",
  "4005": "the card's limit was exceeded",
  "4010": "the card's issuer declined the payment",
  "4011": "the card could not be validated",
  "4012": "the card's issuer declined the payment",
  "4013": "the payment was declined as too risky",
  "4014": "the bank account is in another name than the verified one",
  "4015": "the payment did not come in time",
  "4016": "the payment came after the order's time",
  "4017": "the amount paid is not the order's",
  "4018": "the customer cancelled the payment and was not charged",
};

/** What a customer is told of a declined payment, by the service's code. */
const DECLINED: Readonly<Record<string, string>> = {
  "4000": "Your card could not be charged. Please try again, or use another " +
    "card.",
  "4001":
    "The security code of your card was not correct. Please try again and " +
    "check the three or four digits on the card.",
  "4002": "Your bank declined the payment. Please ask your bank, or use " +
    "another card.",
  "4003": "Your card details were not correct. Please try again and check " +
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
};

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

/** What is said of an order with an outcome. */
interface OutcomeWords {
  /** The one thing to know first, in one line. */
  readonly headline: (order: OrderState) => string;
  /** The next step for staff. */
  readonly next: string;
  /** The same of one order, where it says more. @default {`next`} */
  readonly nextOf?: (order: OrderState) => string;
  /** What the customer may be told: only what the service itself has shown. */
  readonly customer: string;
}

const CHECKING = "We are checking your order with our payment partner and " +
  "will write to you again; you do not need to do anything.";
const COMPARING = "Our payment partner has completed your payment. We are " +
  "comparing it with your order and will write to you again.";

/** The facts that an outcome depends on, in words. */
export const FACTS: Readonly<Record<keyof OutcomeFacts, string>> = {
  shown: "what the latest reading shows: a status, or nothing that counts",
  gone: "a reading showed the order, and the last one asked for it did not",
  before: "another final status that readings have shown",
  code: "payment error of the latest reading: `declined` is 4000 to 4005 and " +
    "4010 to 4014, `expired` 4015, `late` 4016, `amount` 4017, `user` 4018",
  tx: "transaction of the latest reading; `empty` is stated as none",
  match: "the latest reading compared with what was recorded under its click " +
    "id before the order",
  chain: "what the chain shows of the transaction",
  required: "the release of a success waits until the chain agrees",
  claim: "a webhook says more than the service, of an order that is not final",
  overdue: "paid, and unchanged for an hour; or not seen on the chain for a " +
    "day, where that is required",
  twice: "another order holds the same reference",
};

/** The words of each row of the table of outcomes. */
export const OUTCOME_WORDS: Readonly<Record<OutcomeCode, OutcomeWords>> = {
  not_read_yet: {
    headline: ({ claimed }) =>
      claimed === null
        ? "Not confirmed: the service has not been asked yet."
        : `Not confirmed: a webhook says ${claimed.status}, and the service has not been asked yet.`,
    next: ASKED_SOON,
    customer: CHECKING,
  },
  not_shown_yet: {
    headline: ({ claimed }) =>
      `Not confirmed: ${
        claimed === null
          ? "a webhook names it"
          : `a webhook says ${claimed.status}`
      }, and the service does not know the order.`,
    next: "Nothing yet: it is asked again for ten minutes.",
    customer: CHECKING,
  },
  unknown_to_service: {
    headline: () => "Unknown to the service.",
    next: "Treat it as forged. Where there are many, change the webhook " +
      "secret.",
    customer: "Our payment partner cannot find this order. If you have paid, " +
      "please send us the confirmation that you received.",
  },
  no_longer_shown: {
    headline: (order) =>
      `The service showed ${
        read(order)
      }, and does not show the order any more.`,
    next: "Hold what is not delivered. Ask the service why it does not show " +
      "the order any more.",
    customer: CHECKING,
  },
  unknown_status: {
    headline: ({ confirmed }) =>
      confirmed === null
        ? "The service shows it without a status that can be read."
        : `The service shows ${confirmed.status}, a status that this version does not know.`,
    next: UNKNOWN_STATE,
    customer: CHECKING,
  },
  reversed: {
    headline: (order) =>
      `${
        first(read(order))
      }: the service showed success before, and took it back.`,
    next: "Stop what is not delivered. Ask the service for the reason, and " +
      "who has the money and the crypto now.",
    customer: CHECKING,
  },
  success_withdrawn: {
    headline: (order) =>
      `${
        first(read(order))
      }: the service showed success before, and took it back.`,
    next: "Hold what is not delivered. Ask the service which status is right.",
    customer: CHECKING,
  },
  sent_without_success: {
    headline: (order) =>
      `${first(read(order))}, but the service names a transaction${
        order.confirmed?.txId
          ? `: ${order.confirmed.txId}`
          : ", which was erased."
      }`,
    next: "Look the transaction up on the chain. Ask the service whether it " +
      "was sent, before any refund is promised.",
    customer: CHECKING,
  },
  refund_due: {
    headline: (order) =>
      `${
        first(read(order))
      }: the payment came after the order's time. Final. The service should refund the customer.`,
    next: "Ask the service whether it has refunded, and tell the customer.",
    customer: "Your payment came after the order had expired, so the order " +
      "was not carried out. Our payment partner owes you a refund. We are " +
      "asking for it and will write to you again.",
  },
  other_amount_paid: {
    headline: (order) =>
      `${first(read(order))}: the amount paid is not the order's. Final.`,
    next: "Ask the service how much was paid, and when it goes back.",
    customer: "The amount that you paid is not the amount of the order. We " +
      "are asking our payment partner about your money and will write to you " +
      "again.",
  },
  end_changed: {
    headline: (order) =>
      `${first(read(order))}: the service showed ${before(order)} before.`,
    next:
      "Ask the service which final status is right, and whether the customer was " +
      "charged.",
    customer: CHECKING,
  },
  cancelled_by_customer: {
    headline: (order) =>
      `${
        first(read(order))
      }: the customer cancelled the payment and was not charged. Final.`,
    next: "Nothing.",
    customer: "The payment was cancelled and you were not charged.",
  },
  cancelled_after_payment: {
    headline: () => "Cancelled after the payment was processed. Final.",
    next:
      "Ask the service whether the customer was charged, and make sure that the money goes back.",
    customer: "Your order was cancelled after the payment. We are asking our " +
      "payment partner about your money and will write to you again.",
  },
  not_paid_in_time: {
    headline: () => "Failed: no payment came in time. Final.",
    next: "Nothing. The customer may order again.",
    customer: "No payment came in time, so the order has expired. You may " +
      "place a new order.",
  },
  declined: {
    headline: (order) => `Failed: ${failure(order)}. Final.`,
    next: "Nothing. The customer may try again.",
    customer: "The payment was declined.",
  },
  failed: {
    headline: (order) => `Failed: ${failure(order)}. Final.`,
    next: "Nothing. Where the customer says that money was taken, ask the " +
      "service.",
    customer: "Your payment did not succeed. If money was taken from you, " +
      "please write to us.",
  },
  refund_due_open: {
    headline: (order) =>
      `${
        first(read(order))
      }: the payment came after the order's time, and the order has not ended.`,
    next: "The service says late payment and has not ended the order: ask it " +
      "whether it refunds.",
    customer: CHECKING,
  },
  other_amount_open: {
    headline: (order) =>
      `${
        first(read(order))
      }: the amount paid is not the order's, and the order has not ended.`,
    next: "The service says another amount was paid and has not ended the " +
      "order: ask what it will do.",
    customer: CHECKING,
  },
  reopened: {
    headline: (order) =>
      `${first(read(order))}: the service showed ${before(order)} before.`,
    next:
      "Compare what you did when it had ended. Ask the service which status is right.",
    customer: CHECKING,
  },
  stuck: {
    headline: (order) =>
      `${first(read(order))}: paid, and unchanged for an hour or longer.`,
    next: "Tell the customer that it is late. Ask the service.",
    customer:
      "Your order is taking longer than usual. We are asking our payment " +
      "partner and will write to you again.",
  },
  created: {
    headline: () => "Created: not paid yet.",
    next: "Nothing.",
    customer: "Our payment partner has not received a payment for this order " +
      "yet. If you have paid, please send us the confirmation.",
  },
  processing: {
    headline: (order) =>
      order.facts.claim !== "none"
        ? `Still ${
          read(order)
        }: a webhook says more, and the service does not agree so far.`
        : order.confirmed?.status === "pending"
        ? "Paid, and not sent yet."
        : "Under way: the payment is being processed.",
    next: "Nothing.",
    customer: "Your order is being processed; you do not need to do anything.",
  },
  success_after_end: {
    headline: (order) => `Success: the service showed ${before(order)} before.`,
    next:
      "The service had ended this order before. Ask it whether the success is final; then release by hand.",
    customer: CHECKING,
  },
  not_as_requested: {
    headline: (order) =>
      [
        paidOther(order),
        [
          "Success, but not what was asked for",
          listWords(otherFields(order)),
        ].filter(Boolean).join(": "),
        changedTo(order),
      ].filter(Boolean).map((sentence) => `${sentence}.`).join(" "),
    next: "Compare the order with what you asked for. Deliver what was paid " +
      "for, or refund.",
    customer: CHECKING,
  },
  success_paid_late: {
    headline: () => "Success, but the payment came after the order's time.",
    next: "The service says success and late payment: ask whether it " +
      "delivers or refunds, before you release.",
    customer: CHECKING,
  },
  success_with_error: {
    headline: (order) =>
      `Success, but the service names a payment error: ${failure(order)}.`,
    next:
      "The service says success and names a payment error: ask which is right.",
    customer: CHECKING,
  },
  success_without_transaction: {
    headline: () => "Success, but the service names no transaction.",
    next: "Ask the service for the transaction.",
    customer: "Our payment partner says that your order is complete. We are " +
      "asking for the details of the transfer and will write to you again.",
  },
  chain_differs: {
    headline: (order) =>
      `Success, but the chain shows another transfer: ${
        describeWitness(order) ?? "it was erased."
      }`,
    next: "Compare the transaction with the order: who got how much of what. " +
      "Ask the service.",
    customer: CHECKING,
  },
  several_match: {
    headline: () => "Success, and several of your references fit it.",
    next:
      "Several of your references fit this payment: `find CLICK-ID` lists " +
      "them. Find out which one was paid, and release that one.",
    customer: CHECKING,
  },
  paid_twice: {
    headline: () => "Success, and another order holds its reference.",
    next: "Another order holds this reference: look at it. If it was " +
      "delivered, refund this payment or deliver a second time; if it never " +
      "was, release this one by hand.",
    customer: CHECKING,
  },
  witness_missing: {
    headline: (order) =>
      `Success, and the chain has not shown it for a day or longer: ${
        notSeen(order)
      }`,
    next: "Ask your chain nodes: `rampkit witness ORDER`. Where they do not " +
      "show it either, ask the service for the transfer; release by hand " +
      "once you know.",
    customer: CHECKING,
  },
  witness_open: {
    headline: (order) =>
      `Success, and the release waits for the chain: ${notSeen(order)}`,
    next: "Nothing: your chain nodes are asked until they show it.",
    customer: "Our payment partner has completed your payment. We are " +
      "waiting until the network has confirmed the transfer; you do not need to do anything.",
  },
  session_matched: {
    headline: (order) =>
      order.facts.chain === "agrees"
        ? `Success, as asked for. Final. ${describeWitness(order) ?? ""}`
        : order.confirmed?.txId
        ? `Success, as asked for. Final. Crypto was sent: ${order.confirmed.txId}`
        : "Success, as asked for. Final.",
    next: "Release what `expected.reference` names.",
    customer: "Your order is complete: our payment partner says that the " +
      "crypto was sent.",
  },
  incomplete: {
    headline: (order) =>
      `Success, and not all of it could be compared: ${uncompared(order)}.`,
    next: "Compare yourself what could not be compared.",
    nextOf: (order) =>
      `Compare yourself what could not be compared: ${uncompared(order)}.`,
    customer: COMPARING,
  },
  nothing_recorded: {
    headline: () => "Success, and nothing was recorded to compare it with.",
    next: "Compare amount, asset and address yourself before you release; " +
      "record sessions from now on.",
    customer: COMPARING,
  },
};

/** The words for a customer whose payment was declined with a documented code. */
export function declinedMessage(code: string): string | undefined {
  return Object.hasOwn(DECLINED, code) ? DECLINED[code] : undefined;
}

/** The status that the service shows. */
function read({ confirmed }: OrderState): string {
  return confirmed?.status ?? "no status";
}

/** Other final statuses that the service has shown. */
function before({ anomalies }: OrderState): string {
  return listWords(
    anomalies.flatMap((one) => one.kind === "final_changed" ? one.before : []),
  );
}

const FIELDS: Readonly<Record<string, string>> = {
  currency: "currency",
  currencyAmount: "amount",
  commodity: "asset",
  network: "network",
  cryptoAmount: "asset amount",
  address: "wallet",
  userId: "user",
};

/** What an order is compared by with what was asked for. */
type Compared = Pick<
  OrderState,
  "expected" | "expectedChanged" | "confirmed" | "anomalies"
>;

/** Fields in which the order is not what was asked for, but what was paid. */
function otherFields(order: Compared): string[] {
  const isTold = paidOther(order) !== null;
  const fields = order.anomalies.flatMap((one) =>
    "source" in one && one.source === "session" &&
      !(isTold && PAID.includes(one.field))
      ? [
        `${
          FIELDS[one.field] ?? one.field
        } ${one.ordered} in place of ${one.requested}`,
      ]
      : []
  );
  return [...new Set(fields)].sort();
}

const PAID: readonly string[] = ["currencyAmount", "currency"];

/** What was paid of what was asked for, `1.00 of 49.90 USD`, where they differ. */
export function paidOfAsked(
  { expected, confirmed, anomalies }: Compared,
): string | null {
  const isOther = anomalies.some((one) =>
    "source" in one && one.source === "session" && PAID.includes(one.field)
  );
  if (!isOther || expected === null || confirmed === null) return null;
  if (confirmed.currencyAmount === null || expected.currencyAmount === null) {
    return null;
  }
  const asked = amountOf(expected);
  return confirmed.currency === expected.currency
    ? `${
      withDecimals(confirmed.currencyAmount, confirmed.currency)
    } of ${asked}`
    : `${amountOf(confirmed)} of ${asked}`;
}

function paidOther(order: Compared): string | null {
  const paid = paidOfAsked(order);
  return paid === null ? null : `Paid ${paid}`;
}

function amountOf(
  { currencyAmount, currency }: {
    readonly currencyAmount: string | null;
    readonly currency: string | null;
  },
): string {
  const amount = currencyAmount === null
    ? null
    : withDecimals(currencyAmount, currency);
  return [amount, currency].filter((one) => one !== null).join(" ");
}

/** Why an order waits for a person, as the middle of a sentence. */
export function waitingWords(order: Compared, kind: AttentionKind): string {
  const reason = kind === "not_as_requested"
    ? differences(order) ||
      `not what was asked for: ${listWords(otherFields(order))}`
    : WAITING[kind] ?? ATTENTION[kind];
  return `${reason.charAt(0).toLowerCase()}${reason.slice(1)}`;
}

/** Why an order waits for a person, with the amounts where they differ. */
export function attentionWords(order: Compared, kind: AttentionKind): string {
  const isTold = kind === "not_as_requested" && differences(order) !== "";
  return ATTENTION[kind] + (isTold ? `: ${waitingWords(order, kind)}` : "");
}

function differences(order: Compared): string {
  return [paidOther(order), changedTo(order)].filter(Boolean).join(", ");
}

/** Shorter than what attention says of them. */
const WAITING: Readonly<Partial<Record<AttentionKind, string>>> = {
  paid_twice: "paid twice",
  refund_due: "refund due, because it was paid after the order's time",
  reversed_after_success: "reversed after success",
};

/** What the basket was changed to, where that was after the payment began. */
function changedTo({ expected, expectedChanged }: Compared): string | null {
  if (!expectedChanged || expected === null) return null;
  const { commodity, commodityAmount } = expected;
  const asset = amountOf({
    currencyAmount: commodityAmount,
    currency: commodity,
  });
  return `The basket was changed to ${
    amountOf(expected) || asset || "other terms"
  } after this payment began: deliver what was paid for, or refund`;
}

/** What could not be compared, in words. */
function uncompared({ uncompared }: OrderState): string {
  return listWords(
    uncompared.map(({ field, by }) =>
      by === "expectation" ? "no amount was asked for" : FIELDS[field] ?? field
    ),
  ) || "it was erased";
}

/** What the chain has shown so far of a success that waits for it. */
function notSeen(order: OrderState): string {
  return describeWitness(order) ?? "nobody has looked yet.";
}

/** Why a payment failed, as the middle of a sentence. */
function failure({ confirmed }: OrderState): string {
  const reason = confirmed?.failReason ?? null;
  if (reason === null) return "the service gives no reason";
  return Object.hasOwn(FAILURES, reason)
    ? FAILURES[reason] ?? reason
    : `the service gives the reason "${reason}"`;
}

function first(status: string): string {
  return status.charAt(0).toUpperCase() + status.slice(1);
}
