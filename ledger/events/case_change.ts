import type { HandOutcome } from "./hand_release.ts";

/**
 * What a person can do about the case of an order, besides noting something. A
 * delivery by hand is recorded as a release by hand, `order_released`; here it
 * means that the order was released so before, and its case was opened again.
 */
export const CASE_CHANGES = [
  "asked",
  "refunded",
  "delivered",
  "written_off",
  "not_ours",
  "reopened",
] as const;

/**
 * What a person did about the case of an order.
 *
 * - `asked`: asked the service; the case stays open.
 * - `refunded`: returned the money.
 * - `delivered`: handed over the goods, as was recorded before.
 * - `written_off`: nothing more is done about it.
 * - `not_ours`: it is nobody's business here, as a forged order is.
 * - `reopened`: opened it again.
 */
export type CaseChangeKind = (typeof CASE_CHANGES)[number];

/** What a person did about an order, or a note on it. */
export interface CaseNote {
  /** What the person did; `noted` for a note alone. */
  readonly done: CaseChangeKind | HandOutcome | "noted";
  /** Who did it. */
  readonly by: string;
  /** The note; null without one. */
  readonly text: string | null;
  /** Reference of the refund, or of what was delivered; else null. */
  readonly reference: string | null;
  /** When the service was asked, UTC ISO 8601; else null. */
  readonly since: string | null;
}

/** A change that a person made to the case of an order. */
export interface CaseChange {
  /** What the person did. */
  readonly change: CaseChangeKind;
  /**
   * One more than the turn of the last change that the person saw, so that the
   * order of changes depends neither on their arrival nor on clocks.
   */
  readonly turn: number;
  /** When the ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Digest of the body: decides between two of one turn and time. */
  readonly digest: string;
  /** Why the order waited for a person then, the gravest first. */
  readonly reasons: readonly string[];
  /** Time of the last change that the service had shown then; null for none. */
  readonly changedAt: string | null;
  /** Whether a release by hand was known then. */
  readonly afterHand: boolean;
  /** Reference of the refund; null for another change, or without one. */
  readonly reference: string | null;
  /** When the service was asked, UTC ISO 8601; null for another change. */
  readonly since: string | null;
}

/** Of two changes of one case the later one, whichever arrives first. */
export function laterCaseChange(
  known: CaseChange | null,
  added: CaseChange,
): CaseChange {
  if (known === null) return added;
  const ahead = added.turn - known.turn ||
    compare(added.recordedAt, known.recordedAt) ||
    compare(added.digest, known.digest);
  return ahead > 0 ? added : known;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
