import type { ExtraParameters } from "../http/call_options.ts";
import type { VerificationStatus } from "../../core/wire/user.ts";
import { type CheckedQuery, checkQuery, type Kind } from "./_query.ts";

/**
 * Which users to read. Names are the service's own; what is left out does not
 * filter.
 *
 * Source: service interface, "GET /api/external/users".
 */
export interface UsersQuery {
  /** Users on a page, 0 to 20. @default {20} in walks. */
  readonly limit?: number;
  /** Users to skip. @default {0} */
  readonly offset?: number;
  /** Order by creation time. @default {"desc"} */
  readonly order_by?: "asc" | "desc";
  /** Users created after this time (exclusive), UTC. */
  readonly from?: string | Date;
  /** Users created up to this time (inclusive), UTC. */
  readonly to?: string | Date;
  /** These users, separated by commas or as an array. */
  readonly user_ids?: string | readonly string[];
  /** Users of this light verification status. */
  readonly lkyc_status?: VerificationStatus;
  /** Users of this document verification status. */
  readonly fkyc_status?: VerificationStatus;
  /** Users whose phone is of this country, ISO alpha-2. */
  readonly phone_country?: string;
  /** Users verified in this country, ISO alpha-3. */
  readonly kyc_country?: string;
}

/** A query for a walk, which sets order and offset itself. */
export type UsersWalkQuery = Omit<UsersQuery, "offset" | "order_by">;

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
