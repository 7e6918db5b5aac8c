import type { AssetTable } from "../core/assets/environment.ts";
import { defined, isOneOf } from "../core/guards.ts";
import {
  ORDER_EVENT_TYPES,
  type OrderEventType,
  webhookType,
} from "../core/webhook_event/webhook_event.ts";
import { sessionValidityMs } from "../core/rules/session_limits.ts";
import { realClock, type SandboxClock } from "./clock.ts";
import { Factory, seededTransaction, seededUlid, unitsOf } from "./factory.ts";
import { FaultInjector, type Faults, NO_FAULTS } from "./faults.ts";
import {
  OrderStore,
  takeStep,
  takeUserStep,
  truthOf,
  UserStore,
  wholeSecond,
  withStatus,
} from "./orders_and_users.ts";
import { Random } from "./random.ts";
import { WebhookSender } from "./sender.ts";
import {
  type Body,
  orderBody,
  otpBody,
  overlay,
  TEST_BODY,
  userBody,
} from "./webhook_bodies.ts";
import type {
  DeliveryCause,
  OrderForm,
  OrderInput,
  Sandbox,
  SandboxOptions,
  SandboxOrder,
  SandboxPartner,
  SandboxUser,
  UserStep,
} from "./sandbox.ts";

const UNKNOWN_TYPES = [
  ...["order_refund_started", "tx_smart_contract_failed", "chargeback_opened"],
];

/** What needs the routes and the customers, which stand above the service. */
type Above = "fetch" | "oddFields" | "populate" | "backfill";

/**
 * The service without its HTTP routes: orders, users, sessions, webhooks and
 * faults, on one clock and from one seed.
 */
