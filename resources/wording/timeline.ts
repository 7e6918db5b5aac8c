import type { EventContent } from "../../ledger/for_resources.ts";
import type { Transition } from "../../ledger/mod.ts";
import { describeEventContent } from "./explanation.ts";
import { VERDICT } from "./witness.ts";

/** Statuses as what happens to an order. */
const STATUSES: Readonly<Record<string, string>> = {
  created: "the order exists, and is not paid",
  progress: "the payment is being processed",
  pending: "it is paid, and the crypto is about to be sent",
  success: "it is complete, and the crypto was sent",
  failed: "it failed",
  cancelled: "it was cancelled",
};

/** Webhooks as what happens to an order. */
const WEBHOOKS: Readonly<Record<string, string>> = {
  payment_started: "the payment began",
  transfer_started: "the transfer of the crypto began",
  order_complete: "the order is complete",
  order_failed: "the order failed",
  order_cancelled: "the order was cancelled",
  order_canceled: "the order was cancelled",
};

/** What an event of an order's history says, for people who read no codes. */
export function describeHappening(content: EventContent): string {
  switch (content.code) {
    case "webhook":
      return `A webhook says: ${named(WEBHOOKS, content.label)}` +
        (content.hasBody ? "" : " (its body was erased or cannot be read)");
    case "reading":
      return content.status === null
        ? "The service shows the order without a status that can be read"
        : `The service shows: ${named(STATUSES, content.status)}`;
    case "absence":
      return "The service was asked, and does not show the order";
    case "contradiction":
      return `The service does not agree that ${
        named(STATUSES, content.claimed)
      }`;
    case "chain":
      return `Your nodes were asked: ${VERDICT[content.verdict]}${
        content.final ? "" : " (not final)"
      }`;
    case "requirement":
      return content.rule === "off"
        ? "From now on no release waits for the chain"
        : "From now on releases wait for the chain";
    case "session":
      return "You made a session for the widget";
    case "by_hand":
      return describeEventContent(content).replace(/^a person/, "A person");
    case "unreadable":
    case "other":
      return describeEventContent(content);
  }
}

/** When what an event says happened, by the service; null where it says none. */
export function happenedAt(content: EventContent): string | null {
  return content.code === "reading" ? content.changedAt : null;
}

/** How it became known. */
export function heardBy(content: EventContent): string {
  switch (content.code) {
    case "webhook":
      return "webhook";
    case "reading":
    case "absence":
    case "contradiction":
      return "reading";
    case "chain":
      return "your nodes";
    case "session":
    case "requirement":
      return "your own";
    case "by_hand":
      return "a person";
    case "unreadable":
    case "other":
      return "event";
  }
}

function named(words: Readonly<Record<string, string>>, code: string): string {
  return Object.hasOwn(words, code) ? words[code] ?? code : code;
}

/** What each machine of a user is about. */
const USER_MACHINES: Readonly<Record<string, string>> = {
  lkyc: "Light verification",
  fkyc: "Verification with documents",
  ban: "Ban",
};

/** A step of a user, for people who read no codes. */
export function describeUserStep(
  { machine, status, trust, previous }: Transition,
): string {
  const before = previous === null ? "" : `, before ${previous}`;
  const by = trust === "confirmed"
    ? "the service shows it"
    : "a webhook claims it";
  return `${named(USER_MACHINES, machine)}: ${status}${before} (${by})`;
}
