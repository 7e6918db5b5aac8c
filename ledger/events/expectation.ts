/** How long an expectation is valid unless it says otherwise: seven days. */
export const DEFAULT_VALID_FOR_MS: number = 7 * 24 * 60 * 60_000;

/** The longest time that an expectation may be valid: ten years. */
export const MOST_VALID_FOR_MS: number = 3653 * 24 * 60 * 60_000;

/**
 * Most expectations under one click id that an order keeps, those that expire
 * first: enough to see that a partner gives one click id to many customers.
 */
export const CANDIDATES_KEPT = 17;

/**
 * What the partner asked for, in a session or without one. Null means not
 * stated.
 */
export interface ExpectationTerms {
  /** Id of the session, or the one that was minted for the expectation. */
  readonly id: string;
  /** The session; null where there is none. */
  readonly sessionId: string | null;
  /** `simple` or `simple_full_restrict`; null without a session. */
  readonly flowType: string | null;
  /** Click id that it was recorded under; never empty nor the test click id. */
  readonly clickId: string | null;
  /** The partner's own reference; one reference names one purchase. */
  readonly reference: string | null;
  /** Asset asked for, upper case. */
  readonly commodity: string | null;
  /** Network asked for. */
  readonly network: string | null;
  /** Asset amount asked for, a decimal string. */
  readonly commodityAmount: string | null;
  /** Fiat currency asked for, upper case. */
  readonly currency: string | null;
  /** Fiat amount asked for, a decimal string. */
  readonly currencyAmount: string | null;
  /** Address asked for. */
  readonly walletAddress: string | null;
  /** User asked for. */
  readonly userId: string | null;
}

/** What the partner asked for, when, and how long it is valid. */
export interface Expectation extends ExpectationTerms {
  /** When the ledger learnt of it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /**
   * When the partner asked for it, as the partner states it, UTC ISO 8601 with
   * milliseconds. If stated, it replaces `recordedAt`.
   */
  readonly askedAt: string | null;
  /** How long it is valid from then on, in milliseconds. */
  readonly validForMs: number;
}

/** When it was asked for, UTC ISO 8601. */
export function askedAtOf(
  { askedAt, recordedAt }: Pick<Expectation, "askedAt" | "recordedAt">,
): string {
  return askedAt ?? recordedAt;
}

/** Until when it is valid, UTC ISO 8601. */
export function validUntil(
  expectation: Pick<Expectation, "askedAt" | "recordedAt" | "validForMs">,
): string {
  const asked = askedAtOf(expectation);
  const untilMs = Date.parse(asked) + expectation.validForMs;
  return Number.isNaN(untilMs) ? asked : new Date(untilMs).toISOString();
}

/** How expectations of an order are found. */
export interface ExpectationWindow {
  /** Click id of the latest reading. */
  readonly clickId: string;
  /** They are valid at this time or later, UTC ISO 8601 with milliseconds. */
  readonly from: string;
  /** They were asked for until this time, UTC ISO 8601 with milliseconds. */
  readonly until: string;
  /**
   * Until when terms of their purchases count, UTC ISO 8601 with milliseconds;
   * {@linkcode ALWAYS} before a reading has shown success.
   */
  readonly termsUntil: string;
}

/** After every time. */
export const ALWAYS = "~";

/** What an expectation is for. */
export interface PurchaseName {
  /** The partner's reference; where there is none, the click id. */
  readonly kind: "reference" | "click";
  /** The reference or click id. */
  readonly name: string;
}

/** The purchase that an expectation is for; null where nothing names it. */
export function purchaseOf(
  { reference, clickId }: Pick<Expectation, "reference" | "clickId">,
): PurchaseName | null {
  if (reference !== null) return { kind: "reference", name: reference };
  return clickId === null ? null : { kind: "click", name: clickId };
}

/** A purchase as one text, to look it up by. */
export function purchaseKey(
  one: Pick<Expectation, "reference" | "clickId">,
): string {
  const purchase = purchaseOf(one);
  return purchase === null ? "" : `${purchase.kind}:${purchase.name}`;
}
