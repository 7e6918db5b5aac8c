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
