import type { DamageReason } from "./damage_reason.ts";
import type { HeadAnchor } from "./head_anchor.ts";
import type { AnchoredHead, AnchorReset } from "../hashes/anchored_head.ts";

/**
 * What is wrong at a position.
 *
 * - `altered`: a column, the body, its digest or its salt was changed.
 * - `reordered`: the event stood at another position.
 * - `inserted`: the event was not there when the chain passed.
 * - `removed`: the event is gone.
 * - `underived`: the columns do not follow from the body, though the chain
 *   agrees: the event was stored wrong in the first place.
 * - `unexpected`: the chain is whole in itself, but it is not the one that was
 *   written down elsewhere.
 */
export type Damage =
  | "altered"
  | "reordered"
  | "inserted"
  | "removed"
  | "underived"
  | "unexpected";

/**
 * What the chain was held against besides itself: `expect`, what was written
 * down elsewhere; `kept`, the head kept beside the ledger. Without either, a
 * tail that was cut off with its links is not seen, nor a chain that was
 * computed anew.
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
  /** Events whose body was erased; they hold by their commitment. */
  readonly erased: number;
  /** What the chain was held against besides itself. */
  readonly anchors: readonly Anchor[];
  /** The head kept beside the ledger; null where none is. */
  readonly anchoredHead: AnchoredHead | null;
  /** Kept heads that were given up by a restore, oldest first. */
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

/** What to hold the chain against. */
export interface VerifyOptions {
  /** Count and hash that were printed earlier and kept elsewhere. */
  readonly expect?: {
    /** Events of the chain at that time. */
    readonly count: number;
    /** Its hash at that time, 64 hex digits. */
    readonly hash: string;
  };
  /** Keeps the head of the chain outside the database. */
  readonly anchor?: HeadAnchor | undefined;
  /** Called after each step with the number of events checked. */
  readonly onProgress?: (events: number) => void;
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
  /**
   * Most events of one step; fewer where bodies are large.
   *
   * @default 500
   */
  readonly limit?: number;
}
