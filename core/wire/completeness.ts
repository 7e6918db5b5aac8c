import type { IncompleteReason } from "./incomplete_reason.ts";

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
   * Whether each pass was read to its end, and each row said which it is. That
   * nothing else was there to read, though not yet proof that all was seen.
   */
  readonly exhausted: boolean;
  /** The last `total` the service stated; null when it stated none. */
  readonly total: number | null;
  /** Oddities that do not affect the result, for example a wrong `total`. */
  readonly warnings: readonly string[];
}

/**
 * Every item of the window was read, and there is proof of it. Where answers
 * bear no `Date`, our clock stands for the service's: a service whose clock is
 * behind by more than the settling time can then still add items.
 */
export interface CompleteWalk extends WalkFacts {
  /** Marks the proof. */
  readonly complete: true;
}

/** The walk may have missed items. */
export interface IncompleteWalk extends WalkFacts {
  /** Marks that there is no proof. */
  readonly complete: false;
  /** Why there is no proof, as a code with its data. */
  readonly reason: IncompleteReason;
  /** The same in one sentence for people. */
  readonly why: string;
}
