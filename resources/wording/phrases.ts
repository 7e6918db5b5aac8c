import { isDecimal } from "../../core/decimal.ts";
import type { ChainBreak, DamageReason } from "../../ledger/for_resources.ts";
import { ORDER_FIELDS, type OrderFieldName } from "../../core/wire/fields.ts";
import type { FindResult } from "../../ledger/reads/find.ts";
import type { FoundField } from "../../ledger/reads/names.ts";

/** Words in a sentence: `success and failed`. */
export function listWords(words: readonly string[]): string {
  return words.join(" and ");
}

/** The next step while the service has not been asked. */
export const ASKED_SOON =
  "Nothing yet: the service is asked within minutes. Without a poller, ask " +
  "it: `poll --once`.";

/** The next step where the service shows what this version does not know. */
export const UNKNOWN_STATE =
  "Ask the service what the status means. A newer version may know it.";

/** A span of time for people: `80 ms`, `3 min`, `2 h`, `5 days`. */
export function span(ms: number): string {
  if (Math.abs(ms) < 1000) return `${Math.round(Math.abs(ms))} ms`;
  const seconds = Math.round(Math.abs(ms) / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

/** Decimals of a currency that the runtime does not know. */
const USUAL = 2;

/**
 * An amount of a currency with all its decimals, `100.50` for `100.5` of USD.
 * It is never rounded, and what is not a plain number stays as it came.
 */
export function withDecimals(amount: string, currency: string | null): string {
  if (!isDecimal(amount)) return amount;
  const [whole = "", part = ""] = amount.split(".");
  const decimals = part.padEnd(decimalsOf(currency), "0");
  return decimals === "" ? whole : `${whole}.${decimals}`;
}

/**
 * The same with its digits in groups, as people write it: `1,200.50` for
 * `1200.5` of USD.
 */
export function groupedAmount(amount: string, currency: string | null): string {
  if (!isDecimal(amount)) return amount;
  const [whole = "", decimals] = withDecimals(amount, currency).split(".");
  const shown = thousands(whole);
  return decimals === undefined ? shown : `${shown}.${decimals}`;
}

/** Decimals that amounts of a currency usually have: of yen none. */
function decimalsOf(currency: string | null): number {
  if (currency === null || !/^[A-Za-z]{3}$/.test(currency)) return USUAL;
  return new Intl.NumberFormat("en", { style: "currency", currency })
    .resolvedOptions().maximumFractionDigits ?? USUAL;
}

/** Digits in groups of three, as people read them: `1,200,000`. */
export function thousands(digits: string): string {
  return digits.replace(/\B(?=(?:\d{3})+$)/g, ",");
}

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

/** Says of what only webhooks name that it may be somebody else's. */
export const CLAIMED_MATCH = "only webhooks say so";

/** Names of what is found that is no field of an order in the table. */
const OTHER_FIELDS: Readonly<
  Record<Exclude<FoundField, OrderFieldName>, string>
> = {
  orderId: "order id",
  reference: "reference",
  sessionId: "session",
};

/** The field in which a text is found, for people. */
export function foundField(field: FoundField): string {
  return isOther(field)
    ? OTHER_FIELDS[field]
    : ORDER_FIELDS[field].label.toLowerCase();
}

function isOther(field: FoundField): field is keyof typeof OTHER_FIELDS {
  return Object.hasOwn(OTHER_FIELDS, field);
}

/** What is said of a text that the service never provides. */
export const NOT_TOLD =
  "The service does not provide e-mail addresses and phone numbers, so nothing is found by them. Ask the customer for the order number in the " +
  "confirmation of the payment, your own order number, the hash of the " +
  "transaction, or the address of the wallet.";

/** Says that no order matches what the partner recorded. */
export function recordedText(
  { sessionId, clickId, reference, askedAt, validUntil }:
    FindResult["recorded"][number],
): string {
  const names = [
    sessionId !== null && `session ${sessionId}`,
    clickId !== null && `click id ${clickId}`,
    reference !== null && `reference ${reference}`,
  ].filter((name) => name !== false);
  return `No order matches what you recorded as ${names.join(", ")} at ` +
    `${askedAt}, valid until ${validUntil}`;
}
