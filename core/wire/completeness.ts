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

/** Why a walk may have missed items, as a code with its data. */
export type IncompleteReason =
  | {
    /**
     * - `not_begun`: the walk has not begun.
     * - `stopped`: its reader stopped before the end.
     * - `begun_in_the_middle`: it does not begin where its window does.
     * - `window_open`: the window has no end, so items appear while walking.
     * - `one_pass`: one pass alone proves nothing.
     */
    readonly code:
      | "not_begun"
      | "stopped"
      | "begun_in_the_middle"
      | "window_open"
      | "one_pass";
  }
  | {
    /**
     * - `cursor_repeated`: the service repeated a cursor after a page.
     * - `items_repeated`: it gave the same items again and again up to a page.
     */
    readonly code: "cursor_repeated" | "items_repeated";
    /** Number of the page, from 1. */
    readonly page: number;
  }
  | {
    /** The service showed rows without a usable identifier. */
    readonly code: "rows_without_id";
    /** How many. */
    readonly rows: number;
  }
  | {
    /**
     * - `filter_changes`: the query filters by what changes while walking.
     * - `filter_unknown`: it filters by what may.
     */
    readonly code: "filter_changes" | "filter_unknown";
    /** Name of the parameter. */
    readonly filter: string;
  }
  | {
    /** The window ends so late that items can still appear in it. */
    readonly code: "window_too_young";
    /** How long after its creation an item may still appear, in ms. */
    readonly settleMs: number;
  }
  | {
    /** The passes saw different items. */
    readonly code: "passes_differ";
    /** Items that each pass saw. */
    readonly seen: readonly number[];
    /** Items that they saw together. */
    readonly together: number;
  };

/** Why a walk may have missed items, in one sentence. */
export function describeIncomplete(reason: IncompleteReason): string {
  switch (reason.code) {
    case "not_begun":
      return "The walk has not begun";
    case "stopped":
      return "The walk was stopped before its end";
    case "begun_in_the_middle":
      return "The walk begins in the middle of its window";
    case "window_open":
      return "The window has no end, so new items can appear while walking";
    case "one_pass":
      return "One pass alone proves nothing";
    case "cursor_repeated":
      return `The service repeated a cursor after page ${reason.page}`;
    case "items_repeated":
      return "The service gave the same items again and again up to page " +
        `${reason.page}`;
    case "rows_without_id":
      return reason.rows === 1
        ? "The service showed a row without a usable identifier"
        : `The service showed ${reason.rows} rows without a usable identifier`;
    case "filter_changes":
      return `The query filters by ${reason.filter}, which changes while walking`;
    case "filter_unknown":
      return `The query filters by ${reason.filter}, which may change while walking`;
    case "window_too_young":
      return `The window ends less than ${reason.settleMs} ms before the ` +
        "service's now, so items can still appear in it";
    case "passes_differ":
      return `The passes differ: they saw ${
        reason.seen.join(", ")
      } items, together ${reason.together}`;
  }
}
