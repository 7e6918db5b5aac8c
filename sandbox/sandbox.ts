import { Hono } from "hono";
import { answer } from "./answer.ts";
import { apiRoutes, oddFieldsOf } from "./api.ts";
import type { SandboxClock } from "./clock.ts";
import { controlRoutes } from "./controls.ts";
import {
  backfill,
  type BackfillOptions,
  populate,
  type PopulateOptions,
} from "./customers.ts";
import type { Faults, SandboxCounters } from "./faults.ts";
import type {
  OrderForm,
  SandboxOptions,
  SandboxPartner,
  TriggerInput,
} from "./options.ts";
import {
  type OrderInput,
  type OrderStep,
  type OrderTruth,
  type SandboxOrder,
  type StepFacts,
  truthOf,
} from "./orders.ts";
import type { DeliveryStatus, DisableRule, SandboxDelivery } from "./sender.ts";
import { Service } from "./service.ts";
import type { SandboxUser, UserInput, UserStep } from "./users.ts";
import { widgetRoutes } from "./widget.ts";

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
  readonly #service: Service;
  readonly #app: Hono;

  /**
   * Sets a sandbox up; it does nothing until it is used.
   *
   * @throws {TypeError} If a fault is not known.
   * @throws {RangeError} If the rate of a fault is out of range.
   */
  constructor(options: SandboxOptions = {}) {
    this.#service = new Service(options);
    this.#app = appOf(this.#service);
  }

  /** Answers a request: the API, the widget, the control page and its API. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const declared = Number(request.headers.get("content-length") ?? 0);
    const response = declared > MAX_BODY_BYTES
      ? answer(413, { message: "request body is too large" })
      : await this.#app.fetch(request);
    const { status, statusText } = response;
    const headers = new Headers(response.headers);
    headers.set("date", statedDate(this.#service));
    headers.set("x-content-type-options", "nosniff");
    return new Response(response.body, { status, statusText, headers });
  };

  /** The seed that decides everything random. */
  get seed(): number {
    return this.#service.seed;
  }

  /** Partner identifier of the widget address. */
  get partnerId(): string {
    return this.#service.partnerId;
  }

  /** Key that the API asks for; a getter, so that no inspection prints it. */
  get apiKey(): string {
    return this.#service.apiKey;
  }

  /** Clock of the sandbox. */
  get clock(): SandboxClock {
    return this.#service.clock;
  }

  /** Which asset table the service has. */
  get assets(): "production" | "sandbox" {
    return this.#service.assets;
  }

  /** Which form the orders answer has; may be changed at any time. */
  get orderForm(): OrderForm {
    return this.#service.orderForm;
  }

  set orderForm(form: OrderForm) {
    this.#service.orderForm = form;
  }

  /** What the service allows the partner; may be changed at any time. */
  get partner(): Required<SandboxPartner> {
    return this.#service.partner;
  }

  set partner(partner: Required<SandboxPartner>) {
    this.#service.partner = partner;
  }

  /** The service's own time: the clock's, plus the skew that is set. */
  now(): number {
    return this.#service.now();
  }

  // Orders

  /** Every order, oldest first. */
  orders(): SandboxOrder[] {
    return this.#service.orders.all();
  }

  /** The order with this id, or null. */
  order(orderId: string): SandboxOrder | null {
    return this.#service.orders.get(orderId);
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
    return this.#service.createOrder(input, atMs);
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
    return this.#service.advance(orderId, step, facts);
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
    return this.#service.amendOrder(orderId, change);
  }

  /**
   * Removes an order, so that no answer shows it any more.
   *
   * @param orderId The order.
   * @throws {RangeError} If the order does not exist.
   */
  removeOrder(orderId: string): void {
    this.#service.removeOrder(orderId);
  }

  // Users

  /** Every user, oldest first. */
  users(): SandboxUser[] {
    return this.#service.users.all();
  }

  /** The user with this id, or null. */
  user(userId: string): SandboxUser | null {
    return this.#service.users.get(userId);
  }

  /**
   * Creates a user, without a webhook.
   *
   * @param input The values you choose; the seed chooses the rest.
   * @param atMs Creation, in milliseconds since the epoch.
   * @returns The user.
   */
  createUser(input: UserInput = {}, atMs: number = this.now()): SandboxUser {
    return this.#service.createUser(input, atMs);
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
    return this.#service.advanceUser(userId, step, place);
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
    return this.#service.amendUser(userId, change);
  }

  // Webhooks

  /**
   * Every webhook so far and its delivery, oldest first.
   *
   * @param latest How many of the latest; all when left out.
   * @returns The webhooks as they stand now.
   */
  deliveries(latest?: number): SandboxDelivery[] {
    return this.#service.sender.log(latest);
  }

  /** Whether webhooks are being delivered. */
  get delivery(): DeliveryStatus {
    return this.#service.sender.status;
  }

  /** Switches delivery on again, as a person does in the dashboard. */
  enableDelivery(): void {
    this.#service.sender.enable();
  }

  /** Sets where webhooks go; null sends none. */
  setWebhookUrl(url: string | null): void {
    this.#service.sender.setWebhookUrl(url);
  }

  /**
   * Sets how failures are retried and when they switch delivery off.
   *
   * @throws {RangeError} If it is not one of the rules.
   */
  setDisableRule(rule: DisableRule): void {
    this.#service.sender.setDisableRule(rule);
  }

  /**
   * Presses the Test button: one attempt without retries, even while
   * delivery is off.
   *
   * @returns Its delivery.
   */
  pressTest(): Promise<SandboxDelivery> {
    return this.#service.pressTest();
  }

  /**
   * Sends an event that did not happen; any field of it
   * can be set.
   *
   * @param input Type, entity and fields of the event.
   * @throws {RangeError} If it names an order or user that is not there.
   */
  trigger(input: TriggerInput): void {
    this.#service.trigger(input);
  }

  // Faults

  /** The faults in force. */
  get faults(): Faults {
    return this.#service.injector.faults;
  }

  /**
   * Changes the faults in force; those left out stay as they are.
   *
   * @throws {TypeError} If a fault is not known.
   * @throws {RangeError} If a rate is out of range.
   */
  setFaults(change: Partial<Faults>): void {
    this.#service.injector.set(change);
  }

  /** Switches every fault off. */
  heal(): void {
    this.#service.injector.heal();
  }

  /**
   * Fields of an order's or a user's row that faults change.
   *
   * @param id Order or user identifier.
   * @returns Names of the fields; the id's own where the row has none.
   */
  oddFields(id: string): string[] {
    const entity = this.user(id) === null ? "order" : "user";
    return [...oddFieldsOf(this.#service.injector, entity, id).keys()];
  }

  /** Whether a fault refuses every search for this id. */
  refuses(id: string): boolean {
    return this.#service.injector.strikesId("refusedId", id);
  }

  /** What happened so far, counted. */
  get counters(): Readonly<SandboxCounters> {
    return { ...this.#service.counters };
  }

  // Customers

  /**
   * Simulates customers who buy for a while, with every kind of outcome.
   *
   * @param options How many orders, over what time.
   * @returns Resolves when the last visit is over; webhooks may still be due.
   */
  populate(options: PopulateOptions): Promise<void> {
    return this.#service.run(populate(this.#service, options));
  }

  /**
   * Writes finished orders into the past at once, without webhooks.
   *
   * @param options How many orders, over what time.
   */
  backfill(options: BackfillOptions): void {
    backfill(this.#service, options);
  }

  /** What the service says about every order, oldest first. */
  truth(): OrderTruth[] {
    return this.orders().map(truthOf);
  }

  /** Resolves when no work is running and no webhook is due. */
  idle(): Promise<void> {
    return this.#service.idle();
  }

  /** Stops everything: no timer and no request is left. */
  close(): Promise<void> {
    return this.#service.close();
  }

  /** The same as {@linkcode close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Largest request body read, in bytes. */
const MAX_BODY_BYTES = 64 * 1024;

/** Puts the service's API, the widget and the control page on one address. */
function appOf(service: Service): Hono {
  const app = new Hono();
  app.route("/api", apiRoutes(service));
  app.route(`/${service.partnerId}/widget`, widgetRoutes(service));
  app.route("/control", controlRoutes(service));
  app.get("/", (context) => context.redirect("/control"));
  app.notFound(() => answer(404, { message: "not found" }));
  return app;
}

/** The `Date` header of an answer, right or wrong. */
function statedDate(service: Service): string {
  const { injector, counters } = service;
  const nowMs = service.now();
  if (!injector.strikes("wrongDate")) return new Date(nowMs).toUTCString();
  counters.wrongDates++;
  const random = injector.stream("wrongDate.ms");
  const wrongMs = random.pick([
    Date.UTC(2099, 0, 1),
    Date.UTC(1970, 0, 2),
    nowMs + random.int(1, 14) * 3_600_000,
    nowMs - random.int(1, 14) * 3_600_000,
  ]);
  return new Date(wrongMs).toUTCString();
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
