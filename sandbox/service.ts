import type { AssetTable } from "../core/assets/environment.ts";
import { defined, isOneOf } from "../core/guards.ts";
import { webhookType } from "../core/webhook_event/event_types.ts";
import {
  ORDER_EVENT_TYPES,
  type OrderEventType,
} from "../core/webhook_event/webhook_event.ts";
import { realClock, type SandboxClock } from "./clock.ts";
import { Factory } from "./factory.ts";
import { FaultInjector, type SandboxCounters, zeroCounters } from "./faults.ts";
import type {
  OrderForm,
  SandboxOptions,
  SandboxPartner,
  TriggerInput,
} from "./options.ts";
import {
  type OrderInput,
  type OrderStep,
  OrderStore,
  type SandboxOrder,
  type StepFacts,
  takeStep,
  withStatus,
} from "./orders.ts";
import { unitsOf } from "./prices.ts";
import { Random } from "./random.ts";
import { seededTransaction, seededUlid, wholeSecond } from "./seeded.ts";
import {
  type DeliveryCause,
  type SandboxDelivery,
  WebhookSender,
} from "./sender.ts";
import { SessionStore } from "./sessions.ts";
import {
  type SandboxUser,
  takeUserStep,
  type UserInput,
  type UserStep,
  UserStore,
} from "./users.ts";
import {
  type Body,
  type EventPlace,
  orderBody,
  otpBody,
  overlay,
  TEST_BODY,
  userBody,
} from "./webhook_bodies.ts";

/** Fields of an order that a test may rewrite. */
export type OrderChange = Partial<
  Omit<SandboxOrder, "orderId" | "createdAtMs">
>;

const UNKNOWN_TYPES = [
  ...["order_refund_started", "tx_smart_contract_failed", "chargeback_opened"],
] as const;

/**
 * The service without its HTTP routes: orders, users, sessions, webhooks and
 * faults, on one clock and from one seed.
 */
export class Service {
  readonly seed: number;
  readonly partnerId: string;
  readonly apiKey: string;
  readonly assets: AssetTable;
  readonly clock: SandboxClock;
  orderForm: OrderForm;
  partner: Required<SandboxPartner>;
  readonly random: Random;
  readonly counters: SandboxCounters = zeroCounters();
  readonly injector: FaultInjector;
  readonly factory: Factory;
  readonly orders: OrderStore = new OrderStore();
  readonly users: UserStore = new UserStore();
  readonly sessions: SessionStore;
  readonly sender: WebhookSender;
  readonly #cancelSpelling: string;
  readonly #onOrder: (order: SandboxOrder) => void;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #invented = 0;

  constructor(options: SandboxOptions) {
    this.seed = options.seed ?? 1;
    this.partnerId = options.partnerId ?? "01SANDBOXPARTNER0000000000";
    this.apiKey = options.apiKey ?? "sandbox-key";
    this.assets = options.assets ?? "sandbox";
    this.clock = options.clock ?? realClock();
    this.orderForm = options.orderForm ?? "current";
    this.partner = {
      ...{ userCreation: true, cardRegistration: true, blocked: false },
      ...{ cardsPerUser: 5, amountsOptional: false, requestsPerSecond: null },
      restrictedCountries: ["CUB", "IRN", "PRK", "SYR"],
      unsupportedStates: ["NY"],
      ...options.partner,
    };
    this.random = new Random(this.seed);
    this.injector = new FaultInjector(this.random.fork("faults"));
    this.injector.set(options.faults ?? {});
    this.factory = new Factory(this.random, this.assets);
    this.sessions = new SessionStore(this.clock, this.factory);
    this.sender = new WebhookSender({
      clock: this.clock,
      injector: this.injector,
      counters: this.counters,
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      webhookUrl: options.webhookUrl ?? null,
      disableRule: options.disableRule ?? "ladder_from_previous",
      logLimit: options.logLimit ?? 100_000,
    });
    this.#cancelSpelling = options.cancelSpelling ?? "order_cancelled";
    this.#onOrder = options.onOrder ?? (() => {});
  }

  /** The service's own time: the clock's, plus the skew that is set. */
  now(): number {
    return this.clock.now() + this.injector.faults.clockSkewMs;
  }

  /** Aborted when the sandbox closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  // Orders

  /** Creates an order, and a verified user for it if there is none. */
  createOrder(input: OrderInput = {}, atMs: number = this.now()): SandboxOrder {
    checkAmounts(input);
    const whole = this.#inSession(input);
    const user = this.#buyer(whole.userId, atMs);
    const { newestMs } = this.orders;
    const isSameSecond = this.injector.strikes("sameSecond") &&
      newestMs !== null && newestMs <= atMs &&
      newestMs !== wholeSecond(atMs) && atMs - newestMs <= 3_000;
    if (isSameSecond) this.counters.sameSeconds++;
    const order = this.factory.order(
      whole,
      user,
      isSameSecond ? newestMs : atMs,
    );
    this.orders.put(order);
    this.#onOrder(order);
    return order;
  }

