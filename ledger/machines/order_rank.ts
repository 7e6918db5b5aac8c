import type { OrderStatus } from "../../core/wire/order.ts";
import type { StateRow } from "./machine.ts";
import { orderMachine } from "./order_machine.ts";
import type { Status } from "./transition.ts";

const rows: ReadonlyMap<string, StateRow> = new Map(
  Object.entries(orderMachine.states),
);

/**
 * Rank of an order status:
 * created < progress < pending < failed < success < cancelled < any other.
 *
 * @param status An order status.
 * @returns 0 to 6.
 *
 * @example Compare two statuses
 * ```ts
 * import { orderRank } from "./order_rank.ts";
 * import assert from "node:assert/strict";
 *
 * assert(orderRank("success") > orderRank("failed"));
 * assert(orderRank("a_new_status") > orderRank("cancelled"));
 * ```
 */
export function orderRank(status: Status): number {
  return rowOf(status).rank;
}

/**
 * Whether nothing but a later reading can change the status. A status this
 * version does not know is never final.
 *
 * @param status An order status.
 * @returns True for failed, success and cancelled.
 *
 * @example Ask whether an order can still move
 * ```ts
 * import { isFinal } from "./order_rank.ts";
 * import assert from "node:assert/strict";
 *
 * assert(isFinal("cancelled"));
 * assert(!isFinal("a_new_status"));
 * ```
 */
export function isFinal(status: Status): boolean {
  return rowOf(status).final;
}

/**
 * Whether this version knows the status.
 *
 * @param status An order status.
 * @returns True for the documented statuses.
 *
 * @example Find a new status
 * ```ts
 * import { isKnown } from "./order_rank.ts";
 * import assert from "node:assert/strict";
 *
 * assert(!isKnown("a_new_status"));
 * ```
 */
export function isKnown(status: Status): status is OrderStatus {
  return rows.has(status);
}

/**
 * Reads a status as sent: documented ones whatever their case, and `canceled`
 * with one l, as the service itself is seen to mix; others are kept.
 *
 * @param text A status as sent.
 * @returns The status.
 */
export function normaliseStatus(text: string): Status {
  const lower = text.trim().toLowerCase();
  if (lower === "canceled") return "cancelled";
  return isKnown(lower) ? lower : text;
}

function rowOf(status: Status): StateRow {
  return rows.get(status) ?? orderMachine.unlisted;
}
