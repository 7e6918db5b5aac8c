import type {
  EffectReason,
  EventContent,
  UnreadableReason,
} from "../../ledger/for_resources.ts";
import type { Transition } from "../../ledger/mod.ts";
import { VERDICT } from "./release.ts";

/** Why an event had its effect on the state, in one sentence. */
export function describeEffectReason(reason: EffectReason): string {
  switch (reason.code) {
    case "reading":
      return "The service itself shows it";
    case "absence":
      return "The service was asked and does not show the order";
    case "contradiction":
      return "A claim that the service did not agree with no longer counts";
    case "session":
      return "The partner's own session says what was asked for";
    case "looked":
      return "Your nodes show it";
    case "required":
      return "From then on orders wait for the chain, or wait no more";
    case "look_does_not_count":
      return "A later look counts, or the service shows another transaction, address or amount";
    case "person":
      return "A person did it";
    case "person_noted":
      return "A person noted it, which changes nothing";
    case "names_order":
      return "It names the order";
    case "names_order_unreadably":
      return `Somebody names the order: ${
        describeUnreadableReason(reason.reason)
      }`;
    case "unreadable":
      return describeUnreadableReason(reason.reason);
    case "not_of_order":
      return "It does not concern the order";
    case "claim_counts":
      return "A webhook's claim is taken until the service is read";
    case "already_confirmed":
      return `The service shows ${reason.read} itself: the webhook only adds to what was heard`;
    case "repeated":
      return `The same bytes were received before, at position ${reason.position}`;
    case "read_before":
      return "The service has shown as much already";
    case "claimed_before":
      return "Another webhook claims as much already";
    case "claim_used_up":
      return `The service showed ${reason.claimed} before and shows ${reason.read} now: a late or repeated webhook takes nothing back`;
    case "claim_contradicted":
      return `The service was asked and did not agree with ${reason.claimed}`;
    case "higher_claim":
      return `A claim of ${reason.higher} ranks above ${reason.claimed}`;
    case "reading_is_final":
      return `The service shows ${reason.read}, which is final: only a later reading changes it`;
    case "reading_unrecognised":
      return `The service shows ${reason.read}, which this version does not know: a webhook does not change it`;
    case "reading_ranks_above":
      return `The service shows ${reason.read}, which ranks above ${reason.claimed}`;
    case "reading_ranks_equal":
      return `The service shows ${reason.read}, which ranks like ${reason.claimed}`;
    case "reading_without_status":
      return "The service shows no status that can be read";
    case "reading_unchanged":
      return "The service shows what it showed before";
    case "later_state_known":
      return `A later state of the service is known, changed ${
        reason.changedAt ?? "at an unknown time"
      }`;
    case "shown_since":
      return "A reading at least as late shows the order";
    case "no_claim_to_contradict":
      return "There is no claim that it could contradict, or one was received since";
    case "expectation_known":
      return "What is expected of the order says the same already";
    case "expectation_not_linked":
      return "The service has not shown a click id of the order yet";
    case "expectation_of_other_click_id":
      return "The service shows another click id than that of the expectation";
    case "expectation_after_order":
      return "It was asked for after the order began";
    case "expectation_expired":
      return "It had expired when the order began";
    case "click_id_shared_by_many":
      return "Too many expectations share the click id to tell which is the order's";
    case "order_of_other_expectation":
      return "The order is compared with another expectation of the same click id";
  }
}

/** Why an event cannot be read, in one sentence. */
function describeUnreadableReason(reason: UnreadableReason): string {
  switch (reason.code) {
    case "body_erased":
      return "The body is erased";
    case "body_not_json":
      return "The body is not JSON";
    case "body_not_object":
      return "The body is not an object";
    case "unknown_kind":
      return "This version does not know the kind";
    case "contradiction_incomplete":
      return "The contradiction lacks a status or a time";
    case "release_incomplete":
      return "The release by hand does not say what was done";
    case "look_incomplete":
      return "The chain reading has no verdict that this version knows";
    case "rule_incomplete":
      return "The rule about the chain states no time";
    case "session_without_id":
      return "The session has no id";
    case "expectation_without_id":
      return "The expectation has no id";
    case "webhook_unrecognised":
      return reason.problems.join("; ");
  }
}

/** What an event says, in a few words. */
export function describeEventContent(content: EventContent): string {
  switch (content.code) {
    case "webhook":
      return (content.label === "order_redacted"
        ? "what was kept of a webhook"
        : `webhook ${content.label}`) +
        (content.claimed === null ? "" : `, a claim of ${content.claimed}`) +
        (content.hasBody ? "" : ", body erased or unreadable");
    case "reading":
      return `the service shows ${
        content.status ?? "no status that can be read"
      }, changed ${
        content.changedAt ?? "at an unknown time"
      }, read ${content.readAt}`;
    case "absence":
      return `the service does not show the order, read ${content.readAt}`;
    case "contradiction":
      return `the service does not agree with ${content.claimed}, claimed up to ${content.upTo}`;
    case "chain":
      return `your nodes say ${content.verdict}${
        content.final ? ", final" : ""
      }, read ${content.readAt}`;
    case "requirement":
      return content.rule === "off"
        ? "releases no longer wait for the chain"
        : `releases wait for the chain (${content.rule})`;
    case "session":
      return `session ${content.sessionId} was made`;
    case "by_hand":
      return `${
        content.by ?? "a person"
      } recorded that it was ${content.outcome}` +
        (content.reference === null ? "" : ` for ${content.reference}`) +
        (content.why === null ? "" : `: ${content.why}`);
    case "unreadable":
      return `${content.label}, which cannot be read`;
    case "other":
      return content.label;
  }
}

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
