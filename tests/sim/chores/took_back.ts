import { isFinal } from "../../../ledger/for_sync.ts";
import type { World } from "../world/world.ts";

/** Whether the service has given an order another status after a final one. */
export function tookBack({ sandbox }: World, orderId: string): boolean {
  const order = sandbox.order(orderId);
  return order !== null &&
    order.history.slice(0, -1).some(({ status }) =>
      isFinal(status.toLowerCase())
    );
}
