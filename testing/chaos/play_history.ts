import { openMemoryLedger } from "../../ledger/for_testing.ts";
import type { Transition } from "../../ledger/mod.ts";
import type { Handler } from "../../server/start/handlers.ts";
import type { Driver } from "../../ledger/types.ts";
import {
  createSandbox,
  type Sandbox,
  type SandboxOrder,
  type VirtualClock,
  virtualClock,
} from "../../sandbox/mod.ts";
import type { Handlers } from "../../server/start/handlers.ts";
import { customers, type SaleName } from "../world/customers.ts";
import {
  Crashed,
  ENVIRONMENT,
  PAST_AFTER_MS,
  ShopProcess,
  WEBHOOK_URL,
} from "../world/shop_process.ts";
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
 *
 * @throws {Broken} For the first guarantee that breaks.
 */
export async function playHistory(options: PlayOptions): Promise<number> {
  const world = await World.open(options);
  try {
    for (const step of options.steps) await world.play(step);
    return await world.end();
  } finally {
    await world.close();
  }
}

/** A purchase of a history. */
interface Purchase {
  readonly basket: number;
  readonly sale: SaleName & { readonly reference: string };
}

class World {
  readonly #options: PlayOptions;
  readonly #driver: Driver;
  readonly #clock: VirtualClock;
  readonly #sandbox: Sandbox;
  readonly #purchases = new Map<number, Purchase>();
  /** Orders that only strangers named. */
  readonly #forged = new Map<string, number>();
  /** The two that are there now. */
  #processes: ShopProcess[] = [];
  readonly #started: ShopProcess[] = [];
  #crash: CrashPoint | null = null;
  #broken: Broken | null = null;
  /** One call of a handler at a time, so that what it shipped is known. */
  #turn: Promise<unknown> = Promise.resolve();
  readonly #unfinished: Promise<unknown>[] = [];

