/** Orders, their transitions and a subscription, for tests. */
import assert from "node:assert/strict";
import type { NewEvent } from "../events/event.ts";
import { type Driver, write } from "../store/database.ts";
import type {
  SubscribeOptions,
  SubscriptionParts,
  TransitionHandler,
} from "../subscriptions/outbox.ts";
import { at, orderRead } from "./projection_test_kit.ts";
import { stampLive } from "../store/events.ts";
import { Subscription } from "../subscriptions/dispatcher.ts";
import { Subscriptions } from "../subscriptions/subscriptions.ts";
import { append, projectAll } from "./fold_kit.ts";

/** Stores events and folds them. */
export async function record(
  driver: Driver,
  ...events: NewEvent[]
): Promise<void> {
  await append(driver, events);
  await projectAll(driver);
}

/** Stamps from when on transitions are sent. */
export async function goLive(driver: Driver, time: string): Promise<void> {
  await write(driver, [stampLive(Date.parse(time))]);
}

/** A subscription of orders from the start, which does not run by itself. */
export async function opened(
  driver: Driver,
  handler: TransitionHandler,
  options: Partial<SubscribeOptions> = {},
  changes: Partial<SubscriptionParts> = {},
): Promise<Subscription> {
  const subscription = new Subscription({
    driver,
    assets: "sandbox",
    now: () => Date.parse(at(60)),
    name: "test",
    // One process that is started again does not wait for its own lease.
    holder: "test",
    options: { on: "order.*.*", from: "start", start: false, ...options },
    handler,
    ...changes,
  });
  await subscription.open();
  return subscription;
}

export function subscriptionsOf(
  driver: Driver,
  now: () => number = () => Date.parse(at(61)),
): Subscriptions {
  return new Subscriptions(driver, now);
}

/** Two orders that go through the same statuses, one event each in turn. */
export function lives(...orders: string[]): NewEvent[] {
  const steps = ["created", "progress", "pending", "success"];
  return steps.flatMap((status, step) =>
    orders.map((orderId) => orderRead(step, { orderId, status, changed: step }))
  );
}

/** What an order goes through. */
export const statuses: readonly string[] = [
  "created",
  "progress",
  "pending",
  "success",
];

/** Everything came, and nothing before what precedes it. */
export function receivedInOrder(
  seen: readonly string[],
  message: string,
): void {
  assert.deepEqual([...new Set(seen)], statuses, message);
  for (const [at, status] of seen.entries()) {
    const before = seen[at - 1];
    const step = statuses.indexOf(status) -
      (before === undefined ? -1 : statuses.indexOf(before));
    assert.ok(step <= 1, `${message}: ${seen.join(" ")}`);
  }
}
