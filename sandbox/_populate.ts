import type { Dice } from "./_dice.ts";
import { nextSteps, type OrderStep } from "./order_life.ts";
import type { Random } from "./_random.ts";
import type { Sandbox } from "./sandbox.ts";
import type { UserStep } from "./user_life.ts";

/** How busy a populated time is. */
export interface PopulateOptions {
  /** Orders to be created. */
  readonly orders: number;
  /**
   * Time over which they are created, in milliseconds of the clock.
   * @default {an hour}
   */
  readonly spanMs?: number;
  /**
   * Mean time between two steps of a life, in milliseconds of the clock.
   * @default {20_000}
   */
  readonly stepMs?: number;
  /**
   * Share of orders that never leave their first statuses.
   * @default {0.03}
   */
  readonly openShare?: number;
}

/** Which past is written. */
export interface BackfillOptions {
  /** Orders to be created. */
  readonly orders: number;
  /** Creation of the first, in milliseconds since the epoch. */
  readonly fromMs: number;
  /** No order is created at or after this, in ms since the epoch. */
  readonly untilMs: number;
}

/** How a life can end, with weights. */
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

/** Lets users come and buy; resolves when every life is over. */
export async function populate(
  sandbox: Sandbox,
  options: PopulateOptions,
  seed: Random,
  dice: Dice,
  signal: AbortSignal,
): Promise<void> {
  const random = seed.fork(`populate ${sandbox.orders().length}`);
  const spanMs = options.spanMs ?? 3_600_000;
  const lives: Promise<void>[] = [];
  let delayMs = 0;
  for (let count = 0; count < options.orders; count++) {
    // Orders that begin together share a second, at page edges too.
    if (!dice.strikes("sameSecond")) {
      delayMs = Math.floor((count + random.unit()) * spanMs / options.orders);
    }
    lives.push(
      life(sandbox, options, random.fork(`life ${count}`), delayMs, signal),
    );
  }
  await Promise.all(lives);
}

/** One user's visit: come, be verified, buy. */
async function life(
  sandbox: Sandbox,
  options: PopulateOptions,
  random: Random,
  delayMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = sandbox;
  const pause = () => {
    const ms = Math.round(
      (options.stepMs ?? 20_000) * (0.2 + 1.6 * random.unit()),
    );
    return clock.sleep(ms, signal);
  };
  await clock.sleep(delayMs, signal);
  const known = random.chance(0.6)
    ? sandbox.users().filter((user) => user.lkyc === "success" && !user.banned)
    : [];
  const old = known.length > 0 ? random.pick(known) : null;
  const user = old ?? sandbox.createUser({ lkyc: "not initiated" });
  const input = { userId: user.userId };
  const order = sandbox.createOrder(input);
  const place = { clickId: order.clickId, sessionId: order.sessionId };
  for (const step of visit(old === null, random)) {
    sandbox.advanceUser(user.userId, step, place);
    await pause();
  }
  if (sandbox.user(user.userId)?.lkyc === "failed") {
    step(sandbox, order.orderId, "fail");
    return;
  }
  if (random.chance(options.openShare ?? 0.03)) {
    if (random.chance(0.5)) step(sandbox, order.orderId, "pay");
    return;
  }
  for (const next of ending(random)) {
    await pause();
    if (!step(sandbox, order.orderId, next)) return;
  }
  if (random.chance(0.3)) {
    await pause();
    sandbox.advanceUser(user.userId, "logout", place);
  }
}

/** Takes a step, unless something else moved the order meanwhile. */
function step(sandbox: Sandbox, orderId: string, next: OrderStep): boolean {
  const order = sandbox.order(orderId);
  if (!order || !nextSteps(order).includes(next)) return false;
  sandbox.advance(orderId, next);
  return true;
}

/** What a user does before paying. */
function visit(isNew: boolean, random: Random): UserStep[] {
  const code: UserStep[] = random.chance(0.1)
    ? ["otp_requested", "otp_failed", "otp_requested", "otp_success"]
    : ["otp_requested", "otp_success"];
  if (!isNew) return [...code, "login"];
  const retried: UserStep[] = random.chance(0.2) ? ["verify_retry"] : [];
  if (random.chance(0.06)) {
    return [
      ...code,
      "registration",
      "verify_start",
      ...retried,
      "verify_failed",
    ];
  }
  const verified: UserStep[] = ["verify_start", ...retried, "verify_success"];
  return [...code, "registration", ...verified, "card_added"];
}

/** One of the endings, by weight. */
function ending(random: Random): readonly OrderStep[] {
  const sum = ENDINGS.reduce((total, [weight]) => total + weight, 0);
  let left = random.unit() * sum;
  for (const [weight, steps] of ENDINGS) {
    left -= weight;
    if (left < 0) return steps;
  }
  return [];
}

/** Plans finished orders of the past; `write` makes each of them. */
export function backfill(
  options: BackfillOptions,
  random: Random,
  write: (atMs: number, steps: readonly OrderStep[]) => void,
): void {
  const { fromMs, untilMs } = options;
  if (!(untilMs > fromMs)) {
    throw new RangeError(
      `Cannot backfill: untilMs must be after fromMs, got ${fromMs} to ` +
        `${untilMs}`,
    );
  }
  const gapMs = (untilMs - fromMs) / options.orders;
  for (let count = 0; count < options.orders; count++) {
    const atMs = Math.floor(fromMs + (count + random.unit()) * gapMs);
    write(atMs, ending(random));
  }
}
