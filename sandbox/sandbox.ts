import { type App, createApp } from "./_app.ts";
import type { SandboxClock } from "./clock.ts";
import type { SandboxCounters } from "./counters.ts";
import { noCounts } from "./_no_counts.ts";
import { unitsOf } from "./_decimals.ts";
import type {
  DeliveryStatus,
  SandboxDelivery,
  TriggerInput,
} from "./deliveries.ts";
import { Dice } from "./_dice.ts";
import type { Faults } from "./faults.ts";
import type { DisableRule } from "./ladder.ts";
import { Maker, type OrderInput, type UserInput } from "./_maker.ts";
import { OrderBook } from "./_order_book.ts";
import type { OrderForm } from "./_order_json.ts";
import { type OrderStep, type StepFacts, takeStep } from "./order_life.ts";
import { checkRule, partnerOf } from "./_partner.ts";
import {
  backfill,
  type BackfillOptions,
  populate,
  type PopulateOptions,
} from "./_populate.ts";
import { Random } from "./_random.ts";
import { realClock } from "./real_clock.ts";
import type { SandboxOptions, SandboxPartner } from "./sandbox_options.ts";
import type { SandboxOrder } from "./sandbox_order.ts";
import type { SandboxUser } from "./sandbox_user.ts";
import { WebhookSender } from "./_sender.ts";
import { SessionBook } from "./_sessions.ts";
import { Teller } from "./_teller.ts";
import { wholeSecond } from "./_times.ts";
import { type OrderTruth, truthOf } from "./truth.ts";
import { UserBook } from "./_user_book.ts";
import { takeUserStep, type UserStep } from "./user_life.ts";

/**
 * The service in a box: its API, its webhooks, its widget, its truth.
 *
 * @example Create an order and read it through the API
 * ```ts
 * import { Sandbox } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const sandbox = new Sandbox({ seed: 7 });
 * const order = sandbox.createOrder({ currencyAmount: "25" });
 * sandbox.advance(order.orderId, "pay");
 * const answer = await sandbox.fetch(
 *   new Request(`http://sandbox/api/external/orders?search_by=${order.orderId}`, {
 *     headers: { "X-Api-Key": sandbox.apiKey },
 *   }),
 * );
 * const { data } = await answer.json();
 * assert.equal(data[0].status, "progress");
 * assert.equal(data[0].currency_amount, 25);
 * await sandbox.close();
 * ```
 */
export class Sandbox {
  /** The seed everything follows from. */
  readonly seed: number;
  /** Partner identifier of the widget address. */
  readonly partnerId: string;
  /** Clock that everything goes by. */
  readonly clock: SandboxClock;
  /** Which asset table the service has. */
  readonly assets: "production" | "sandbox";
  /** Which form the orders answer has; may be changed at any time. */
  orderForm: OrderForm;
  /** What the service allows the partner; may be changed at any time. */
  partner: Required<SandboxPartner>;
  readonly #apiKey: string;
  readonly #random: Random;
  readonly #dice: Dice;
  readonly #maker: Maker;
  readonly #orders = new OrderBook();
  readonly #users = new UserBook();
  readonly #sessions = new SessionBook();
  readonly #sender: WebhookSender;
  readonly #teller: Teller;
  readonly #counters: SandboxCounters = noCounts();
  readonly #closing = new AbortController();
  readonly #app: App;
  readonly #lives = new Set<Promise<void>>();

