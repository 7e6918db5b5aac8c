import type { Transition } from "../../ledger/mod.ts";
import type { SandboxOrder } from "../../sandbox/mod.ts";
import type { Handler, Handlers } from "../../server/start/handlers.ts";
import { customers, type SaleName } from "../world/customers.ts";
import { Crashed, type ShopProcess, ShopWorld } from "../world/shop_process.ts";
import { type CrashPoint, PRICE, type Step } from "./history.ts";

/**
 * What a partner's handlers must guarantee.
 *
 * - `shipped_once`: no purchase is shipped twice.
 * - `never_unpaid`: nothing is shipped that was not paid as asked, or was known
 *   to be taken back.
 * - `paid_is_shipped`: what was paid as asked is shipped.
 */
export type Guarantee = "shipped_once" | "never_unpaid" | "paid_is_shipped";

/** A guarantee that broke. */
export class Broken extends Error {
  override readonly name = "Broken";
  readonly guarantee: Guarantee;

  constructor(guarantee: Guarantee, message: string) {
    super(message);
    this.guarantee = guarantee;
  }
}

/** What is played, and with whom. */
export interface PlayOptions {
  /** The partner's handlers. */
  readonly on: Handlers;
  /** What happens. */
  readonly steps: readonly Step[];
  /** What the partner says that he shipped. */
  readonly effects: () => readonly string[] | Promise<readonly string[]>;
  /** Decides what faults strike. */
  readonly seed: number;
  /** Makes the ids of this run others than those of all before. */
  readonly run: number;
}

const DAY_MS = 86_400_000;
const BEGIN_MS = Date.UTC(2026, 0, 1);
/** After a crash a process is there again when the leases have run out. */
const RESTART_MS = 40_000;
/** When all is healed: every look at what became final lately is over. */
const QUIET_MS = [60_000, 12 * 60_000, 70 * 60_000];

/**
 * Plays a history with two processes on one ledger, and checks everything that
 * is shipped, and at the end what is missing.
 */
export async function playHistory(options: PlayOptions): Promise<number> {
  // Ids begin with the time.
  const beginMs = BEGIN_MS + options.run * DAY_MS;
  const world = await ShopWorld.open(options.seed, beginMs);
  try {
    const played = new Played(options, world);
    await played.start();
    for (const step of options.steps) await played.play(step);
    return await played.end();
  } finally {
    await world.close();
  }
}

/** What was sold under a name of the partner's. */
type Purchase = SaleName & { readonly reference: string };

/** A call of a handler, as it was made. */
interface Call {
  readonly transition: Transition;
  readonly release: unknown;
}

