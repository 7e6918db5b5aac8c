import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { nextSteps } from "../engine/order_steps.ts";
import { isMovable, LiveClock } from "../clocks/live_clock.ts";

/** How many rows a list of the state holds. */
const MOST_ROWS = 50;

/** Everything that the control page shows. */
export function controlState(engine: SandboxEngine): Record<string, unknown> {
  const { clock, sender } = engine;
  const orders = engine.orders.all();
  return {
    partnerId: engine.partnerId,
    nowMs: clock.now(),
    movable: isMovable(clock),
    movedMs: clock instanceof LiveClock ? clock.movedMs : 0,
    delivery: sender.status,
    faults: engine.injector.faults,
    counters: engine.counters,
    orderCount: orders.length,
    userCount: engine.users.size,
    orders: orders.slice(-MOST_ROWS).reverse().map((order) => ({
      ...order,
      nextSteps: nextSteps(order),
    })),
    deliveries: sender.log(MOST_ROWS).reverse(),
  };
}