  /**
   * Sets a sandbox up; nothing runs until somebody asks for it.
   *
   * @throws {TypeError} If a fault is not known.
   * @throws {RangeError} If the rate of a fault is out of range.
   */
  constructor(options: SandboxOptions = {}) {
    checkRule(options.disableRule ?? "ladder_from_previous");
    this.seed = options.seed ?? 1;
    this.partnerId = options.partnerId ?? "01SANDBOXPARTNER0000000000";
    this.#apiKey = options.apiKey ?? "sandbox-key";
    this.clock = options.clock ?? realClock();
    this.assets = options.assets ?? "sandbox";
    this.orderForm = options.orderForm ?? "current";
    this.partner = partnerOf(options.partner);
    this.#random = new Random(this.seed);
    this.#dice = new Dice(this.#random.fork("faults"));
    this.#dice.set(options.faults ?? {});
    this.#maker = new Maker(this.#random, this.assets);
    this.#sender = new WebhookSender({
      clock: this.clock,
      dice: this.#dice,
      counters: this.#counters,
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      webhookUrl: options.webhookUrl ?? null,
      disableRule: options.disableRule ?? "ladder_from_previous",
      logLimit: options.logLimit ?? 100_000,
    });
    this.#teller = new Teller({
      sender: this.#sender,
      dice: this.#dice,
      counters: this.#counters,
      maker: this.#maker,
      cancelSpelling: options.cancelSpelling ?? "order_cancelled",
      now: () => this.now(),
    });
    this.#app = createApp({
      sandbox: this,
      orders: this.#orders,
      users: this.#users,
      sessions: this.#sessions,
      maker: this.#maker,
      dice: this.#dice,
      counters: this.#counters,
      random: this.#random.fork("app"),
      closing: this.#closing.signal,
    });
  }

  /** Answers a request: the API, the widget, the control page and its API. */
  readonly fetch = (request: Request): Promise<Response> => this.#app(request);

  /** Key that the API asks for; a getter, so that no inspection prints it. */
  get apiKey(): string {
    return this.#apiKey;
  }

  /** The service's own time: the clock's, plus the skew that is set. */
  now(): number {
    return this.clock.now() + this.#dice.faults.clockSkewMs;
  }

  // Orders

  /** Every order as it truly is, oldest first. */
  orders(): SandboxOrder[] {
    return this.#orders.all();
  }

  /** The order with this id, or null. */
  order(orderId: string): SandboxOrder | null {
    return this.#orders.get(orderId);
  }

  /**
   * Creates an order, now or at another time; no webhook tells of it.
   *
   * @param input What is decided about it; the seed decides the rest. Its
   * user is made, verified, if there is none.
   * @param atMs Its creation, in milliseconds since the epoch.
   * @returns The order.
   * @throws {TypeError} If an amount is no plain decimal.
   */
  createOrder(input: OrderInput = {}, atMs: number = this.now()): SandboxOrder {
    checkAmounts(input);
    const user = this.#users.get(input.userId ?? "") ??
      this.#newBuyer(input.userId, atMs);
    const newestMs = this.#orders.newestMs;
    const twin = this.#dice.strikes("sameSecond") && newestMs !== null &&
      newestMs <= atMs && newestMs !== wholeSecond(atMs) &&
      atMs - newestMs <= 3_000;
    if (twin) this.#counters.sameSeconds++;
    const order = this.#maker.order(input, user, twin ? newestMs : atMs);
    this.#orders.put(order);
    return order;
  }

  /**
   * Lets an order take a step, and sends the webhook of that step.
   *
   * @param orderId The order.
   * @param step What happens to it.
   * @param facts Transaction, reason of failure or time, if not the seed's.
   * @returns The order afterwards.
   * @throws {RangeError} If there is no such order, or it cannot take the
   * step from where it is.
   */
  advance(
    orderId: string,
    step: OrderStep,
    facts: Partial<StepFacts> = {},
  ): SandboxOrder {
    const before = this.#mustGet(orderId);
    const { order, event } = takeStep(before, step, {
      ...this.#maker.facts(this.now()),
      ...facts,
    });
    this.#orders.put(order);
    if (step === "complete") this.#spend(order);
    if (event) this.#teller.order(event, order, this.user(order.userId));
    return order;
  }

  /**
   * Rewrites an order as no documented step would: an unknown status, a
   * status gone backwards, another amount. No webhook tells of it.
   *
   * @param orderId The order.
   * @param change The fields to set; `changedAtMs` is now unless given.
   * @returns The order afterwards.
   * @throws {RangeError} If there is no such order.
   */
  amendOrder(
    orderId: string,
    change: Partial<Omit<SandboxOrder, "orderId" | "createdAtMs">>,
  ): SandboxOrder {
    const before = this.#mustGet(orderId);
    checkAmounts(change);
    const atMs = change.changedAtMs ?? this.now();
    const status = change.status ?? before.status;
    const order: SandboxOrder = {
      ...before,
      ...change,
      changedAtMs: atMs,
      history: status === before.status
        ? before.history
        : [...before.history, { status, atMs }],
    };
    this.#orders.put(order);
    return order;
  }

  /**
   * Takes an order out, so that the service no longer shows it anywhere.
   *
   * @param orderId The order.
   * @throws {RangeError} If there is no such order.
   */
  removeOrder(orderId: string): void {
    this.#mustGet(orderId);
    this.#orders.remove(orderId);
  }

  // Users

  /** Every user as they truly are, oldest first. */
  users(): SandboxUser[] {
    return this.#users.all();
  }

  /** The user with this id, or null. */
  user(userId: string): SandboxUser | null {
    return this.#users.get(userId);
  }

  /**
   * Creates a user; no webhook tells of it.
   *
   * @param input What is decided about them; the seed decides the rest.
   * @param atMs Creation, in milliseconds since the epoch.
   * @returns The user.
   */
  createUser(input: UserInput = {}, atMs: number = this.now()): SandboxUser {
    const user = this.#maker.user(input, atMs);
    this.#users.put(user);
    return user;
  }

  /**
   * Lets a user take a step, and sends its webhook.
   *
   * @param userId The user.
   * @param step What happens.
   * @param place Click id and widget session it happens in.
   * @returns The user afterwards.
   * @throws {RangeError} If there is no such user or step.
   */
  advanceUser(
    userId: string,
    step: UserStep,
    place: { clickId?: string; sessionId?: string | null } = {},
  ): SandboxUser {
    const before = this.#mustGetUser(userId);
    const taken = takeUserStep(before, step, {
      card: this.#maker.card(this.now()),
    });
    this.#users.put(taken.user);
    this.#teller.user(taken, place);
    return taken.user;
  }

  /**
   * Rewrites a user; no webhook tells of it.
   *
   * @throws {RangeError} If there is no such user.
   */
  amendUser(
    userId: string,
    change: Partial<Omit<SandboxUser, "userId" | "createdAtMs">>,
  ): SandboxUser {
    const user = { ...this.#mustGetUser(userId), ...change };
    this.#users.put(user);
    return user;
  }

  // Webhooks

  /**
   * Every webhook so far and what became of it, oldest first.
   *
   * @param latest How many of the latest; all when left out.
   * @returns The webhooks as they stand now.
   */
  deliveries(latest?: number): SandboxDelivery[] {
    return this.#sender.log(latest);
  }

  /** Whether webhooks are being delivered. */
  get delivery(): DeliveryStatus {
    const disabledSinceMs = this.#sender.disabledSinceMs;
    return {
      state: disabledSinceMs !== null
        ? "disabled"
        : this.#sender.retrying
        ? "retrying"
        : "enabled",
      disabledSinceMs,
      webhookUrl: this.#sender.webhookUrl,
      disableRule: this.#sender.disableRule,
    };
  }

  /** Switches delivery on again, as a person does in the dashboard. */
  enableDelivery(): void {
    this.#sender.enable();
  }

  /** Sets where webhooks go; null sends none. */
  setWebhookUrl(url: string | null): void {
    this.#sender.webhookUrl = url;
  }

  /**
   * Sets how failures are retried and switch delivery off.
   *
   * @throws {RangeError} If it is not one of the readings.
   */
  setDisableRule(rule: DisableRule): void {
    checkRule(rule);
    this.#sender.disableRule = rule;
  }

  /**
   * Presses the Test button: one attempt, outside the ladder, even while
   * delivery is off.
   *
   * @returns What became of it.
   */
  pressTest(): Promise<SandboxDelivery> {
    return this.#teller.test();
  }

  /**
   * Sends an event although nothing of the kind happened; any field of it
   * can be set.
   *
   * @param input Type, entity and fields of the event.
   * @throws {RangeError} If it names an order or user that is not there.
   */
  trigger(input: TriggerInput): void {
    const order = input.orderId === undefined
      ? null
      : this.#mustGet(input.orderId);
    const userId = input.userId ?? order?.userId;
    const user = userId === undefined ? null : this.#mustGetUser(userId);
    this.#teller.trigger(input, order, user);
  }

  // Faults

  /** The faults in force. */
  get faults(): Faults {
    return this.#dice.faults;
  }

  /**
   * Changes the faults in force; those left out stay as they are.
   *
   * @throws {TypeError} If a fault is not known.
   * @throws {RangeError} If a rate is out of range.
   */
  setFaults(change: Partial<Faults>): void {
    this.#dice.set(change);
  }

  /** Switches every fault off. */
  heal(): void {
    this.#dice.heal();
  }

  /** What happened so far, counted. */
  get counters(): Readonly<SandboxCounters> {
    return { ...this.#counters };
  }

  // Lives

  /**
   * Lets users come and buy for a while, with every kind of ending.
   *
   * @param options How many orders, over what time.
   * @returns Resolves when every life is over; webhooks may still be due.
   */
  populate(options: PopulateOptions): Promise<void> {
    return this.#live(
      populate(this, options, this.#random, this.#dice, this.#closing.signal),
    );
  }

  /**
   * Writes finished orders into the past at once; no webhook tells of them.
   *
   * @param options How many orders, over what time.
   */
  backfill(options: BackfillOptions): void {
    const random = this.#random.fork(`backfill ${this.#orders.size}`);
    let userId: string | undefined;
    backfill(options, random, (atMs, steps) => {
      if (random.chance(0.4)) userId = undefined;
      let order = this.createOrder(userId ? { userId } : {}, atMs);
      userId = order.userId;
      for (const step of steps) {
        const later = order.changedAtMs + random.int(1_000, 90_000);
        order = takeStep(order, step, this.#maker.facts(later)).order;
      }
      this.#orders.put(order);
      if (order.status === "success") this.#spend(order);
    });
  }

  /** What the service says about every order, oldest first. */
  truth(): OrderTruth[] {
    return this.orders().map(truthOf);
  }

  /** Resolves when no life goes on and no webhook is due any more. */
  async idle(): Promise<void> {
    while (this.#lives.size > 0) await Promise.all(this.#lives);
    await this.#sender.idle();
  }

  /** Stops everything: no timer and no request is left behind. */
  async close(): Promise<void> {
    this.#closing.abort(
      new DOMException("The sandbox is closed", "AbortError"),
    );
    await Promise.all(this.#lives);
    await this.#sender.close();
  }

  /** The same as {@linkcode close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // Inside

  #live(life: Promise<void>): Promise<void> {
    const closed = () => this.#closing.signal.aborted;
    const lived = life.catch((error) => {
      if (!closed()) throw error;
    }).finally(() => this.#lives.delete(settled));
    const settled = lived.catch(() => {});
    this.#lives.add(settled);
    return lived;
  }

  #newBuyer(userId: string | undefined, atMs: number): SandboxUser {
    const made = this.#maker.user({
      lkyc: "success",
      cards: [this.#maker.card(atMs)],
    }, atMs);
    const user = userId === undefined ? made : { ...made, userId };
    this.#users.put(user);
    return user;
  }

  #mustGet(orderId: string): SandboxOrder {
    const order = this.#orders.get(orderId);
    if (order) return order;
    throw new RangeError(`Cannot find order "${orderId}" in the sandbox`);
  }

  #mustGetUser(userId: string): SandboxUser {
    const user = this.#users.get(userId);
    if (user) return user;
    throw new RangeError(`Cannot find user "${userId}" in the sandbox`);
  }

  #spend(order: SandboxOrder): void {
    const user = this.#users.get(order.userId);
    if (!user) return;
    const cents = unitsOf(order.currencyAmount, 2);
    this.#users.put(
      order.cryptoType === "sc"
        ? { ...user, goodsSpentCents: user.goodsSpentCents + cents }
        : { ...user, spentCents: user.spentCents + cents },
    );
  }
}

/** Throws unless the amounts given are plain decimals. */
function checkAmounts(input: OrderInput): void {
  for (const amount of [input.currencyAmount, input.cryptoAmount]) {
    if (amount !== undefined) unitsOf(amount, 0);
  }
}

/**
 * Sets up the service in a box.
 *
 * @param options Seed, key, clock, webhook address, faults.
 * @returns The sandbox; mount its `fetch`, close it in the end.
 * @throws {TypeError} If a fault is not known.
 * @throws {RangeError} If the rate of a fault is out of range.
 *
 * @example Press the Test button
 * ```ts
 * import { createSandbox } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * await using sandbox = createSandbox({
 *   webhookUrl: "http://partner/webhooks/secret",
 *   fetch: () => Promise.resolve(new Response(null, { status: 204 })),
 * });
 * const delivery = await sandbox.pressTest();
 * assert.equal(delivery.state, "received");
 * assert.equal(delivery.attempts[0]?.status, 204);
 * ```
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return new Sandbox(options);
}
