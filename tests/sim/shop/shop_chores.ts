import {
  nextSteps,
  type OrderInput,
  type OrderStep,
  type SandboxOrder,
} from "../../../sandbox/mod.ts";
import { ExpectationError } from "../../../ledger/mod.ts";
import { orderExpected } from "../../../ledger/testing/mod.ts";
import type { Dice } from "../world/dice.ts";
import type { Incarnation } from "../world/incarnation.ts";
import { addOne, check } from "../world/journal.ts";
import { type BasketTerms, purchaseOf } from "./shop.ts";
import type { World } from "../world/world.ts";
import { isFull } from "../chores/actions.ts";

const minuteMs = 60_000;

/** Most expectations under one click id that are compared. */
const mostCompared = 16;

/** Something that customers do at the shop. */
type Sale = (counter: Counter) => Promise<unknown>;

/** All of it, and how often. */
const SALES: readonly (readonly [number, readonly [string, Sale]])[] = [
  [4, ["basket paid", payBasket]],
  [2, ["basket clicked twice", clickTwice]],
  [3, ["two baskets under one click", mixBaskets]],
  [1, ["seventeen clicks", clickOften]],
  [2, ["basket not recorded", recordNothing]],
  [2, ["basket recorded late", recordLate]],
  [3, ["another amount paid", payLess]],
  [2, ["basket grown", growBasket]],
  [2, ["another basket paid", payOther]],
  [3, ["basket paid twice", payTwice]],
  [2, ["basket without a reference", payUnnamed]],
  [2, ["plan without an amount", payPlan]],
];

/** Names of them, as they are counted. */
export const SALE_NAMES: readonly string[] = [
  ...SALES.map(([, [name]]) => name),
  "expected without a session",
  "reversal at the shop",
];

/** Lets customers do something at the shop. */
export function sell(world: World, dice: Dice): void {
  const { incarnation, life } = world.front;
  if (incarnation === null || isFull(world)) return;
  const [name, sale] = dice.weighted(SALES);
  const own = dice.fork(`${name} ${dice.int(0, 1e9)}`);
  // A process that crashes takes with it what is done in it.
  world.background(Promise.race([
    sale(new Counter(world, incarnation, own))
      .then(() => addOne(world.journal.chores, name)),
    life.died,
  ]));
}

/** A basket as it is told to the ledger. */
interface Basket {
  readonly reference: string | null;
  readonly clickId: string;
  readonly amount: string | null;
}

/** A basket of a known price. */
interface PricedBasket extends Basket {
  readonly amount: string;
}

/** Where the shop records baskets, and customers pay. */
export class Counter {
  readonly #world: World;
  readonly #incarnation: Incarnation;
  readonly dice: Dice;

  constructor(world: World, incarnation: Incarnation, dice: Dice) {
    this.#world = world;
    this.#incarnation = incarnation;
    this.dice = dice;
  }

  /** A basket that nobody else has. */
  basket(amount: number = this.dice.int(5, 200)): PricedBasket {
    return {
      reference: `basket-${this.dice.int(1, 1e12)}`,
      clickId: this.click(),
      amount: `${amount}.00`,
    };
  }

  /** A click id that nobody else has. */
  click(): string {
    return `shop-${this.dice.int(1, 1e12)}`;
  }

  /** Waits, in milliseconds of the clock. */
  wait(ms: number): Promise<void> {
    return this.#world.clock.sleep(ms);
  }

  /** Records a basket, by a session or without one. */
  async record(basket: Basket): Promise<void> {
    const { shop, journal, clock } = this.#world;
    const { reference, clickId, amount } = basket;
    const terms: BasketTerms = { clickId, amount, recordedMs: null };
    shop.price(purchaseOf(reference, clickId), terms);
    if (this.dice.chance(0.5)) {
      await this.#expect(basket);
      addOne(journal.chores, "expected without a session");
    } else await this.#recordSession(basket);
    terms.recordedMs = clock.now();
  }

