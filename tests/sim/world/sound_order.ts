import type { OrderInput, SandboxOrder } from "../../../sandbox/mod.ts";
import { isOdd } from "../chores/odd_ones.ts";
import type { World } from "./world.ts";

/** A new order whose row is well, and whose id is not refused. */
export function soundOrder(world: World, input: OrderInput = {}): SandboxOrder {
  const { sandbox } = world;
  for (;;) {
    const order = sandbox.createOrder(input);
    const { orderId, userId } = order;
    const odd = isOdd(world, orderId) || isOdd(world, userId) ||
      sandbox.refuses(orderId) || sandbox.refuses(userId);
    if (!odd) return order;
  }
}
