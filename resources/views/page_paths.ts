import { pathOfId } from "../../core/path_id.ts";

/** Path of an order's page in the console. */
export function orderPath(orderId: string): string {
  return `/orders/${pathOfId(orderId)}`;
}

/** Path of a user's page. */
export function userPath(userId: string): string {
  return `/users/${pathOfId(userId)}`;
}

/** Path of the page of a target or a subscription. */
export function targetPath(name: string): string {
  return `/targets/${pathOfId(name)}`;
}

/** Path of the page of a delivery and its body. */
export function bodyPath(eventId: string): string {
  return `/deliveries/${pathOfId(eventId)}`;
}
