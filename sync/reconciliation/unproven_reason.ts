import type { IncompleteReason } from "../../core/wire/incomplete_reason.ts";

/** Why it is not proven that the service showed everything. */
export type UnprovenReason =
  | IncompleteReason
  | {
    /** The service refuses each request that asks for the order. */
    readonly code: "order_refused";
    /** The order. */
    readonly orderId: string;
  }
  | {
    /** A search by order ids did not reach its end. */
    readonly code: "search_not_ended";
  };