  private constructor(
    options: PlayOptions,
    clock: VirtualClock,
    driver: Driver,
  ) {
    this.#options = options;
    this.#driver = driver;
    this.#clock = clock;
    this.#sandbox = createSandbox({
      seed: options.seed,
      clock: this.#clock,
      webhookUrl: WEBHOOK_URL,
      fetch: async (input, init) => {
        const up = this.#processes.find(({ isDead }) => !isDead);
        if (up === undefined) throw new TypeError("The shop is down");
        return await up.take(new Request(input, init));
      },
    });
  }

  static async open(options: PlayOptions): Promise<World> {
    // Ids begin with the time.
    const clock = virtualClock(BEGIN_MS + options.run * DAY_MS);
    const driver = await openMemoryLedger({
      environment: ENVIRONMENT,
      now: () => clock.now(),
    });
    const world = new World(options, clock, driver);
    await world.#startProcesses();
    return world;
  }

  async play(step: Step): Promise<void> {
    const shop = customers(this.#sandbox);
    if (step.kind === "faults") {
      const { rate } = step;
      this.#sandbox.setFaults({
        duplicate: rate,
        delay: rate / 2,
        reorder: rate / 2,
        drop: rate / 2,
        answerLost: rate / 2,
      });
    } else if (step.kind === "crash") this.#crash = step.at;
    else if (step.kind === "down") {
      for (const process of this.#processes) process.kill();
    } else if (step.kind === "wait") await this.#wait(step.ms);
    else if (step.kind === "sell") await this.#sell(step.basket);
    else {
      // Without its sale, which shrinking may have left out, nothing happens.
      const sale = this.#purchases.get(step.basket)?.sale;
      if (sale === undefined) return;
      if (step.kind === "pay") await shop.pay(sale, { amount: step.amount });
      if (step.kind === "fail") await shop.fail(sale);
      if (step.kind === "forge") {
        const { orderId } = await shop.forge(sale);
        this.#forged.set(orderId, step.basket);
      }
      if (step.kind === "reverse" && this.#canReverse(sale)) {
        await shop.reverse(sale);
      }
    }
    if (this.#broken !== null) throw this.#broken;
  }

  /**
   * Heals everything, waits until nothing is under way, and looks for what is
   * missing.
   */
  async end(): Promise<number> {
    this.#crash = null;
    this.#sandbox.heal();
    this.#sandbox.enableDelivery();
    for (const ms of QUIET_MS) await this.#wait(ms);
    await Promise.all(this.#unfinished);
    await this.#look(null);
    if (this.#broken !== null) throw this.#broken;
    const shipped = await this.#shipped();
    for (const { basket, sale } of this.#purchases.values()) {
      const orders = this.#ordersOf(sale);
      const isTakenBack = orders.some(hadSucceeded(false));
      if (isTakenBack || !orders.some(isPaid)) continue;
      if (!shipped.has(basket)) {
        throw new Broken(
          "paid_is_shipped",
          `Basket ${basket} was paid as asked, and is not shipped`,
        );
      }
    }
    return shipped.size;
  }

  async close(): Promise<void> {
    await this.#sandbox.close();
    await Promise.all(this.#started.map((process) => process.stop()));
    await this.#driver.close();
  }

  async #sell(basket: number): Promise<void> {
    await this.#restart();
    const [seller] = this.#processes;
    if (seller === undefined) return;
    const { seed, run } = this.#options;
    const sale = await seller.onramp.sell({
      reference: `basket-${basket}-of-${seed}-${run}`,
      currency: "USD",
      amount: PRICE,
      asset: "ETH",
      network: "sepolia",
    });
    this.#purchases.set(basket, { basket, sale });
  }

  async #wait(ms: number): Promise<void> {
    await this.#clock.advance(ms);
    await this.#restart();
    const past = ms >= PAST_AFTER_MS;
    await Promise.all(this.#processes.map((process) => process.work(past)));
    if (this.#broken !== null) throw this.#broken;
  }

  /** Starts again what has crashed. */
  async #restart(): Promise<void> {
    if (this.#processes.every(({ isDead }) => !isDead)) return;
    await this.#clock.advance(RESTART_MS);
    await this.#startProcesses();
  }

  async #startProcesses(): Promise<void> {
    const alive = this.#processes.filter(({ isDead }) => !isDead);
    while (alive.length < 2) alive.push(await this.#start());
    this.#processes = alive;
  }

  async #start(): Promise<ShopProcess> {
    const own: { process?: ShopProcess } = {};
    const on = Object.fromEntries(
      Object.entries(this.#options.on).map(([pattern, handler]) => [
        pattern,
        this.#called(handler as Handler, own),
      ]),
    );
    own.process = await ShopProcess.start({
      driver: this.#driver,
      sandbox: this.#sandbox,
      clock: this.#clock,
      on,
      onProblem: () => {},
    });
    this.#started.push(own.process);
    return own.process;
  }

  /** The partner's handler, called by a process that may crash. */
  #called(
    handler: Handler,
    own: { readonly process?: ShopProcess },
  ): Handler {
    return async (transition, context) => {
      if (own.process?.isDead) throw new Crashed();
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

  /** Checks what was shipped since the last look. */
  async #look(
    call: { readonly transition: Transition; readonly release: unknown } | null,
  ): Promise<void> {
    const broken = (guarantee: Guarantee, message: string) => {
      this.#broken ??= new Broken(guarantee, message);
    };
    for (const [basket, times] of await this.#shipped()) {
      const purchase = this.#purchases.get(basket);
      if (purchase === undefined) continue;
      const orders = this.#ordersOf(purchase.sale);
      const isNew = !this.#seen.has(basket);
      this.#seen.add(basket);
      if (times > 1) {
        broken("shipped_once", `Basket ${basket} is shipped ${times} times`);
      } else if (isNew && !orders.some(hadSucceeded(true))) {
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

  readonly #seen = new Set<number>();

  /** How often each basket was shipped, by what the partner says. */
  async #shipped(): Promise<ReadonlyMap<number, number>> {
    const names = new Map<string, number>(this.#forged);
    for (const { basket, sale } of this.#purchases.values()) {
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
    return this.#sandbox.orders().filter((order) => order.clickId === clickId);
  }

  #canReverse(sale: SaleName): boolean {
    return this.#ordersOf(sale).at(-1)?.status === "success";
  }
}

/** Whether the service shows it as paid, as it was asked for. */
function isPaid({ status, currencyAmount }: SandboxOrder): boolean {
  return status === "success" && Number(currencyAmount) === Number(PRICE);
}

/** Whether it was paid as asked; now, or also before it was taken back. */
function hadSucceeded(
  now: boolean,
): (order: SandboxOrder) => boolean {
  return ({ status, currencyAmount, history }) =>
    Number(currencyAmount) === Number(PRICE) &&
    history.some((one) => one.status === "success") &&
    (now || status !== "success");
}
