import type { SandboxClock } from "../clocks/clock.ts";
import type { FaultInjector } from "../faults/fault_injector.ts";
import type { Random } from "../seeded/random.ts";
import type { OrderCommands } from "./order_commands.ts";
import {
  nextSteps,
  type OrderStep,
  pickEnding,
} from "../engine/order_steps.ts";
import type { OrderStore } from "../engine/order_store.ts";
import type { OrderInput } from "../engine/entity_factory.ts";
import type { UserCommands } from "./user_commands.ts";
import type { UserStep } from "../engine/user_steps.ts";
import type { UserStore } from "../engine/user_store.ts";

/** How many orders to create, and over what time. */
export interface PopulateOptions {
  /** Orders to be created. */
  readonly orders: number;
  /**
   * Time over which they are created, in milliseconds of the clock.
   * @default {an hour}
   */
  readonly spanMs?: number;
  /**
   * Mean time between two steps of an order, in milliseconds of the clock.
   * @default {20_000}
   */
  readonly stepMs?: number;
  /**
   * Share of orders that never leave their first statuses.
   * @default {0.03}
   */
  readonly openShare?: number;
  /**
   * Sells to each customer, and gives what the order of it has.
   *
   * @default {orders that nobody sold}
   */
  readonly sells?: () => Promise<OrderInput>;
}

/** What simulated customers act on. */
export interface PopulateTarget {
  readonly clock: SandboxClock;
  readonly orders: OrderStore;
  readonly users: UserStore;
  readonly orderCommands: OrderCommands;
  readonly userCommands: UserCommands;
  readonly random: Random;
  readonly injector: FaultInjector;
  /** Ends every visit when it aborts. */
  readonly closing: AbortSignal;
}

/** Simulates customers who buy. Resolves when the last visit is over. */
export async function populate(
  target: PopulateTarget,
  options: PopulateOptions,
): Promise<void> {
  const { injector, orders } = target;
  const random = target.random.fork(`populate ${orders.size}`);
  const spanMs = options.spanMs ?? 3_600_000;
  const visits: Promise<void>[] = [];
  let delayMs = 0;
  for (let count = 0; count < options.orders; count++) {
    // With the fault, a visit begins in the same second as the one before.
    if (!injector.strikes("sameSecond")) {
      delayMs = Math.floor((count + random.unit()) * spanMs / options.orders);
    }
    visits.push(visit(target, options, random.fork(`life ${count}`), delayMs));
  }
  await Promise.all(visits);
}

/** One customer registers or logs in, and buys once. */
async function visit(
  target: PopulateTarget,
  options: PopulateOptions,
  random: Random,
  delayMs: number,
): Promise<void> {
  const { clock, users, orderCommands, userCommands, closing } = target;
  const pause = () => {
    const ms = Math.round(
      (options.stepMs ?? 20_000) * (0.2 + 1.6 * random.unit()),
    );
    return clock.sleep(ms, closing);
  };
  await clock.sleep(delayMs, closing);
  const returning = random.chance(0.6) && users.buyerCount > 0
    ? users.buyer(random.int(0, users.buyerCount - 1))
    : null;
  const { userId } = returning ??
    userCommands.create({ lkyc: "not initiated" });
  const { orderId, clickId, sessionId } = orderCommands.create({
    userId,
    ...await options.sells?.(),
  });
  const place = { clickId, sessionId };
  for (const step of stepsBeforePaying(returning === null, random)) {
    userCommands.advance(userId, step, place);
    await pause();
  }
  if (users.get(userId)?.lkyc === "failed") {
    advanceIfPossible(target, orderId, "fail");
    return;
  }
  if (random.chance(options.openShare ?? 0.03)) {
    if (random.chance(0.5)) advanceIfPossible(target, orderId, "pay");
    return;
  }
  for (const step of pickEnding(random)) {
    await pause();
    if (!advanceIfPossible(target, orderId, step)) return;
  }
  if (random.chance(0.3)) {
    await pause();
    userCommands.advance(userId, "logout", place);
  }
}

/** Takes a step unless another caller moved the order meanwhile. */
function advanceIfPossible(
  { orders, orderCommands }: PopulateTarget,
  orderId: string,
  step: OrderStep,
): boolean {
  const order = orders.get(orderId);
  if (!order || !nextSteps(order).includes(step)) return false;
  orderCommands.advance(orderId, step);
  return true;
}

function stepsBeforePaying(isNew: boolean, random: Random): UserStep[] {
  const code: UserStep[] = random.chance(0.1)
    ? ["otp_requested", "otp_failed", "otp_requested", "otp_success"]
    : ["otp_requested", "otp_success"];
  if (!isNew) return [...code, "login"];
  const retried: UserStep[] = random.chance(0.2) ? ["verify_retry"] : [];
  const started: UserStep[] = ["registration", "verify_start", ...retried];
  return random.chance(0.06)
    ? [...code, ...started, "verify_failed"]
    : [...code, ...started, "verify_success", "card_added"];
}
