import type { IncompleteReason } from "../../core/wire/incomplete_reason.ts";

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
