import type { OrderStatus, PaymentType } from "../../core/wire/order.ts";
import type { ExtraParameters } from "../http/call_options.ts";
import { type CheckedQuery, checkQuery, type Kind } from "./_query.ts";

/**
 * Which orders to read. Names are the service's own; what is left out does not
 * filter.
 *
 * Source: service interface, "GET /api/external/orders".
 */
export interface OrdersQuery {
  /** Orders on a page, 0 to 20. @default {20} in walks, 10 at the service. */
  readonly limit?: number;
  /** `nextCursorId` of an earlier page. @default {""} the first page. */
  readonly cursor_id?: string;
  /** Orders to skip; the earlier form of paging. @default {0} */
  readonly offset?: number;
  /** Order, click or external order ids, separated by commas or as an array. */
  readonly search_by?: string | readonly string[];
  /** Order by creation time. @default {"desc"} */
  readonly order_by?: "asc" | "desc";
  /** Orders created after this time (exclusive), UTC. */
  readonly start_date?: string | Date;
  /** Orders created up to this time (inclusive), UTC. */
  readonly end_date?: string | Date;
  /** Orders of this status. */
  readonly status?: OrderStatus | (string & Record<never, never>);
  /** Orders of this asset, in dotted form. */
  readonly commodity?: string;
  /** Orders of these users, separated by commas or as an array. */
  readonly user_ids?: string | readonly string[];
  /** Orders paid with this card. */
  readonly card_id?: string;
  /** Orders with this transaction hash. */
  readonly tx_id?: string;
  /** Orders that failed with this payment error code. */
  readonly fail_reason?: string;
  /** Orders paid with this authentication method. */
  readonly payment_type?: PaymentType | (string & Record<never, never>);
}

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
