import type {
  EffectReason,
  EventContent,
  UnreadableReason,
} from "../../ledger/for_resources.ts";

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
