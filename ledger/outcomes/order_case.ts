import type { CaseChange } from "../events/case_change.ts";
import { ATTENTION_KINDS, type AttentionKind } from "./attention_kind.ts";
import type { ByHand } from "./settled_by_hand.ts";

/** Every state that a case can have, in the order in which people list them. */
export const CASE_STATES = [
  "open",
  "asked",
  "refunded",
  "delivered",
  "written_off",
  "not_ours",
] as const;

/** State of the case of an order; see {@linkcode OrderCase}. */
export type CaseState = (typeof CASE_STATES)[number];

/** The case of an order: whether it waits for a person, or what one did. */
export interface OrderCase {
  /**
   * - `open`: it waits for a person.
   * - `asked`: a person has asked the service, and it still waits.
   * - `refunded`, `delivered`, `written_off`, `not_ours`: how it was closed.
   */
  readonly state: CaseState;
  /** When a person last changed it, UTC ISO 8601; null while nobody did. */
  readonly at: string | null;
  /** When the service was asked, UTC ISO 8601; else null. */
  readonly since: string | null;
  /** Reference of the refund; else null. */
  readonly reference: string | null;
  /**
   * The reasons that the person dealt with. Any other reason opens the case
   * again.
   */
  readonly reasons: readonly AttentionKind[];
  /** Whether a person opened it again. */
  readonly reopened: boolean;
}

/** What the case of an order depends on. */
export interface CaseFacts {
  /** What a person did last about the case. */
  readonly change: CaseChange | null;
  /** Time of the last change that the service shows; null for none. */
  readonly changedAt: string | null;
  /** What a person delivered or refunded. */
  readonly byHand: ByHand | null;
}

/**
 * The case of an order. What a person did applies while the service shows
 * exactly the state that the person saw, and there is no reason to wait that
 * the person did not know: so any change by the service opens the case again.
 *
 * @param facts What the case depends on.
 * @param attention Why a person would have to look, had nobody done anything.
 * @returns Null where nobody has to look, and nobody did anything that holds.
 */
export function caseOf(
  { change, changedAt, byHand }: CaseFacts,
  attention: readonly AttentionKind[],
): OrderCase | null {
  if (
    change !== null && change.change !== "reopened" &&
    change.changedAt === changedAt && covers(change.reasons, attention)
  ) {
    return {
      state: change.change,
      at: change.recordedAt,
      since: change.since,
      reference: change.reference,
      reasons: ATTENTION_KINDS.filter((kind) => change.reasons.includes(kind)),
      reopened: false,
    };
  }
  const none = { since: null, reference: null };
  // A release by hand that came later closes what was opened again before.
  const reopened = change?.change === "reopened" &&
    change.afterHand === (byHand !== null);
  const settled = reopened ? [] : byHand?.settled ?? [];
  if (reopened || !covers(settled, attention)) {
    const at = change?.recordedAt ?? byHand?.at ?? null;
    return { state: "open", at, ...none, reasons: [], reopened };
  }
  return byHand === null ? null : {
    ...{ state: byHand.outcome, at: byHand.at },
    ...{ ...none, reasons: settled, reopened },
  };
}

/** States in which nobody has to do anything. */
const CLOSED: ReadonlySet<CaseState> = new Set([
  "refunded",
  "delivered",
  "written_off",
  "not_ours",
]);

/**
 * The case as readers see it, who also consider the time and other orders.
 *
 * @param stored The case by what the service has shown.
 * @param attention Why it waits now; what a closed case dealt with left out.
 */
export function caseNow(
  stored: OrderCase | null,
  attention: readonly AttentionKind[],
): OrderCase | null {
  if (attention.length === 0) return stored?.state === "open" ? null : stored;
  if (stored?.state === "asked" && covers(stored.reasons, attention)) {
    return stored;
  }
  return {
    ...{ state: "open", at: stored?.at ?? null, since: null },
    ...{ reference: null, reasons: [], reopened: stored?.reopened ?? false },
  };
}

/**
 * The reasons that nobody has dealt with. If another order holds the purchase,
 * the person who delivered or refunded this one has decided.
 *
 * @param attention Why a person would have to look, had nobody done anything.
 */
export function withoutSettled(
  attention: readonly AttentionKind[],
  byHand: ByHand | null,
  found: OrderCase | null,
): readonly AttentionKind[] {
  const closed = found !== null && CLOSED.has(found.state) ? found.reasons : [];
  const hand = byHand === null || found?.reopened === true
    ? []
    : [...byHand.settled, "paid_twice"];
  return attention.filter((kind) =>
    !closed.includes(kind) && !hand.includes(kind)
  );
}

function covers(
  known: readonly string[],
  attention: readonly AttentionKind[],
): boolean {
  return attention.every((kind) => known.includes(kind));
}