  /**
   * Records a basket under a click id that another basket has, which is
   * refused. Two processes that do so at once are not refused.
   */
  async recordBeside(basket: PricedBasket): Promise<void> {
    const { shop, clock } = this.#world;
    const { reference, clickId, amount } = basket;
    await this.#expect(basket).then(
      () =>
        check(
          "a click id of another basket is refused",
          false,
          () => `${clickId} is taken for ${reference} as well`,
        ),
      (error) => {
        if (!(error instanceof ExpectationError)) throw error;
      },
    );
    const terms: BasketTerms = { clickId, amount, recordedMs: null };
    shop.price(purchaseOf(reference, clickId), terms);
    await this.#incarnation.ledger.append([orderExpected({
      expected: {
        expectation_id: `01EXPECT${this.dice.int(1, 1e12)}`,
        click_id: clickId,
        ...asset,
        ...(reference === null ? {} : { reference }),
        currency_amount: amount,
      },
      recordedAt: new Date(this.#world.now()).toISOString(),
      salt: this.dice.bytes(16),
    })]);
    terms.recordedMs = clock.now();
  }

  /** A customer orders what a basket costs, in a widget that states it. */
  order(
    { clickId, amount }: Pick<PricedBasket, "clickId" | "amount">,
    create: (input: OrderInput) => SandboxOrder,
    cryptoType: "simple" | "sc" = "simple",
  ): SandboxOrder {
    const { shop, clock } = this.#world;
    const sureOf = this.#sureOf(clickId, amount);
    const order = create({
      ...asset,
      address,
      clickId,
      currencyAmount: amount,
      cryptoType,
    });
    const { orderId } = order;
    shop.orders.set(orderId, {
      orderId,
      clickId,
      paid: amount,
      atMs: clock.now(),
      sureOf,
    });
    return order;
  }

  /** A customer pays; what follows comes in its time. */
  pay(
    basket: Pick<PricedBasket, "clickId" | "amount">,
    cryptoType: "simple" | "sc" = "simple",
  ): void {
    const { sandbox, clock, journal } = this.#world;
    const create = (input: OrderInput) => sandbox.createOrder(input);
    const { orderId } = this.order(basket, create, cryptoType);
    let afterMs = 0;
    const next = (step: OrderStep, mostMs: number) => {
      afterMs += this.dice.int(500, mostMs);
      clock.setTimer(afterMs, () => {
        const order = sandbox.order(orderId);
        if (order === null || !nextSteps(order).includes(step)) return;
        if (step === "cancel") addOne(journal.chores, "reversal at the shop");
        sandbox.advance(orderId, step);
      });
    };
    for (const step of ["pay", "authorise", "complete"] as const) {
      next(step, minuteMs);
    }
    if (this.dice.chance(0.2)) next("cancel", 90 * minuteMs);
  }

  /** The purchase that a payment under a click id is sure to be for. */
  #sureOf(clickId: string, paid: string): string | null {
    const { shop } = this.#world;
    const [purchase, ...others] = shop.purchasesOf(clickId);
    if (purchase === undefined || others.length > 0) return null;
    const terms = shop.termsOf(purchase);
    const isSure = terms.length <= mostCompared &&
      terms.every(({ recordedMs, amount }) =>
        recordedMs !== null && amount === paid
      );
    return isSure ? purchase : null;
  }

  async #expect({ reference, clickId, amount }: Basket): Promise<void> {
    await this.#incarnation.ledger.expect({
      ...asset,
      clickId,
      walletAddress: address,
      ...(reference === null ? {} : { reference }),
      ...(amount === null ? {} : { currencyAmount: amount }),
    });
  }

  async #recordSession({ reference, clickId, amount }: Basket): Promise<void> {
    const { ledger, client } = this.#incarnation;
    const wanted = {
      flow_type: "simple_full_restrict",
      wallet_address: address,
      ...asset,
    } as const;
    const { sessionId } = await client.sessions.create({
      ...wanted,
      currency_amount: amount ?? "10.00",
    });
    await ledger.recordSession({
      ...wanted,
      session_id: sessionId,
      click_id: clickId,
      ...(reference === null ? {} : { reference }),
      ...(amount === null ? {} : { currency_amount: amount }),
    });
  }
}

