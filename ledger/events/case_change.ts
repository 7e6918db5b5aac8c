import type { HandOutcome } from "./hand_release.ts";

/**
 * What a person can do about the case of an order, but for a note. A delivery by
 * hand is a release by hand, `order_released`: here it stands where the order was
 * released so before, and its case was opened again.
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
 * - `delivered`: handed the goods out, as was recorded before.
 * - `written_off`: nothing more is done about it.
 * - `not_ours`: it is nobody's business here, as a forged order is.
 * - `reopened`: opened it again.
 */
export type CaseChangeKind = (typeof CASE_CHANGES)[number];

/** What a person did about an order, or noted of it, in words. */
export interface CaseNote {
  /** What the person did; `noted` where that changes nothing. */
  readonly done: CaseChangeKind | HandOutcome | "noted";
  /** Who did it. */
  readonly by: string;
  /** What was noted; null where nothing was. */
  readonly text: string | null;
  /** Reference of the refund, or of what was delivered; else null. */
  readonly reference: string | null;
  /** When the service was asked, UTC ISO 8601; else null. */
  readonly since: string | null;
}

/** That a person changed the case of an order. */
export interface CaseChange {
  /** What the person did. */
  readonly change: CaseChangeKind;
  /**
   * One more than that of the change before it which the person saw: the order
   * of changes does not depend on when they arrive, nor on clocks.
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
