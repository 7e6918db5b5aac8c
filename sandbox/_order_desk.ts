import { unitsOf } from "./_decimals.ts";
import type { Dice } from "./_dice.ts";
import type { Maker, OrderInput } from "./_maker.ts";
import type { OrderBook } from "./_order_book.ts";
import { type OrderStep, type StepFacts, takeStep } from "./order_life.ts";
import { backfill, type BackfillOptions } from "./_populate.ts";
import type { Random } from "./_random.ts";
import type { SandboxCounters } from "./counters.ts";
import type { SandboxOrder } from "./sandbox_order.ts";
import type { Teller } from "./_teller.ts";
import { wholeSecond } from "./_times.ts";
import type { UserDesk } from "./_user_desk.ts";

/** What moving orders needs. */
export interface OrderDeskOptions {
  readonly orders: OrderBook;
  readonly users: UserDesk;
  readonly maker: Maker;
  readonly teller: Teller;
  readonly dice: Dice;
  readonly counters: SandboxCounters;
}

/** Makes orders, and lets them take their steps. */
export class OrderDesk {
  readonly #options: OrderDeskOptions;

  constructor(options: OrderDeskOptions) {
    this.#options = options;
  }

  /** The order with this id; throws if there is none. */
  mustGet(orderId: string): SandboxOrder {
    const order = this.#options.orders.get(orderId);
    if (order) return order;
    throw new RangeError(`Cannot find order "${orderId}" in the sandbox`);
  }

  /** A new order, of a verified user who is made if there is none. */
  create(input: OrderInput, atMs: number): SandboxOrder {
    checkAmounts(input);
    const { orders, users, maker, dice, counters } = this.#options;
    const user = users.buyer(input.userId, atMs);
    const newestMs = orders.newestMs;
    const twin = dice.strikes("sameSecond") && newestMs !== null &&
      newestMs <= atMs && newestMs !== wholeSecond(atMs) &&
      atMs - newestMs <= 3_000;
    if (twin) counters.sameSeconds++;
    const order = maker.order(input, user, twin ? newestMs : atMs);
    orders.put(order);
    return order;
  }

  /** An order takes a step, and the step's webhook is sent. */
  advance(
    orderId: string,
    step: OrderStep,
    facts: Partial<StepFacts>,
    nowMs: number,
  ): SandboxOrder {
    const { orders, users, maker, teller } = this.#options;
    const { order, event } = takeStep(this.mustGet(orderId), step, {
      ...maker.facts(nowMs),
      ...facts,
    });
    orders.put(order);
    if (step === "complete") users.spend(order);
    if (event) teller.order(event, order, users.get(order.userId));
    return order;
  }

  /** An order is rewritten as no step would. */
  amend(
    orderId: string,
    change: Partial<Omit<SandboxOrder, "orderId" | "createdAtMs">>,
    nowMs: number,
  ): SandboxOrder {
    const before = this.mustGet(orderId);
    checkAmounts(change);
    const atMs = change.changedAtMs ?? nowMs;
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

  /** An order is taken out. */
  remove(orderId: string): void {
    this.mustGet(orderId);
    this.#options.orders.remove(orderId);
  }

  /** Finished orders are written into the past; no webhook tells of them. */
  backfill(options: BackfillOptions, seed: Random): void {
    const { orders, users, maker } = this.#options;
    const random = seed.fork(`backfill ${orders.size}`);
    let userId: string | undefined;
    backfill(options, random, (atMs, steps) => {
      if (random.chance(0.4)) userId = undefined;
      let order = this.create(userId ? { userId } : {}, atMs);
      userId = order.userId;
      for (const step of steps) {
        const later = order.changedAtMs + random.int(1_000, 90_000);
        order = takeStep(order, step, maker.facts(later)).order;
      }
      orders.put(order);
      if (order.status === "success") users.spend(order);
    });
  }
}

/** Throws unless the amounts given are plain decimals. */
function checkAmounts(input: OrderInput): void {
  for (const amount of [input.currencyAmount, input.cryptoAmount]) {
    if (amount !== undefined) unitsOf(amount, 0);
  }
}
