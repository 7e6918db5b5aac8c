/** What the lists of orders and of users share. */

import type { IncompleteReason } from "../../core/wire/completeness.ts";
import type { Page } from "../../core/wire/page.ts";
import { type Api, type Ask, refuseFaults, withQuery } from "../http/api.ts";
import type { ExtraParameters, PageOptions } from "../http/call_options.ts";
import { type CheckedQuery, PAGE_ROWS } from "./_query.ts";
import { pageOf } from "./page_of.ts";
import { ResponseError } from "../errors/api_errors.ts";
import type { Fault } from "../errors/validation_error.ts";

/** How pages of one list are requested and read. */
interface PagedEndpoint<Query, Row> {
  readonly operation: Ask["operation"];
  /** Begins the message of an error. */
  readonly action: string;
  readonly url: string;
  check(query: Query, extra?: ExtraParameters): CheckedQuery;
  readonly rows: Parameters<typeof pageOf<Row>>[2];
}

/** Makes the function that reads one page. */
export function pageReader<Query, Row>(
  api: Api,
  { operation, action, url, check, rows }: PagedEndpoint<Query, Row>,
): (query?: Query, options?: PageOptions) => Promise<Page<Row>> {
  return async (query = {} as Query, options = {}) => {
    const { faults, parameters } = check(query, options.extra);
    refuseFaults(action, faults);
    const answer = await api.ask({
      operation,
      action,
      method: "GET",
      url: withQuery(url, parameters),
      body: null,
      repeatable: true,
      secrets: [],
      signal: options.signal,
    });
    return pageOf<Row>(answer, action, rows);
  };
}

/** How long after its creation an item may still appear, in milliseconds. */
export const SETTLE_MS = 60_000;

/** The fault of a walk whose pages hold nothing. */
export const zeroLimit: Fault = {
  field: "limit",
  rule: "is 0, which no walk can end with; use 1 to " +
    `${PAGE_ROWS}, or page()`,
};

/** The faults of extra parameters that the walk itself sets. */
export function walkedBy(
  own: readonly string[],
  extra: ExtraParameters = {},
): readonly Fault[] {
  return own.filter((name) => Object.hasOwn(extra, name)).map((field) => ({
    field,
    rule: "is set by the walk itself; use page()",
  }));
}

/** Why a walk with extra parameters proves nothing; null without any. */
export function whyExtraUnprovable(
  extra: ExtraParameters = {},
): IncompleteReason | null {
  const [filter] = Object.keys(extra);
  return filter === undefined ? null : { code: "filter_unknown", filter };
}

/** Refuses an id that would select several items, or all of them. */
export function refuseId(field: string, id: string): void {
  if (typeof id === "string" && id.trim() !== "" && !id.includes(",")) return;
  refuseFaults("Cannot read one item", [{
    field,
    rule: "must be one identifier, not empty and without commas",
  }]);
}

/** End of a window, milliseconds since 1970; null when it is open. */
export function endOf(end: string | Date | undefined): number | null {
  if (end === undefined) return null;
  return end instanceof Date ? end.getTime() : Date.parse(end);
}

/** The service answered with items other than the one that was asked for. */
export function wrongItem(
  item: "order" | "user",
  by: "search" | "filter",
  requestId: string | null,
): ResponseError {
  return new ResponseError(
    `Cannot read the ${item}: the service answered with ${item}s that were ` +
      `not asked for or have no identifier; the ${by} may be broken at the ` +
      "service",
    { code: `wrong_${item}`, status: 200, requestId },
  );
}