  /** Lets an order take a step, and sends the webhook of that step. */
  advance(
    orderId: string,
    step: OrderStep,
    facts: Partial<StepFacts> = {},
  ): SandboxOrder {
    const before = this.orders.must(orderId);
    const { order, event } = takeStep(before, step, {
      ...this.factory.facts(before.network, this.now()),
      ...facts,
    });
    this.orders.put(order);
    if (step === "complete") this.spend(order);
    if (event) this.#announce(event, order);
    return order;
  }

  /** Rewrites an order, without a webhook. */
  amendOrder(orderId: string, change: OrderChange): SandboxOrder {
    checkAmounts(change);
    const before = this.orders.must(orderId);
    const changedAtMs = change.changedAtMs ?? this.now();
    const { status = before.status } = change;
    const history = withStatus(before, status, changedAtMs);
    const order = { ...before, ...change, changedAtMs, history };
    this.orders.put(order);
    return order;
  }

  /** Removes an order, as if it had never been there. */
  removeOrder(orderId: string): void {
    this.orders.must(orderId);
    this.orders.remove(orderId);
  }

  /** Adds what a completed order cost to what its user has spent. */
  spend(order: SandboxOrder): void {
    const user = this.users.get(order.userId);
    if (!user) return;
    const kind = order.cryptoType === "sc" ? "goodsSpentCents" : "spentCents";
    const cents = unitsOf(order.currencyAmount, 2);
    this.users.put({ ...user, [kind]: user[kind] + cents });
  }

  // Users

  /** Creates a user, without a webhook. */
  createUser(input: UserInput = {}, atMs: number = this.now()): SandboxUser {
    const user = this.factory.user(input, atMs);
    this.users.put(user);
    return user;
  }

  /** Lets a user take a step, and sends its webhook. */
  advanceUser(
    userId: string,
    step: UserStep,
    place: EventPlace = {},
  ): SandboxUser {
    const before = this.users.must(userId);
    const user = takeUserStep(before, step, this.factory.card(this.now()));
    this.users.put(user);
    this.#send("life", userStepBody(step, user, place), { userId });
    return user;
  }

  /** Rewrites a user, without a webhook. */
  amendUser(
    userId: string,
    change: Partial<Omit<SandboxUser, "userId" | "createdAtMs">>,
  ): SandboxUser {
    const user = { ...this.users.must(userId), ...change };
    this.users.put(user);
    return user;
  }

  // Webhooks

