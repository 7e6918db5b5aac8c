import type { WebhookEmitter } from "../delivery/webhook_emitter.ts";
import type { SandboxCounters } from "../engine/counters.ts";
import type { EntityFactory, OrderInput } from "../engine/entity_factory.ts";
import {
  type OrderStep,
  type StepFacts,
  takeStep,
} from "../engine/order_steps.ts";
import type { OrderStore } from "../engine/order_store.ts";
import type { SandboxOrder } from "../engine/sandbox_order.ts";
import type { SessionStore } from "../engine/session_store.ts";
import type { FaultInjector } from "../faults/fault_injector.ts";
import { unitsOf, wholeSecond } from "../seeded/seeded_values.ts";
import type { UserCommands } from "./user_commands.ts";

/** Options of {@linkcode OrderCommands}. */
export interface OrderCommandsOptions {
  readonly orders: OrderStore;
  readonly sessions: SessionStore;
  readonly userCommands: UserCommands;
  readonly factory: EntityFactory;
  readonly emitter: WebhookEmitter;
  readonly injector: FaultInjector;
  readonly counters: SandboxCounters;
  /** The service's own time. */
  readonly now: () => number;
  /** Called with each order when it is created. */
  readonly onOrder: (order: SandboxOrder) => void;
}

/** Fields of an order that a test may rewrite. */
export type OrderChange = Partial<
  Omit<SandboxOrder, "orderId" | "createdAtMs">
>;

/** Everything that changes an order. */
export class OrderCommands {
  readonly #options: OrderCommandsOptions;

  constructor(options: OrderCommandsOptions) {
    this.#options = options;
  }

  /** The order with this id; throws if there is none. */
  mustGet(orderId: string): SandboxOrder {
    const order = this.#options.orders.get(orderId);
    if (order) return order;
    throw new RangeError(`Cannot find order "${orderId}" in the sandbox`);
  }

  /**
   * Creates an order, and a verified user for it if there is none. One of a
   * session takes what the session says, where the input does not.
   */
  create(
    input: OrderInput,
    atMs: number = this.#options.now(),
  ): SandboxOrder {
    checkAmounts(input);
    const { orders, userCommands, factory, injector, counters } = this.#options;
    input = inSession(input, this.#options.sessions);
    const user = userCommands.buyer(input.userId, atMs);
    const newestMs = orders.newestMs;
    const sameSecond = injector.strikes("sameSecond") && newestMs !== null &&
      newestMs <= atMs && newestMs !== wholeSecond(atMs) &&
      atMs - newestMs <= 3_000;
    if (sameSecond) counters.sameSeconds++;
    const order = factory.order(input, user, sameSecond ? newestMs : atMs);
    orders.put(order);
    this.#options.onOrder(order);
    return order;
  }

  /** Lets an order take a step, and sends the webhook of that step. */
  advance(
    orderId: string,
    step: OrderStep,
    facts: Partial<StepFacts> = {},
  ): SandboxOrder {
    const { orders, userCommands, factory, emitter, now } = this.#options;
    const before = this.mustGet(orderId);
    const { order, event } = takeStep(before, step, {
      ...factory.facts(before.network, now()),
      ...facts,
    });
    orders.put(order);
    if (step === "complete") userCommands.spend(order);
    if (event) emitter.order(event, order, userCommands.get(order.userId));
    return order;
  }

  /** Rewrites an order, without a webhook. */
  amend(orderId: string, change: OrderChange): SandboxOrder {
    const before = this.mustGet(orderId);
    checkAmounts(change);
    const atMs = change.changedAtMs ?? this.#options.now();
    const status = change.status ?? before.status;
    const order: SandboxOrder = {
      ...before,
      ...change,
      changedAtMs: atMs,
      history: status === before.status
        ? before.history
        : [...before.history, { status, atMs }],
    };
    this.#options.orders.put(order);
    return order;
  }

  /** Removes an order, as if it had never been there. */
  remove(orderId: string): void {
    this.mustGet(orderId);
    this.#options.orders.remove(orderId);
  }
}

/** Throws unless the given amounts are plain decimals. */
function checkAmounts(input: OrderInput): void {
  for (const amount of [input.currencyAmount, input.cryptoAmount]) {
    if (amount !== undefined) unitsOf(amount, 0);
  }
}

/**
 * The input of an order: its own fields, and where they are missing those of
 * its session.
 *
 * @param input What is said of it: its session, or the click id that the widget
 * was opened with.
 * @param sessions The sessions of the service.
 */
function inSession(
  input: OrderInput,
  sessions: Pick<SessionStore, "get" | "ofClick">,
): OrderInput {
  const { sessionId, clickId } = input;
  const session = sessionId
    ? sessions.get(sessionId)
    : clickId
    ? sessions.ofClick(clickId)
    : null;
  if (session === null) return input;
  const hasAmount = input.currencyAmount !== undefined ||
    input.cryptoAmount !== undefined;
  const hasAsset = input.commodity !== undefined || input.network !== undefined;
  const said: Record<string, unknown> = {
    sessionId: session.sessionId,
    clickId: session.clickId,
    userId: session.userId,
    cryptoType: "simple",
    address: session.walletAddress,
    currency: session.currency,
    ...hasAsset
      ? {}
      : { commodity: session.commodity, network: session.network },
    // The service ignores the asset amount where both are stated.
    ...hasAmount
      ? {}
      : session.currencyAmount !== null
      ? { currencyAmount: session.currencyAmount }
      : { cryptoAmount: session.commodityAmount },
  };
  const known = Object.entries(said).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(known), ...given(input) };
}

function given(input: OrderInput): OrderInput {
  return Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== undefined),
  );
}