export class Service implements Omit<Sandbox, Above> {
  readonly seed: number;
  readonly partnerId: string;
  readonly assets: AssetTable;
  readonly clock: SandboxClock;
  orderForm: OrderForm;
  partner: Required<SandboxPartner>;
  readonly random: Random;
  readonly injector: FaultInjector;
  readonly factory: Factory;
  readonly orderStore: OrderStore = new OrderStore();
  readonly userStore: UserStore = new UserStore();
  readonly sessions: SessionStore;
  readonly sender: WebhookSender;
  /** Private, so that no inspection prints the key. */
  readonly #options: SandboxOptions;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #invented = 0;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.seed = options.seed ?? 1;
    this.partnerId = options.partnerId ?? "01SANDBOXPARTNER0000000000";
    this.assets = options.assets ?? "sandbox";
    this.clock = options.clock ?? realClock();
    this.orderForm = options.orderForm ?? "current";
    this.partner = {
      ...{ userCreation: true, cardRegistration: true, blocked: false },
      ...{ cardsPerUser: 5, amountsOptional: false },
      restrictedCountries: ["CUB", "IRN", "PRK", "SYR"],
      unsupportedStates: ["NY"],
      ...options.partner,
    };
    this.random = new Random(this.seed);
    this.injector = new FaultInjector(this.random.fork("faults"));
    this.setFaults(options.faults ?? {});
    this.factory = new Factory(this.random, this.assets);
    this.sessions = new SessionStore(this.clock, this.factory);
    this.sender = new WebhookSender(this.clock, this.injector, options);
  }

  get apiKey(): string {
    return this.#options.apiKey ?? "sandbox-key";
  }

  now: Sandbox["now"] = () =>
    this.clock.now() + this.injector.faults.clockSkewMs;

  /** Aborted when the sandbox closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  // Orders

  orders: Sandbox["orders"] = () => this.orderStore.all();
  order: Sandbox["order"] = (orderId) => this.orderStore.get(orderId);
  truth: Sandbox["truth"] = () => this.orders().map(truthOf);

  createOrder: Sandbox["createOrder"] = (input = {}, atMs = this.now()) => {
    checkAmounts(input);
    const whole = this.#inSession(input);
    const user = this.#buyer(whole.userId, atMs);
    const { newestMs } = this.orderStore;
    const follows = newestMs !== null && newestMs <= atMs &&
      newestMs !== wholeSecond(atMs) && atMs - newestMs <= 3_000;
    const isSameSecond = this.injector.strikes("sameSecond", follows);
    const createdAtMs = isSameSecond && newestMs !== null ? newestMs : atMs;
    const order = this.factory.order(whole, user, createdAtMs);
    this.orderStore.put(order);
    this.#options.onOrder?.(order);
    return order;
  };

  advance: Sandbox["advance"] = (orderId, step, facts) => {
    const before = this.orderStore.must(orderId);
    const { order, event } = takeStep(before, step, {
      ...this.factory.facts(before.network, this.now()),
      ...facts,
    });
    this.orderStore.put(order);
    if (step === "complete") this.spend(order);
    if (event) this.#announce(event, order);
    return order;
  };

  amendOrder: Sandbox["amendOrder"] = (orderId, change) => {
    checkAmounts(change);
    const before = this.orderStore.must(orderId);
    const { status = before.status, changedAtMs = this.now() } = change;
    const history = withStatus(before, status, changedAtMs);
    const order = { ...before, ...change, changedAtMs, history };
    this.orderStore.put(order);
    return order;
  };

  removeOrder: Sandbox["removeOrder"] = (orderId) =>
    this.orderStore.remove(orderId);

  /** Adds what a completed order cost to what its user has spent. */
  spend(order: SandboxOrder): void {
    const user = this.user(order.userId);
    if (!user) return;
    const kind = order.cryptoType === "sc" ? "goodsSpentCents" : "spentCents";
    const cents = unitsOf(order.currencyAmount, 2);
    this.userStore.put({ ...user, [kind]: user[kind] + cents });
  }

  // Users

  users: Sandbox["users"] = () => this.userStore.all();
  user: Sandbox["user"] = (userId) => this.userStore.get(userId);

  createUser: Sandbox["createUser"] = (input = {}, atMs = this.now()) => {
    const user = this.factory.user(input, atMs);
    this.userStore.put(user);
    return user;
  };

  advanceUser: Sandbox["advanceUser"] = (userId, step, place = {}) => {
    const before = this.userStore.must(userId);
    const user = takeUserStep(before, step, this.factory.card(this.now()));
    this.userStore.put(user);
    const body = step.startsWith("otp_")
      ? otpBody(user, place, step.slice("otp_".length))
      : userBody(step, user, place);
    this.#send("life", body, { userId });
    return user;
  };

  amendUser: Sandbox["amendUser"] = (userId, change) => {
    const user = { ...this.userStore.must(userId), ...change };
    this.userStore.put(user);
    return user;
  };

  // Faults

  get faults(): Faults {
    return this.injector.faults;
  }

  get counters(): Sandbox["counters"] {
    return { ...this.injector.counters };
  }

  setFaults: Sandbox["setFaults"] = (change) => this.injector.set(change);
  heal: Sandbox["heal"] = () => void (this.injector.faults = NO_FAULTS);
  refuses: Sandbox["refuses"] = (id) =>
    this.injector.strikesId("refusedId", id);

  // Webhooks

  get delivery(): Sandbox["delivery"] {
    return this.sender.status;
  }

  deliveries: Sandbox["deliveries"] = (latest) => this.sender.log(latest);
  enableDelivery: Sandbox["enableDelivery"] = () => this.sender.enable();
  setWebhookUrl: Sandbox["setWebhookUrl"] = (url) =>
    this.sender.setWebhookUrl(url);
  setDisableRule: Sandbox["setDisableRule"] = (rule) =>
    this.sender.setDisableRule(rule);

  trigger: Sandbox["trigger"] = ({ type, orderId, userId, fields = {} }) => {
    const named = orderId === undefined ? null : this.orderStore.must(orderId);
    const owner = userId ?? named?.userId;
    const user = owner === undefined ? null : this.userStore.must(owner);
    const body = overlay(this.#claim(type, named, user), fields);
    this.#send("triggered", body, { ...named, ...user });
  };

  pressTest: Sandbox["pressTest"] = () =>
    this.sender.sendOnce({
      ...{ cause: "test", type: "test", orderId: null, userId: null },
      body: JSON.stringify(TEST_BODY),
    });

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
    const { injector } = this;
    const user = this.user(order.userId);
    const send = (cause: DeliveryCause, type: string) =>
      this.#send(cause, orderBody(type, order, user), order);
    const { cancelSpelling = event } = this.#options;
    send("life", event === "order_cancelled" ? cancelSpelling : event);
    if (injector.strikes("forge")) this.#forge(order, user);
    if (injector.strikes("unknownType")) {
      const random = injector.stream("unknownType.pick");
      send("unknownType", random.pick(UNKNOWN_TYPES));
    }
  }

  /** Sends a false event, about this order or about one that does not exist. */
  #forge(order: SandboxOrder, user: SandboxUser | null): void {
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
    about: { orderId?: string | null; userId?: string | null },
  ): void {
    if (cause === "life") this.injector.counters.events++;
    const { orderId = null, userId = null } = about;
    const text = JSON.stringify(body);
    const type = String(body.type);
    this.sender.send({ cause, type, orderId, userId, body: text });
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

  idle: Sandbox["idle"] = async () => {
    while (this.#running.size > 0) await Promise.all(this.#running);
    await this.sender.idle();
  };

  close: Sandbox["close"] = async () => {
    const reason = new DOMException("The sandbox is closed", "AbortError");
    this.#closing.abort(reason);
    while (this.#running.size > 0) await Promise.all(this.#running);
    await this.sender.close(reason);
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The user with this id, or a new verified one who has a card. */
  #buyer(userId: string | undefined, atMs: number): SandboxUser {
    const known = this.user(userId ?? "");
    if (known) return known;
    const cards = [this.factory.card(atMs)];
    const made = this.factory.user({ lkyc: "success", cards }, atMs);
    const user = { ...made, userId: userId ?? made.userId };
    this.userStore.put(user);
    return user;
  }

  /**
   * The input of an order: its own fields, and where they are missing those of
   * its session, or of the one whose widget was opened with its click id.
   */
  #inSession(input: OrderInput): OrderInput {
    const { sessionId, clickId = "" } = input;
    const session = sessionId
      ? this.sessions.get(sessionId)
      : this.sessions.ofClick(clickId);
    if (session === null) return input;
    const { commodity, network, currency_amount: currencyAmount } = session;
    const hasAmount = input.currencyAmount !== undefined ||
      input.cryptoAmount !== undefined;
    const hasAsset = input.commodity !== undefined ||
      input.network !== undefined;
    return {
      ...defined({
        sessionId: session.sessionId,
        clickId: session.clickId ?? undefined,
        ...{ userId: session.user_id, currency: session.currency },
        ...{ cryptoType: "simple" as const, address: session.wallet_address },
        ...(!hasAsset && { commodity, network }),
        ...(!hasAmount && { currencyAmount }),
        // The service ignores the asset amount where both are stated.
        ...(!hasAmount && currencyAmount === undefined &&
          { cryptoAmount: session.commodity_amount }),
      }),
      ...defined(input),
    };
  }
}

/** Throws unless the given amounts are plain decimals. */
function checkAmounts(input: OrderInput): void {
  for (const amount of [input.currencyAmount, input.cryptoAmount]) {
    if (amount !== undefined) unitsOf(amount, 0);
  }
}

/** What a widget session was asked to lock. Amounts are decimal strings. */
export type SessionRequest = Partial<
  Record<
    | ("flow_type" | "user_id" | "commodity" | "network" | "commodity_amount")
    | ("currency" | "currency_amount" | "wallet_address"),
    string
  >
>;

/** A widget session. */
export interface WidgetSession extends SessionRequest {
  readonly sessionId: string;
  readonly requestId: string;
  readonly createdMs: number;
  /** Click id that the widget was opened with; null before, or without one. */
  readonly clickId: string | null;
}

/** Every session. Each can be opened once, within thirty seconds. */
export class SessionStore {
  readonly #clock: SandboxClock;
  readonly #factory: Factory;
  readonly #sessions = new Map<string, WidgetSession>();
  readonly #used = new Set<string>();
  readonly #ofClick = new Map<string, string>();

  constructor(clock: SandboxClock, factory: Factory) {
    this.#clock = clock;
    this.#factory = factory;
  }

  create(request: SessionRequest = {}): WidgetSession {
    const session: WidgetSession = {
      ...request,
      sessionId: this.#factory.uuid(),
      requestId: this.#factory.uuid(),
      createdMs: this.#clock.now(),
      clickId: null,
    };
    this.#sessions.set(session.sessionId, session);
    return session;
  }

  get(sessionId: string): WidgetSession | null {
    return this.#sessions.get(sessionId) ?? null;
  }

  /** The session whose widget was opened with this click id last, or null. */
  ofClick(clickId: string): WidgetSession | null {
    return this.get(this.#ofClick.get(clickId) ?? "");
  }

  /** Opens a session, or tells why it cannot be opened. */
  open(
    sessionId: string,
    clickId: string,
  ): WidgetSession | "unknown" | "expired" | "used" {
    const session = this.#sessions.get(sessionId);
    if (!session) return "unknown";
    if (this.#used.has(sessionId)) return "used";
    if (this.#clock.now() - session.createdMs > sessionValidityMs) {
      return "expired";
    }
    this.#used.add(sessionId);
    if (clickId === "") return session;
    const opened = { ...session, clickId };
    this.#sessions.set(sessionId, opened);
    this.#ofClick.set(clickId, sessionId);
    return opened;
  }
}