  /** Sends an event that did not happen. */
  trigger({ type, orderId, userId, fields = {} }: TriggerInput): void {
    const named = orderId === undefined ? null : this.orders.must(orderId);
    const owner = userId ?? named?.userId;
    const user = owner === undefined ? null : this.users.must(owner);
    const body = overlay(this.#claim(type, named, user), fields);
    this.#send("triggered", body, {
      orderId: named?.orderId,
      userId: user?.userId,
    });
  }

  /** Presses the Test button. */
  pressTest(): Promise<SandboxDelivery> {
    return this.sender.sendOnce({
      ...{ cause: "test", type: "test", orderId: null, userId: null },
      body: JSON.stringify(TEST_BODY),
    });
  }

  /**
   * What the documentation has an event of this type say. Nothing of it need
   * have happened, and nothing of it is stored or drawn from the streams of
   * what does happen.
   */
  #claim(
    type: string,
    order: SandboxOrder | null,
    user: SandboxUser | null,
  ): Body {
    if (type === "test") return TEST_BODY;
    const nowMs = this.now();
    const known = webhookType(type);
    if (known === null) {
      if (order !== null) return orderBody(type, order, user);
      return user === null ? { type, click_id: "" } : userBody(type, user, {});
    }
    const invented = new Factory(
      this.random.fork(`invented ${++this.#invented}`),
      this.assets,
    );
    const who = user ?? invented.user({ lkyc: "success" }, nowMs);
    if (!isOneOf<string>(ORDER_EVENT_TYPES, known)) {
      const place = order ?? {
        clickId: user === null ? invented.uuid() : "",
        sessionId: user === null ? invented.uuid() : null,
      };
      if (known === "otp_status") return otpBody(who, place, "requested");
      const card = invented.card(nowMs);
      return userBody(type, takeUserStep(who, known as UserStep, card), place);
    }
    const about = order ?? invented.order({ cryptoType: "simple" }, who, nowMs);
    return orderBody(type, {
      ...about,
      txId: about.txId || seededTransaction(
        about.network,
        this.random.fork(`transaction of ${about.orderId}`),
      ),
      errorText: about.errorText || "Declined by issuer",
    }, who);
  }

  /** Sends the webhook of an order's step, and the false ones of the faults. */
  #announce(event: OrderEventType, order: SandboxOrder): void {
    const { injector, counters } = this;
    const user = this.users.get(order.userId);
    const type = event === "order_cancelled" ? this.#cancelSpelling : event;
    const send = (cause: DeliveryCause, type: string) =>
      this.#send(cause, orderBody(type, order, user), order);
    send("life", type);
    if (injector.strikes("forge")) this.#forge(order, user);
    if (injector.strikes("unknownType")) {
      counters.unknownTypes++;
      const random = injector.stream("unknownType.pick");
      send("unknownType", random.pick(UNKNOWN_TYPES));
    }
  }

  /** Sends a false event, about this order or about one that does not exist. */
  #forge(order: SandboxOrder, user: SandboxUser | null): void {
    this.counters.forged++;
    const random = this.injector.stream("forge.body");
    const now = this.now();
    const forged: SandboxOrder = {
      ...order,
      txId: this.factory.facts(order.network, now).txId,
      orderId: random.chance(0.5) ? order.orderId : seededUlid(now, random),
      currencyAmount: String(random.int(1, 9_999)),
    };
    this.sender.sendOnceLater(random.int(0, 5_000), {
      ...{ cause: "forged", type: "order_complete" },
      ...{ orderId: forged.orderId, userId: forged.userId },
      body: JSON.stringify(orderBody("order_complete", forged, user)),
    });
  }

  #send(
    cause: DeliveryCause,
    body: Body,
    about: { orderId?: string | undefined; userId?: string | undefined },
  ): void {
    if (cause === "life") this.counters.events++;
    const { orderId = null, userId = null } = about;
    this.sender.send({
      ...{ cause, type: String(body.type), orderId, userId },
      body: JSON.stringify(body),
    });
  }

  // Background

  /** Runs a task until the sandbox closes; it does not fail because of that. */
  run(task: Promise<void>): Promise<void> {
    const result = task.catch((error) => {
      if (!this.closing.aborted) throw error;
    }).finally(() => this.#running.delete(settled));
    const settled = result.catch(() => {});
    this.#running.add(settled);
    return result;
  }

  /** Resolves when no task is running and no webhook is due. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
    await this.sender.idle();
  }

  /** Stops everything: no timer and no request is left. */
  async close(): Promise<void> {
    this.#closing.abort(
      new DOMException("The sandbox is closed", "AbortError"),
    );
    while (this.#running.size > 0) await Promise.all(this.#running);
    await this.sender.close();
  }

  /** The user with this id, or a new verified one who has a card. */
  #buyer(userId: string | undefined, atMs: number): SandboxUser {
    const known = this.users.get(userId ?? "");
    if (known) return known;
    const cards = [this.factory.card(atMs)];
    const made = this.factory.user({ lkyc: "success", cards }, atMs);
    const user = { ...made, userId: userId ?? made.userId };
    this.users.put(user);
    return user;
  }

  /**
   * The input of an order: its own fields, and where they are missing those of
   * its session, or of the one whose widget was opened with its click id.
   */
  #inSession(input: OrderInput): OrderInput {
    const { sessionId, clickId } = input;
    const session = sessionId
      ? this.sessions.get(sessionId)
      : clickId
      ? this.sessions.ofClick(clickId)
      : null;
    if (session === null) return input;
    const { commodity, network, currencyAmount } = session;
    const hasAmount = input.currencyAmount !== undefined ||
      input.cryptoAmount !== undefined;
    const hasAsset = input.commodity !== undefined ||
      input.network !== undefined;
    const said = {
      ...{ sessionId: session.sessionId, clickId: session.clickId },
      ...{ userId: session.userId, currency: session.currency },
      ...{ cryptoType: "simple", address: session.walletAddress },
      ...(!hasAsset && { commodity, network }),
      // The service ignores the asset amount where both are stated.
      ...(!hasAmount && {
        currencyAmount,
        cryptoAmount: currencyAmount === null ? session.commodityAmount : null,
      }),
    };
    const known = Object.entries(said).filter(([, value]) => value !== null);
    return { ...Object.fromEntries(known), ...defined(input) };
  }
}

/** Throws unless the given amounts are plain decimals. */
function checkAmounts(input: OrderInput): void {
  for (const amount of [input.currencyAmount, input.cryptoAmount]) {
    if (amount !== undefined) unitsOf(amount, 0);
  }
}

function userStepBody(
  step: UserStep,
  user: SandboxUser,
  place: EventPlace,
): Body {
  return step.startsWith("otp_")
    ? otpBody(user, place, step.slice("otp_".length))
    : userBody(step, user, place);
}