const asset = {
  commodity: "ETH",
  network: "sepolia",
  currency: "USD",
} as const;
const address = "0x52908400098527886E0F7030069857D2E4169EE7";

async function payBasket(counter: Counter): Promise<void> {
  const basket = counter.basket();
  await counter.record(basket);
  counter.pay(basket);
}

/** The customer opens the widget twice, and pays in one of them. */
async function clickTwice(counter: Counter): Promise<void> {
  const basket = counter.basket();
  const again = { ...basket, clickId: counter.click() };
  await counter.record(basket);
  await counter.record(again);
  counter.pay(counter.dice.pick([basket, again]));
}

/** Two baskets under one click id; one is paid, or far less. */
async function mixBaskets(counter: Counter): Promise<void> {
  const basket = counter.basket();
  const price = counter.dice.chance(0.4) ? Number(basket.amount) : undefined;
  const other = { ...counter.basket(price), clickId: basket.clickId };
  await counter.record(basket);
  await counter.recordBeside(other);
  counter.pay(
    counter.dice.pick([basket, other, { ...basket, amount: "1.00" }]),
  );
}

/** More clicks under one click id than are compared. */
async function clickOften(counter: Counter): Promise<void> {
  const basket = counter.basket();
  for (let clicks = 0; clicks <= mostCompared; clicks++) {
    await counter.record(basket);
  }
  counter.pay(counter.dice.pick([basket, { ...basket, amount: "1.00" }]));
}

async function recordNothing(counter: Counter): Promise<void> {
  counter.pay(counter.basket());
  await counter.wait(0);
}

async function recordLate(counter: Counter): Promise<void> {
  const basket = counter.basket();
  counter.pay(basket);
  await counter.wait(counter.dice.int(1000, 40 * minuteMs));
  await counter.record(basket);
}

async function payLess(counter: Counter): Promise<void> {
  const basket = counter.basket(900);
  await counter.record(basket);
  const amount = counter.dice.pick(["1.00", "899.99", "900.01"]);
  counter.pay({ ...basket, amount });
}

/** More is put into the basket after the widget was opened. */
async function growBasket(counter: Counter): Promise<void> {
  const basket = counter.basket(10);
  await counter.record(basket);
  const grown = { ...basket, amount: "910.00" };
  await counter.record({
    ...grown,
    clickId: counter.dice.chance(0.7) ? counter.click() : basket.clickId,
  });
  counter.pay(counter.dice.chance(0.8) ? basket : grown);
}

/** The customer pays in the widget of one basket what another costs. */
async function payOther(counter: Counter): Promise<void> {
  const basket = counter.basket(900);
  const other = counter.basket();
  await counter.record(basket);
  await counter.record(other);
  counter.pay({ ...basket, amount: other.amount });
}

async function payTwice(counter: Counter): Promise<void> {
  const basket = counter.basket();
  const again = {
    ...basket,
    clickId: counter.dice.chance(0.5) ? counter.click() : basket.clickId,
  };
  await counter.record(basket);
  await counter.record(again);
  counter.pay(basket);
  await counter.wait(counter.dice.int(0, 20 * minuteMs));
  counter.pay(again);
}

async function payUnnamed(counter: Counter): Promise<void> {
  const basket = { ...counter.basket(), reference: null };
  await counter.record(basket);
  counter.pay(basket);
  if (counter.dice.chance(0.3)) counter.pay(basket);
}

/** A smart contract is paid through the widget, which states no amount. */
async function payPlan(counter: Counter): Promise<void> {
  const basket = { ...counter.basket(), amount: null };
  await counter.record(basket);
  counter.pay({ ...basket, amount: `${counter.dice.int(5, 200)}.00` }, "sc");
}
