import { type App, createApp } from "./app.ts";
import type { SandboxClock } from "./clocks/clock.ts";
import type {
  DeliveryStatus,
  SandboxDelivery,
  TriggerInput,
} from "./delivery/delivery_log.ts";
import type { DisableRule } from "./delivery/retry_schedule.ts";
import type { SandboxCounters } from "./engine/counters.ts";
import type { OrderInput, UserInput } from "./engine/entity_factory.ts";
import type { OrderStep, StepFacts } from "./engine/order_steps.ts";
import type { SandboxPartner } from "./engine/partner.ts";
import type { SandboxOrder } from "./engine/sandbox_order.ts";
import type { SandboxUser } from "./engine/sandbox_user.ts";
import { type OrderTruth, truthOf } from "./engine/truth.ts";
import type { UserStep } from "./engine/user_steps.ts";
import type { Faults } from "./faults/faults.ts";
import { oddFieldsOf, type OrderForm } from "./faults/odd_rows.ts";
import type { BackfillOptions } from "./service/backfill.ts";
import type { PopulateOptions } from "./service/populate.ts";
import { SandboxEngine } from "./service/sandbox_engine.ts";
import type { SandboxOptions } from "./service/sandbox_options.ts";

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
  readonly #engine: SandboxEngine;
  readonly #app: App;

  /**
   * Sets a sandbox up; it does nothing until it is used.
   *
   * @throws {TypeError} If a fault is not known.
   * @throws {RangeError} If the rate of a fault is out of range.
   */
  constructor(options: SandboxOptions = {}) {
    this.#engine = new SandboxEngine(options);
    this.#app = createApp(this.#engine);
  }

  /** Answers a request: the API, the widget, the control page and its API. */
  readonly fetch = (request: Request): Promise<Response> => this.#app(request);

  /** The seed that decides everything random. */
  get seed(): number {
    return this.#engine.seed;
  }

  /** Partner identifier of the widget address. */
  get partnerId(): string {
    return this.#engine.partnerId;
  }

  /** Key that the API asks for; a getter, so that no inspection prints it. */
  get apiKey(): string {
    return this.#engine.apiKey;
  }

  /** Clock of the sandbox. */
  get clock(): SandboxClock {
    return this.#engine.clock;
  }

  /** Which asset table the service has. */
  get assets(): "production" | "sandbox" {
    return this.#engine.assets;
  }

  /** Which form the orders answer has; may be changed at any time. */
  get orderForm(): OrderForm {
    return this.#engine.orderForm;
  }

  set orderForm(form: OrderForm) {
    this.#engine.orderForm = form;
  }

  /** What the service allows the partner; may be changed at any time. */
  get partner(): Required<SandboxPartner> {
    return this.#engine.partner;
  }

  set partner(partner: Required<SandboxPartner>) {
    this.#engine.partner = partner;
  }

  /** The service's own time: the clock's, plus the skew that is set. */
  now(): number {
    return this.#engine.now();
  }

  // Orders

  /** Every order, oldest first. */
  orders(): SandboxOrder[] {
    return this.#engine.orders.all();
  }

  /** The order with this id, or null. */
  order(orderId: string): SandboxOrder | null {
    return this.#engine.orders.get(orderId);
  }

  /**
   * Creates an order, now or at another time, without a webhook.
   *
   * @param input The values you choose. An order with the `sessionId` of a session
   * of this sandbox, or the click id that its widget was opened with, takes
   * amount, asset, network, wallet, user and click id of it. The seed chooses
   * the rest; its user is made, verified, if there is none.
   * @param atMs Its creation, in milliseconds since the epoch.
   * @returns The order.
   * @throws {TypeError} If an amount is not a plain decimal.
   */
  createOrder(input: OrderInput = {}, atMs: number = this.now()): SandboxOrder {
    return this.#engine.orderCommands.create(input, atMs);
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
    return this.#engine.orderCommands.advance(orderId, step, facts);
  }

  /**
   * Rewrites an order as no documented step would: an unknown status, a status
   * gone backwards, another amount. No webhook is sent.
   *
   * @param orderId The order.
   * @param change The fields to set; `changedAtMs` is now unless given.
   * @returns The order afterwards.
   * @throws {RangeError} If the order does not exist.
   */
  amendOrder(
    orderId: string,
    change: Partial<Omit<SandboxOrder, "orderId" | "createdAtMs">>,
  ): SandboxOrder {
    return this.#engine.orderCommands.amend(orderId, change);
  }

  /**
   * Removes an order, so that no answer shows it any more.
   *
   * @param orderId The order.
   * @throws {RangeError} If the order does not exist.
   */
  removeOrder(orderId: string): void {
    this.#engine.orderCommands.remove(orderId);
  }

  // Users

  /** Every user, oldest first. */
  users(): SandboxUser[] {
    return this.#engine.users.all();
  }

  /** The user with this id, or null. */
  user(userId: string): SandboxUser | null {
    return this.#engine.users.get(userId);
  }

  /**
   * Creates a user, without a webhook.
   *
   * @param input The values you choose; the seed chooses the rest.
   * @param atMs Creation, in milliseconds since the epoch.
   * @returns The user.
   */
  createUser(input: UserInput = {}, atMs: number = this.now()): SandboxUser {
    return this.#engine.userCommands.create(input, atMs);
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
    return this.#engine.userCommands.advance(userId, step, place);
  }

  /**
   * Rewrites a user, without a webhook.
   *
   * @throws {RangeError} If the user does not exist.
   */
  amendUser(
    userId: string,
    change: Partial<Omit<SandboxUser, "userId" | "createdAtMs">>,
  ): SandboxUser {
    return this.#engine.userCommands.amend(userId, change);
  }

  // Webhooks

  /**
   * Every webhook so far and its delivery, oldest first.
   *
   * @param latest How many of the latest; all when left out.
   * @returns The webhooks as they stand now.
   */
  deliveries(latest?: number): SandboxDelivery[] {
    return this.#engine.sender.log(latest);
  }

  /** Whether webhooks are being delivered. */
  get delivery(): DeliveryStatus {
    return this.#engine.sender.status;
  }

  /** Switches delivery on again, as a person does in the dashboard. */
  enableDelivery(): void {
    this.#engine.sender.enable();
  }

  /** Sets where webhooks go; null sends none. */
  setWebhookUrl(url: string | null): void {
    this.#engine.sender.webhookUrl = url;
  }

  /**
   * Sets how failures are retried and when they switch delivery off.
   *
   * @throws {RangeError} If it is not one of the rules.
   */
  setDisableRule(rule: DisableRule): void {
    this.#engine.sender.setDisableRule(rule);
  }

  /**
   * Presses the Test button: one attempt without retries, even while
   * delivery is off.
   *
   * @returns Its delivery.
   */
  pressTest(): Promise<SandboxDelivery> {
    return this.#engine.emitter.test();
  }

  /**
   * Sends an event that did not happen; any field of it
   * can be set.
   *
   * @param input Type, entity and fields of the event.
   * @throws {RangeError} If it names an order or user that is not there.
   */
  trigger(input: TriggerInput): void {
    this.#engine.trigger(input);
  }

  // Faults

  /** The faults in force. */
  get faults(): Faults {
    return this.#engine.injector.faults;
  }

  /**
   * Changes the faults in force; those left out stay as they are.
   *
   * @throws {TypeError} If a fault is not known.
   * @throws {RangeError} If a rate is out of range.
   */
  setFaults(change: Partial<Faults>): void {
    this.#engine.injector.set(change);
  }

  /** Switches every fault off. */
  heal(): void {
    this.#engine.injector.heal();
  }

  /**
   * Fields of an order's or a user's row that faults change.
   *
   * @param id Order or user identifier.
   * @returns Names of the fields; the id's own where the row has none.
   */
  oddFields(id: string): string[] {
    const entity = this.user(id) === null ? "order" : "user";
    return [...oddFieldsOf(this.#engine.injector, entity, id).keys()];
  }

  /** Whether a fault refuses every search for this id. */
  refuses(id: string): boolean {
    return this.#engine.injector.strikesId("refusedId", id);
  }

  /** What happened so far, counted. */
  get counters(): Readonly<SandboxCounters> {
    return { ...this.#engine.counters };
  }

  // Customers

  /**
   * Simulates customers who buy for a while, with every kind of outcome.
   *
   * @param options How many orders, over what time.
   * @returns Resolves when the last visit is over; webhooks may still be due.
   */
  populate(options: PopulateOptions): Promise<void> {
    return this.#engine.populate(options);
  }

  /**
   * Writes finished orders into the past at once, without webhooks.
   *
   * @param options How many orders, over what time.
   */
  backfill(options: BackfillOptions): void {
    this.#engine.backfill(options);
  }

  /** What the service says about every order, oldest first. */
  truth(): OrderTruth[] {
    return this.orders().map(truthOf);
  }

  /** Resolves when no work is running and no webhook is due. */
  idle(): Promise<void> {
    return this.#engine.idle();
  }

  /** Stops everything: no timer and no request is left. */
  close(): Promise<void> {
    return this.#engine.close();
  }

  /** The same as {@linkcode close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Sets up the service in a box.
 *
 * @param options Seed, key, clock, webhook address, faults.
 * @returns The sandbox; mount its `fetch`, and close it at the end.
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
