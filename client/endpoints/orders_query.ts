import type { OrdersQuery } from "../../core/wire/queries.ts";
import type { ExtraParameters } from "../http/call_options.ts";
import { type CheckedQuery, checkQuery, type Kind } from "./_query.ts";

const kinds: Readonly<Record<keyof OrdersQuery, Kind>> = {
  limit: "limit",
  cursor_id: "text",
  offset: "offset",
  search_by: "list",
  order_by: "order",
  start_date: "time",
  end_date: "time",
  status: "text",
  commodity: "dotted",
  user_ids: "list",
  card_id: "text",
  tx_id: "text",
  fail_reason: "text",
  payment_type: "text",
};

const meant = {
  order_id: "search_by",
  order_ids: "search_by",
  click_id: "search_by",
  external_order_id: "search_by",
  user_id: "user_ids",
  crypto: "commodity",
  from: "start_date",
  to: "end_date",
  cursor: "cursor_id",
  next_cursor_id: "cursor_id",
};

/**
 * Checks a query of orders against the table of parameters.
 *
 * @param query What to read.
 * @param extra Parameters that no rule is applied to.
 * @returns Every fault, and the parameters to send.
 * @throws {TypeError} When `query` is not an object.
 *
 * @example Find a mistyped parameter
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const { faults } = checkOrdersQuery({ limit: 50, commodity: "POL" });
 * assert.deepEqual(faults.map((fault) => fault.field), ["limit", "commodity"]);
 * ```
 */
export function checkOrdersQuery(
  query: OrdersQuery,
  extra: ExtraParameters = {},
): CheckedQuery {
  return checkQuery(
    // An empty cursor is the documented default: the first page.
    query.cursor_id === "" ? { ...query, cursor_id: undefined } : query,
    { kinds, range: ["start_date", "end_date"], meant },
    extra,
  );
}
