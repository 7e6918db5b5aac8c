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
  /** Hash after the last event that was found to be right, 64 hex digits. */
  readonly hash: string;
  /** First position that is wrong; null when nothing is. */
  readonly firstBrokenPosition: number | null;
  /** What is wrong there. */
  readonly damage: Damage | null;
  /** The same in one sentence. */
  readonly detail: string | null;
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
  /** Told how many events have been looked at, after each step. */
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
