/** What the lists of orders and of users share. */

import type { Page } from "../../core/wire/page.ts";
import { type Api, type Ask, refuseFaults, withQuery } from "../http/api.ts";
import type { CallOptions } from "../http/call_options.ts";
import { pageOf } from "../pagination/page_of.ts";
import type { Fault } from "../errors/validation_error.ts";

/** How pages of one list are asked for and read. */
interface PagedEndpoint<Query, Row> {
  readonly operation: Ask["operation"];
  /** Begins the message of an error. */
  readonly action: string;
  readonly url: string;
  check(query?: Query): {
    readonly faults: readonly Fault[];
    readonly parameters: readonly (readonly [name: string, value: string])[];
  };
  readonly rows: Parameters<typeof pageOf<Row>>[2];
}

/** Makes the function that reads one page. */
export function pageReader<Query, Row>(
  api: Api,
  { operation, action, url, check, rows }: PagedEndpoint<Query, Row>,
): (query?: Query, options?: CallOptions) => Promise<Page<Row>> {
  return async (query, options = {}) => {
    const { faults, parameters } = check(query);
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

/** The fault of a walk whose pages hold nothing. */
export const zeroLimit: Fault = {
  field: "limit",
  rule: "is 0, which no walk can end with; use 1 to 20, or page()",
};

/** Refuses what would ask for several items, or for all of them. */
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
