import type { ChainBreak, DamageReason } from "../../ledger/for_resources.ts";

/** Why a position counts as damaged, in one sentence. */
export function describeDamage(reason: DamageReason): string {
  switch (reason.code) {
    case "event_gone":
      return "The event is gone";
    case "link_missing":
      return "The chain does not know the event";
    case "event_altered":
      return "The body or another part of the event was changed";
    case "erased_event_altered":
      return "What was left of the erased event was changed";
    case "link_altered":
      return "The link of the event was changed";
    case "fewer_than_expected":
      return `${reason.expected} events were expected in the chain; it has ${reason.chained}`;
    case "other_hash_than_expected":
      return `The chain of the first ${reason.chained} events has another hash than expected`;
    case "chain_gone":
      return `The chain is gone: it had ${reason.events} events at ${reason.anchoredAt}`;
    case "fewer_than_anchored":
      return `The chain had ${reason.events} events at ${reason.anchoredAt}; it has ${reason.chained}`;
    case "other_hash_than_anchored":
      return `The chain of the first ${reason.chained} events has another hash than the one kept at ${reason.anchoredAt}`;
    case "anchored_head_of_other_ledger":
      return `The head kept beside the ledger is of another ledger, ${reason.ledgerId}: this one was put in its place`;
    case "anchored_head_unreadable":
      return reason.error;
  }
}

/** Why the chain is not extended, in one sentence. */
export function describeChainBreak(found: ChainBreak): string {
  if (found.code === "other_ledger") {
    return "The head kept beside the ledger is of another ledger, " +
      `${found.ledgerId}: this one was put in its place`;
  }
  const { code, events, position, anchoredAt } = found;
  return `The chain had ${events} events at ${anchoredAt}, up to position ` +
    `${position}; ` +
    (code === "link_gone" ? "that link is gone" : "another link is there now");
}
