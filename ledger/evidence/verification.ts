import type { AnchoredHead, AnchorReset } from "./head_anchor.ts";

/**
 * What is wrong at a position.
 *
 * - `altered`: a column, the body, its digest or its salt was changed.
 * - `inserted`: the event was not there when the chain was extended past it.
 * - `removed`: the event is gone.
 * - `unexpected`: the chain is consistent, but it is not the one that was
 *   recorded elsewhere.
 */
export type Damage = "altered" | "inserted" | "removed" | "unexpected";

/**
 * What the chain was compared with besides itself: `expect`, what was recorded
 * elsewhere; `stored`, the head stored beside the ledger. Without either, a
 * tail that was cut off with its links goes unnoticed, and so does a chain that
 * was computed anew.
 */
export type Anchor = "expect" | "stored";

/** What {@linkcode verifyChain} found. */
export interface Verification {
  /** Whether nothing is wrong. */
  readonly ok: boolean;
  /** Events looked at. */
  readonly events: number;
  /** Events that the chain covers. */
  readonly chained: number;
  /** Events appended since the chain was last extended. */
  readonly unchained: number;
  /** Events whose body was erased; their commitment still verifies. */
  readonly erased: number;
  /** What the chain was compared with besides itself. */
  readonly anchors: readonly Anchor[];
  /** The head stored beside the ledger; null without one. */
  readonly anchoredHead: AnchoredHead | null;
  /** Anchored heads that a restore discarded, oldest first. */
  readonly resets: readonly AnchorReset[];
  /** Hash after the last event that was found to be right, 64 hex digits. */
  readonly hash: string;
  /** First position that is wrong; null when nothing is. */
  readonly firstBrokenPosition: number | null;
  /** What is wrong there. */
  readonly damage: Damage | null;
  /** Why it counts as wrong; null when nothing is. */
  readonly reason: DamageReason | null;
}

/** What to compare the chain with. */
export interface VerifyOptions {
  /** Count and hash that were printed earlier and recorded elsewhere. */
  readonly expect?: {
    /** Events of the chain at that time. */
    readonly count: number;
    /** Its hash at that time, 64 hex digits. */
    readonly hash: string;
  };
  /** Called after each step with the number of events checked. */
  readonly onProgress?: (events: number) => void;
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
}

/** Why a position counts as damaged, as a code with its data. */
export type DamageReason =
  | {
    /**
     * - `event_gone`: the event is gone, its link is there.
     * - `link_missing`: the chain does not know the event.
     * - `event_altered`: the body or another part was changed.
     * - `erased_event_altered`: what was left of an erased event was changed.
     * - `link_altered`: the link of the event was changed.
     */
    readonly code:
      | "event_gone"
      | "link_missing"
      | "event_altered"
      | "erased_event_altered"
      | "link_altered";
  }
  | {
    /** Fewer events are chained than were expected. */
    readonly code: "fewer_than_expected";
    /** Events that were expected. */
    readonly expected: number;
    /** Events of the chain. */
    readonly chained: number;
  }
  | {
    /** The chain has another hash than was expected. */
    readonly code: "other_hash_than_expected";
    /** Events with that hash. */
    readonly chained: number;
  }
  | {
    /** The chain had events when its head was anchored, and is gone. */
    readonly code: "chain_gone";
    /** Events by the anchored head. */
    readonly events: number;
    /** When the head was anchored, UTC ISO 8601. */
    readonly anchoredAt: string;
  }
  | {
    /** Fewer events are chained than when the head was anchored. */
    readonly code: "fewer_than_anchored";
    /** Events by the anchored head. */
    readonly events: number;
    /** When the head was anchored, UTC ISO 8601. */
    readonly anchoredAt: string;
    /** Events of the chain. */
    readonly chained: number;
  }
  | {
    /** The chain has another hash than the anchored head. */
    readonly code: "other_hash_than_anchored";
    /** Events with that hash. */
    readonly chained: number;
    /** When the head was anchored, UTC ISO 8601. */
    readonly anchoredAt: string;
  }
  | {
    /** The anchored head is of another ledger. */
    readonly code: "anchored_head_of_other_ledger";
    /** Identifier of that ledger. */
    readonly ledgerId: string;
  }
  | {
    /** The anchored head cannot be read. */
    readonly code: "anchored_head_unreadable";
    /** Message of the error that reading it threw. */
    readonly error: string;
  };
