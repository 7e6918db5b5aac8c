import type { OrderState } from "../../../ledger/mod.ts";
import type { SandboxOrder } from "../../../sandbox/mod.ts";
import { Counter } from "./shop_chores.ts";
import { pollOnce } from "../rules/convergence.ts";
import { orderOf } from "../rules/disagreements.ts";
import type { Inspector } from "../rules/inspector.ts";
import { check } from "../world/journal.ts";
import { soundOrder } from "../world/sound_order.ts";
import { passing } from "../world/virtual_time.ts";
import type { World } from "../world/world.ts";

const minuteMs = 60_000;
const encoder = new TextEncoder();

/** Most polls until a reading that a webhook asks for is there. */
const mostPolls = 8;

/**
 * A basket is recorded and ordered; null where no process is up.
 *
 * @param orders How many orders are to be paid for it.
 */
export async function orderBasket(
  world: World,
  orders: number = 1,
): Promise<SandboxOrder[] | null> {
  const { front, clock, dice } = world;
  if (front.incarnation === null) return null;
  const scenes = world.shop.shipments.length + world.shop.orders.size;
  const counter = new Counter(
    world,
    front.incarnation,
    dice.fork(`shop scene ${scenes}`),
  );
  const basket = counter.basket();
  await passing(clock, counter.record(basket), 60 * minuteMs);
  return Array.from(
    { length: orders },
    () => counter.order(basket, (input) => soundOrder(world, input)),
  );
}

/** Pays an order, and waits until the ledger knows of its success. */
export async function complete(
  world: World,
  inspector: Inspector,
  order: SandboxOrder,
): Promise<void> {
  for (const step of ["pay", "authorise", "complete"] as const) {
    world.sandbox.advance(order.orderId, step);
    await world.clock.advance(2000);
  }
  await known(world, inspector, order, (state) => state.status === "success");
}

/** Webhooks ask for readings of an order until the ledger knows something. */
export async function known(
  world: World,
  inspector: Inspector,
  { orderId, clickId }: SandboxOrder,
  isKnown: (state: OrderState) => boolean,
): Promise<void> {
  const { clock } = world;
  const body = { type: "order_complete", click_id: clickId };
  const order = { id: orderId };
  let state: OrderState | null = null;
  for (let polls = 0; polls < mostPolls; polls++) {
    const text = JSON.stringify({ ...body, order });
    world.background(world.post(encoder.encode(text)));
    await clock.advance(5000);
    await pollOnce(world, inspector, ["confirm", "new", "open"]);
    state = await orderOf(world, orderId);
    if (state !== null && isKnown(state)) return;
  }
  check(
    "an order is read after a webhook about it",
    false,
    () => `order ${orderId} is ${state?.trust} ${state?.status}`,
  );
}
