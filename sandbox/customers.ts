import { nextSteps, takeStep } from "./orders_and_users.ts";
import type { Random } from "./random.ts";
import type { Service } from "./service.ts";
import type {
  BackfillOptions,
  OrderStep,
  PopulateOptions,
  UserStep,
} from "./sandbox.ts";

/** The ways an order can end, each with its weight. */
const ENDINGS: readonly (readonly [number, readonly OrderStep[]])[] = [
  [50, ["pay", "authorise", "transfer", "complete"]],
  [12, ["pay", "authorise", "complete", "transfer"]],
  [10, ["pay", "complete"]],
  [8, ["pay", "fail"]],
  [6, ["pay", "authorise", "fail"]],
  [3, ["fail"]],
  [7, ["pay", "authorise", "cancel"]],
  [2, ["pay", "authorise", "transfer", "complete", "cancel"]],
  [2, ["pay", "cancel"]],
];

function pickEnding(random: Random): readonly OrderStep[] {
  let left = random.unit() *
    ENDINGS.reduce((total, [weight]) => total + weight, 0);
  return ENDINGS.find(([weight]) => (left -= weight) < 0)?.[1] ?? [];
}

/** Simulates customers who buy. Resolves when the last visit is over. */
export async function populate(
  service: Service,
  options: PopulateOptions,
): Promise<void> {
  const { injector } = service;
  const random = service.random.fork(`populate ${service.orderStore.size}`);
  const spanMs = options.spanMs ?? 3_600_000;
  const visits: Promise<void>[] = [];
  let delayMs = 0;
  for (let count = 0; count < options.orders; count++) {
    // With the fault, a visit begins in the same second as the one before.
    if (!injector.draws("sameSecond")) {
      delayMs = Math.floor((count + random.unit()) * spanMs / options.orders);
    }
    visits.push(visit(service, options, random.fork(`life ${count}`), delayMs));
  }
  await Promise.all(visits);
}

/** One customer registers or logs in, and buys once. */
async function visit(
  service: Service,
  options: PopulateOptions,
  random: Random,
  delayMs: number,
): Promise<void> {
  const { clock, userStore, closing } = service;
  const pause = () => {
    const ms = (options.stepMs ?? 20_000) * (0.2 + 1.6 * random.unit());
    return clock.sleep(Math.round(ms), closing);
  };
  await clock.sleep(delayMs, closing);
  const returning = random.chance(0.6) && userStore.buyerCount > 0
    ? userStore.buyer(random.int(0, userStore.buyerCount - 1))
    : null;
  const { userId } = returning ?? service.createUser();
  const sold = await options.sells?.();
  const { orderId, ...place } = service.createOrder({ userId, ...sold });
  for (const step of stepsBeforePaying(returning === null, random)) {
    service.advanceUser(userId, step, place);
    await pause();
  }
  if (service.user(userId)?.lkyc === "failed") {
    advanceIfPossible(service, orderId, "fail");
    return;
  }
  if (random.chance(options.openShare ?? 0.03)) {
    if (random.chance(0.5)) advanceIfPossible(service, orderId, "pay");
    return;
  }
  for (const step of pickEnding(random)) {
    await pause();
    if (!advanceIfPossible(service, orderId, step)) return;
  }
  if (random.chance(0.3)) {
    await pause();
    service.advanceUser(userId, "logout", place);
  }
}

/** Takes a step unless another caller moved the order meanwhile. */
function advanceIfPossible(
  service: Service,
  orderId: string,
  step: OrderStep,
): boolean {
  const order = service.order(orderId);
  if (!order || !nextSteps(order).includes(step)) return false;
  service.advance(orderId, step);
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

/** Writes finished orders into the past. No webhook is sent for them. */
export function backfill(
  service: Service,
  { orders, fromMs, untilMs, clickId }: BackfillOptions,
): void {
  if (!(untilMs > fromMs)) {
    throw new RangeError(
      `Cannot backfill: untilMs must be after fromMs, got ${fromMs} to ` +
        `${untilMs}`,
    );
  }
  const random = service.random.fork(`backfill ${service.orderStore.size}`);
  const gapMs = (untilMs - fromMs) / orders;
  const shared = clickId === undefined ? {} : { clickId };
  let userId: string | undefined;
  for (let count = 0; count < orders; count++) {
    const atMs = Math.floor(fromMs + (count + random.unit()) * gapMs);
    const steps = pickEnding(random);
    if (random.chance(0.4)) userId = undefined;
    let order = service.createOrder(
      { ...shared, ...(userId && { userId }) },
      atMs,
    );
    userId = order.userId;
    for (const step of steps) {
      const stepMs = order.changedAtMs + random.int(1_000, 90_000);
      const facts = service.factory.facts(order.network, stepMs);
      order = takeStep(order, step, facts).order;
    }
    service.orderStore.put(order);
    if (order.status === "success") service.spend(order);
  }
}
