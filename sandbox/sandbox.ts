import { type App, createApp } from "./_app.ts";
import type { SandboxClock } from "./clock.ts";
import type { SandboxCounters } from "./counters.ts";
import type {
  DeliveryStatus,
  SandboxDelivery,
  TriggerInput,
} from "./deliveries.ts";
import type { Faults } from "./faults.ts";
import type { DisableRule } from "./ladder.ts";
import type { OrderInput, UserInput } from "./_maker.ts";
import { Lives } from "./_lives.ts";
import type { OrderForm } from "./_order_json.ts";
import type { OrderStep, StepFacts } from "./order_life.ts";
import { checkRule, partnerOf } from "./_partner.ts";
import {
  type BackfillOptions,
  populate,
  type PopulateOptions,
} from "./_populate.ts";
import { realClock } from "./real_clock.ts";
import type { SandboxOptions, SandboxPartner } from "./sandbox_options.ts";
import type { SandboxOrder } from "./sandbox_order.ts";
import type { SandboxUser } from "./sandbox_user.ts";
import { SessionBook } from "./_sessions.ts";
import { type OrderTruth, truthOf } from "./truth.ts";
import type { UserStep } from "./user_life.ts";
import { assemble, type Works } from "./_works.ts";

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
  readonly #works: Works;
  readonly #closing = new AbortController();
  readonly #app: App;
  readonly #lives = new Lives(this.#closing.signal);

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
    this.#works = assemble(options, {
      seed: this.seed,
      assets: this.assets,
      clock: this.clock,
      now: () => this.now(),
    });
    this.#app = createApp({
      ...this.#works,
      sandbox: this,
      sessions: new SessionBook(),
      random: this.#works.random.fork("app"),
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
    return this.clock.now() + this.#works.dice.faults.clockSkewMs;
  }

  // Orders

  /** Every order as it truly is, oldest first. */
  orders(): SandboxOrder[] {
    return this.#works.orders.all();
  }

  /** The order with this id, or null. */
  order(orderId: string): SandboxOrder | null {
    return this.#works.orders.get(orderId);
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
    return this.#works.orderDesk.create(input, atMs);
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
    return this.#works.orderDesk.advance(orderId, step, facts, this.now());
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
    return this.#works.orderDesk.amend(orderId, change, this.now());
  }

  /**
   * Takes an order out, so that the service no longer shows it anywhere.
   *
   * @param orderId The order.
   * @throws {RangeError} If there is no such order.
   */
  removeOrder(orderId: string): void {
    this.#works.orderDesk.remove(orderId);
  }

  // Users

  /** Every user as they truly are, oldest first. */
  users(): SandboxUser[] {
    return this.#works.users.all();
  }

  /** The user with this id, or null. */
  user(userId: string): SandboxUser | null {
    return this.#works.users.get(userId);
  }

  /**
   * Creates a user; no webhook tells of it.
   *
   * @param input What is decided about them; the seed decides the rest.
   * @param atMs Creation, in milliseconds since the epoch.
   * @returns The user.
   */
  createUser(input: UserInput = {}, atMs: number = this.now()): SandboxUser {
    return this.#works.userDesk.create(input, atMs);
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
    return this.#works.userDesk.advance(userId, step, place, this.now());
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
    return this.#works.userDesk.amend(userId, change);
  }

  // Webhooks

  /**
   * Every webhook so far and what became of it, oldest first.
   *
   * @param latest How many of the latest; all when left out.
   * @returns The webhooks as they stand now.
   */
  deliveries(latest?: number): SandboxDelivery[] {
    return this.#works.sender.log(latest);
  }

  /** Whether webhooks are being delivered. */
  get delivery(): DeliveryStatus {
    return this.#works.sender.status;
  }

  /** Switches delivery on again, as a person does in the dashboard. */
  enableDelivery(): void {
    this.#works.sender.enable();
  }

  /** Sets where webhooks go; null sends none. */
  setWebhookUrl(url: string | null): void {
    this.#works.sender.webhookUrl = url;
  }

  /**
   * Sets how failures are retried and switch delivery off.
   *
   * @throws {RangeError} If it is not one of the readings.
   */
  setDisableRule(rule: DisableRule): void {
    checkRule(rule);
    this.#works.sender.disableRule = rule;
  }

  /**
   * Presses the Test button: one attempt, outside the ladder, even while
   * delivery is off.
   *
   * @returns What became of it.
   */
  pressTest(): Promise<SandboxDelivery> {
    return this.#works.teller.test();
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
      : this.#works.orderDesk.mustGet(input.orderId);
    const userId = input.userId ?? order?.userId;
    const user = userId === undefined
      ? null
      : this.#works.userDesk.mustGet(userId);
    this.#works.teller.trigger(input, order, user);
  }

  // Faults

  /** The faults in force. */
  get faults(): Faults {
    return this.#works.dice.faults;
  }

  /**
   * Changes the faults in force; those left out stay as they are.
   *
   * @throws {TypeError} If a fault is not known.
   * @throws {RangeError} If a rate is out of range.
   */
  setFaults(change: Partial<Faults>): void {
    this.#works.dice.set(change);
  }

  /** Switches every fault off. */
  heal(): void {
    this.#works.dice.heal();
  }

  /** What happened so far, counted. */
  get counters(): Readonly<SandboxCounters> {
    return { ...this.#works.counters };
  }

  // Lives

  /**
   * Lets users come and buy for a while, with every kind of ending.
   *
   * @param options How many orders, over what time.
   * @returns Resolves when every life is over; webhooks may still be due.
   */
  populate(options: PopulateOptions): Promise<void> {
    return this.#lives.follow(
      populate(
        this,
        options,
        this.#works.random,
        this.#works.dice,
        this.#closing.signal,
      ),
    );
  }

  /**
   * Writes finished orders into the past at once; no webhook tells of them.
   *
   * @param options How many orders, over what time.
   */
  backfill(options: BackfillOptions): void {
    this.#works.orderDesk.backfill(options, this.#works.random);
  }

  /** What the service says about every order, oldest first. */
  truth(): OrderTruth[] {
    return this.orders().map(truthOf);
  }

  /** Resolves when no life goes on and no webhook is due any more. */
  async idle(): Promise<void> {
    await this.#lives.over();
    await this.#works.sender.idle();
  }

  /** Stops everything: no timer and no request is left behind. */
  async close(): Promise<void> {
    this.#closing.abort(
      new DOMException("The sandbox is closed", "AbortError"),
    );
    await this.#lives.over();
    await this.#works.sender.close();
  }

  /** The same as {@linkcode close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
