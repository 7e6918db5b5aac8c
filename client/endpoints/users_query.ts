import type { ExtraParameters } from "../http/call_options.ts";
import type { UsersQuery } from "../../core/wire/queries.ts";
import { type CheckedQuery, checkQuery, type Kind } from "./_query.ts";

const kinds: Readonly<Record<keyof UsersQuery, Kind>> = {
  limit: "limit",
  offset: "offset",
  order_by: "order",
  from: "time",
  to: "time",
  user_ids: "list",
  lkyc_status: "text",
  fkyc_status: "text",
  phone_country: "alpha2",
  kyc_country: "alpha3",
};

const meant = {
  user_id: "user_ids",
  start_date: "from",
  end_date: "to",
  country: "kyc_country",
  cursor_id: "offset; users have no cursor",
};

/**
 * Checks a query of users against the table of parameters.
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
 * const { faults } = checkUsersQuery({ kyc_country: "US" });
 * assert.deepEqual(faults.map((fault) => fault.field), ["kyc_country"]);
 * ```
 */
export function checkUsersQuery(
  query: UsersQuery,
  extra: ExtraParameters = {},
): CheckedQuery {
  return checkQuery(query, { kinds, range: ["from", "to"], meant }, extra);
}
