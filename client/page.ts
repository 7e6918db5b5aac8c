/** One page of orders or users, and where it came from. */
export interface Page<T> {
  /** The items, in the order of the answer. */
  readonly data: readonly T[];
  /**
   * Exact JSON text of each item, as received: `sources[i]` is the text of
   * `data[i]`. Cut out of the answer when first asked for.
   */
  readonly sources: readonly string[];
  /** Cursor of the next page; null when the service states none. */
  readonly nextCursorId: string | null;
  /**
   * How many items match, by the service's own count; null when it is missing
   * or is no count. A hint, never the proof that a walk was complete.
   */
  readonly total: number | null;
  /**
   * When this was true, UTC ISO 8601 with milliseconds: the `Date` header of
   * the answer, else our clock when asking.
   */
  readonly readAt: string;
  /** Request identifier the service stated; null when it did not. */
  readonly requestId: string | null;
}

/** A statement about a whole walk: what was read, and whether that is all. */
export type Completeness = CompleteWalk | IncompleteWalk;

/** Facts of a walk, complete or not. */
export interface WalkFacts {
  /** Pages read, over all passes. */
  readonly pages: number;
  /** Distinct items seen. */
  readonly items: number;
  /** Passes over the window. */
  readonly passes: number;
  /**
   * Whether each pass was read to its end: an empty page, or no cursor. That
   * nothing else was there to read, though not yet proof that all was seen.
   */
  readonly exhausted: boolean;
  /** The last `total` the service stated; null when it stated none. */
  readonly total: number | null;
  /** What was odd and did not decide, for example a wrong `total`. */
  readonly warnings: readonly string[];
}

/** Every item of the window was read, and there is proof of it. */
export interface CompleteWalk extends WalkFacts {
  /** Marks the proof. */
  readonly complete: true;
}

/** The walk may have missed items. */
export interface IncompleteWalk extends WalkFacts {
  /** Marks that there is no proof. */
  readonly complete: false;
  /** Why there is no proof, in one sentence for people. */
  readonly why: string;
}
