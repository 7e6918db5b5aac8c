import type { OrderFold } from "./order_fold.ts";
import type { OrderState } from "./order_state.ts";
import type { UserFold } from "./user_fold.ts";
import type { UserState } from "./user_state.ts";

/**
 * Encodes what is known of an order. The same facts give the same text,
 * whatever their order of arrival.
 *
 * @param fold What is known of the order.
 * @returns Well-formed JSON without NUL.
 */
export function encodeOrderFold(fold: OrderFold): string {
  return JSON.stringify(fold);
}

/**
 * Decodes what {@linkcode encodeOrderFold} wrote with the same fold version.
 *
 * @param text The encoded fold.
 * @returns What is known of the order.
 */
export function decodeOrderFold(text: string): OrderFold {
  return JSON.parse(text) as OrderFold;
}

/**
 * Encodes what is known of a user, like {@linkcode encodeOrderFold}.
 *
 * @param fold What is known of the user.
 * @returns Well-formed JSON without NUL.
 */
export function encodeUserFold(fold: UserFold): string {
  return JSON.stringify(fold);
}

/**
 * Decodes what {@linkcode encodeUserFold} wrote with the same fold version.
 *
 * @param text The encoded fold.
 * @returns What is known of the user.
 */
export function decodeUserFold(text: string): UserFold {
  return JSON.parse(text) as UserFold;
}

/**
 * The canonical bytes of an order: byte-identical for the same set of events
 * in any order, with any repeats, in any batches, and folded again from
 * nothing.
 *
 * @param state State of the order.
 * @returns JSON with fixed key order.
 */
export function canonicalOrder(state: OrderState): string {
  return JSON.stringify(state);
}

/**
 * The canonical bytes of a user, like {@linkcode canonicalOrder}.
 *
 * @param state State of the user.
 * @returns JSON with fixed key order.
 */
export function canonicalUser(state: UserState): string {
  return JSON.stringify(state);
}
