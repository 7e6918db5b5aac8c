import type { Random } from "../seeded/random.ts";
import type { EntityFactory } from "../engine/entity_factory.ts";
import type { OrderCommands } from "./order_commands.ts";
import { pickEnding, takeStep } from "../engine/order_steps.ts";
import type { OrderStore } from "../engine/order_store.ts";
import type { UserCommands } from "./user_commands.ts";

/** Which orders are written into the past. */
export interface BackfillOptions {
  /** Orders to be created. */
  readonly orders: number;
  /** Creation of the first, in milliseconds since the epoch. */
  readonly fromMs: number;
  /** No order is created at or after this, in ms since the epoch. */
  readonly untilMs: number;
  /**
   * Click id of all of them.
   * @default {one of its own for each}
   */
  readonly clickId?: string;
}

/** What {@linkcode backfill} writes to. */
export interface BackfillTarget {
  readonly orders: OrderStore;
  readonly orderCommands: OrderCommands;
  readonly userCommands: UserCommands;
  readonly factory: EntityFactory;
  readonly random: Random;
}

/** Writes finished orders into the past. No webhook is sent for them. */
export function backfill(
  target: BackfillTarget,
  options: BackfillOptions,
): void {
  const { orders, orderCommands, userCommands, factory } = target;
  const { fromMs, untilMs, clickId } = options;
  if (!(untilMs > fromMs)) {
    throw new RangeError(
      `Cannot backfill: untilMs must be after fromMs, got ${fromMs} to ` +
        `${untilMs}`,
    );
  }
  const random = target.random.fork(`backfill ${orders.size}`);
  const gapMs = (untilMs - fromMs) / options.orders;
  const shared = clickId === undefined ? {} : { clickId };
  let userId: string | undefined;
  for (let count = 0; count < options.orders; count++) {
    const atMs = Math.floor(fromMs + (count + random.unit()) * gapMs);
    const steps = pickEnding(random);
    if (random.chance(0.4)) userId = undefined;
    let order = orderCommands.create(
      { ...shared, ...(userId && { userId }) },
      atMs,
    );
    userId = order.userId;
    for (const step of steps) {
      const stepMs = order.changedAtMs + random.int(1_000, 90_000);
      order = takeStep(order, step, factory.facts(order.network, stepMs)).order;
    }
    orders.put(order);
    if (order.status === "success") userCommands.spend(order);
  }
}
