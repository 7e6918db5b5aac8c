import type { Parts } from "./_app.ts";
import { nextSteps } from "./order_life.ts";
import { isMovable, LiveClock } from "./_movable_clock.ts";

/** How many rows a list of the state holds. */
const SHOWN = 50;

/** What the page shows. */
export function controlState(parts: Parts): Record<string, unknown> {
  const { sandbox } = parts;
  const orders = sandbox.orders();
  return {
    partnerId: sandbox.partnerId,
    nowMs: sandbox.clock.now(),
    movable: isMovable(sandbox.clock),
    movedMs: sandbox.clock instanceof LiveClock ? sandbox.clock.movedMs : 0,
    delivery: sandbox.delivery,
    faults: sandbox.faults,
    counters: sandbox.counters,
    orderCount: orders.length,
    userCount: parts.users.size,
    orders: orders.slice(-SHOWN).reverse().map((order) => ({
      ...order,
      nextSteps: nextSteps(order),
    })),
    deliveries: sandbox.deliveries(SHOWN).reverse(),
  };
}