class Played {
  readonly #options: PlayOptions;
  readonly #world: ShopWorld;
  /** By the number of the basket. */
  readonly #purchases = new Map<number, Purchase>();
  /** Orders that only strangers named. */
  readonly #forged = new Map<string, number>();
  /** Baskets that were shipped by the last look. */
  readonly #seen = new Set<number>();
  #crash: CrashPoint | null = null;
  #broken: Broken | null = null;
  /** One call of a handler at a time, so that what it shipped is known. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #unfinished: Promise<unknown>[] = [];

  constructor(options: PlayOptions, world: ShopWorld) {
    this.#options = options;
    this.#world = world;
  }

  async play(step: Step): Promise<void> {
    const { sandbox, alive } = this.#world;
    if (step.kind === "faults") {
      const { rate } = step;
      sandbox.setFaults({
        duplicate: rate,
        delay: rate / 2,
        reorder: rate / 2,
        drop: rate / 2,
        answerLost: rate / 2,
      });
    } else if (step.kind === "crash") this.#crash = step.at;
    else if (step.kind === "down") {
      for (const process of alive) {
        process.kill();
      }
    } else if (step.kind === "wait") await this.#wait(step.ms);
    else if (step.kind === "sell") await this.#sell(step.basket);
    else {
      // Without its sale, which shrinking may have left out, nothing happens.
      const sale = this.#purchases.get(step.basket);
      if (sale !== undefined) await this.#deal(step, sale);
    }
    this.#check();
  }

  /** What customers and strangers do with what was sold. */
  async #deal(
    step: Extract<Step, { kind: "pay" | "fail" | "reverse" | "forge" }>,
    sale: Purchase,
  ): Promise<void> {
    const shop = customers(this.#world.sandbox);
    switch (step.kind) {
      case "pay":
        await shop.pay(sale, { amount: step.amount });
        break;
      case "fail":
        await shop.fail(sale);
        break;
      case "forge":
        this.#forged.set((await shop.forge(sale)).orderId, step.basket);
        break;
      case "reverse":
        if (this.#ordersOf(sale).at(-1)?.status === "success") {
          await shop.reverse(sale);
        }
    }
  }

  /**
   * Heals everything, waits until nothing is under way, and looks for what is
   * missing.
   */
  async end(): Promise<number> {
    const { sandbox } = this.#world;
    this.#crash = null;
    sandbox.heal();
    sandbox.enableDelivery();
    for (const ms of QUIET_MS) await this.#wait(ms);
    await Promise.all(this.#unfinished);
    await this.#look(null);
    this.#check();
    const shipped = await this.#shipped();
    for (const [basket, sale] of this.#purchases) {
      const paid = this.#ordersOf(sale).filter(wasPaid);
      const isTakenBack = paid.some(({ status }) => status !== "success");
      if (paid.length === 0 || isTakenBack || shipped.has(basket)) continue;
      throw new Broken(
        "paid_is_shipped",
        `Basket ${basket} was paid as asked, and is not shipped`,
      );
    }
    return shipped.size;
  }

  #check(): void {
    if (this.#broken !== null) throw this.#broken;
  }

  async #sell(basket: number): Promise<void> {
    await this.#restart();
    const [seller] = this.#world.alive;
    if (seller === undefined) return;
    const { seed, run } = this.#options;
    const sale = await seller.onramp.sell({
      reference: `basket-${basket}-of-${seed}-${run}`,
      currency: "USD",
      amount: PRICE,
      asset: "ETH",
      network: "sepolia",
    });
    this.#purchases.set(basket, sale);
  }

  async #wait(ms: number): Promise<void> {
    await this.#world.clock.advance(ms);
    await this.#restart();
    await this.#world.work(ms);
    this.#check();
  }

  /** Starts again what has crashed. */
  async #restart(): Promise<void> {
    if (this.#world.alive.length === 2) return;
    await this.#world.clock.advance(RESTART_MS);
    await this.start();
  }

  async start(): Promise<void> {
    while (this.#world.alive.length < 2) {
      const own: { process?: ShopProcess } = {};
      const on = Object.fromEntries(
        Object.entries(this.#options.on).map(([pattern, handler]) => [
          pattern,
          this.#called(handler as Handler, own),
        ]),
      );
      own.process = await this.#world.start({ on, onProblem: () => {} });
    }
  }

  /** The partner's handler, called by a process that may crash. */
  #called(
    handler: Handler,
    own: { readonly process?: ShopProcess },
  ): Handler {
    return async (transition, context) => {
      if (own.process?.isDead()) throw new Crashed();
      const crash = this.#crash;
      this.#crash = null;
      if (crash === "before" || crash === "in") own.process?.kill();
      if (crash === "before") throw new Crashed();
      const call = this.#turn.then(async () => {
        await this.#look(null);
        await handler(transition, context);
        await this.#look({ transition, release: context.release });
      });
      this.#turn = call.catch(() => {});
      this.#unfinished.push(this.#turn);
      if (crash === "in") throw new Crashed();
      try {
        await call;
      } finally {
        if (crash === "after") own.process?.kill();
      }
    };
  }

  /** Checks what was shipped since the last look, by a call of a handler. */
  async #look(call: Call | null): Promise<void> {
    const broken = (guarantee: Guarantee, message: string) => {
      this.#broken ??= new Broken(guarantee, message);
    };
    for (const [basket, times] of await this.#shipped()) {
      const purchase = this.#purchases.get(basket);
      if (purchase === undefined) continue;
      const orders = this.#ordersOf(purchase);
      const isNew = !this.#seen.has(basket);
      this.#seen.add(basket);
      if (times > 1) {
        broken("shipped_once", `Basket ${basket} is shipped ${times} times`);
      } else if (isNew && !orders.some(wasPaid)) {
        broken("never_unpaid", `Basket ${basket} is shipped, and nobody paid`);
      } else if (
        isNew && call?.transition.entity === "order" &&
        orders.some(({ orderId }) => orderId === call.transition.id) &&
        call.release !== "yes"
      ) {
        broken(
          "never_unpaid",
          `Basket ${basket} is shipped although release is ${call.release}`,
        );
      }
    }
  }

  /** How often each basket was shipped, by what the partner says. */
  async #shipped(): Promise<ReadonlyMap<number, number>> {
    const names = new Map<string, number>(this.#forged);
    for (const [basket, sale] of this.#purchases) {
      names.set(sale.reference, basket).set(sale.clickId, basket);
      for (const { orderId } of this.#ordersOf(sale)) {
        names.set(orderId, basket);
      }
    }
    const shipped = new Map<number, number>();
    for (const name of await this.#options.effects()) {
      const basket = names.get(name);
      if (basket === undefined) continue;
      shipped.set(basket, (shipped.get(basket) ?? 0) + 1);
    }
    return shipped;
  }

  #ordersOf({ clickId }: SaleName): readonly SandboxOrder[] {
    return this.#world.sandbox.orders()
      .filter((order) => order.clickId === clickId);
  }
}

/** Whether it was paid as asked, also where that was taken back. */
function wasPaid({ currencyAmount, history }: SandboxOrder): boolean {
  return Number(currencyAmount) === Number(PRICE) &&
    history.some(({ status }) => status === "success");
}
