import type { OrderStatus, PaymentType } from "./order.ts";
import type { VerificationStatus } from "./user.ts";

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
