import { Random } from "../sandbox/random.ts";
import type { SandboxOrder } from "../sandbox/mod.ts";
import type { Handler, Handlers } from "../server/start/handlers.ts";
import { type Customers, customers, type SaleName } from "./customers.ts";
import { crashed, type Mortal, openWorld, type World } from "./world.ts";

/**
 * What a partner's handlers must guarantee.
 *
 * - `shipped_once`: no purchase is shipped twice.
 * - `never_unpaid`: nothing is shipped that was not paid as asked, or was known
 *   to be taken back.
 * - `paid_is_shipped`: what was paid as asked is shipped.
 */
export type Guarantee = "shipped_once" | "never_unpaid" | "paid_is_shipped";

/** Which histories handlers are tested with, and for which guarantees. */
export interface ChaosOptions {
  /** How many histories are played. @default {100} */
  readonly seeds?: number;
  /** The first seed. A failure names the seed that repeats it. @default {1} */
  readonly firstSeed?: number;
  /**
   * Lists what was shipped so far, each shipment by your reference, by its
   * order id or by its click id. A purchase that is in it twice was shipped
   * twice. What earlier histories shipped may stay in it.
   */
  readonly effects: () => readonly string[] | Promise<readonly string[]>;
}

/** What was played without breaking a guarantee. */
export interface ChaosReport {
  /** Histories that were played. */
  readonly seeds: number;
  /** Things that happened in them. */
  readonly steps: number;
  /** Purchases that were shipped. */
  readonly shipped: number;
}

/** A guarantee that broke, and how. */
type Broken = Pick<ChaosError, "guarantee" | "message">;

/** A history in which your handlers broke a guarantee. */
export class ChaosError extends Error {
  /** Literal name of the class. */
  override readonly name = "ChaosError";
  /** Repeats it: `chaos({ firstSeed: seed, seeds: 1, … })`. */
  readonly seed: number;
  /** What broke. */
  readonly guarantee: Guarantee;
  /** The shortest history that was found in which it breaks. */
  readonly history: readonly string[];

  /**
   * Creates the error.
   *
   * @param broken The guarantee, and how it broke.
   * @param seed The seed.
   * @param history What happened, one line for each step.
   */
  constructor(
    { guarantee, message }: Pick<ChaosError, "guarantee" | "message">,
    seed: number,
    history: readonly string[],
  ) {
    const lines = history.map((line, at) => `  ${at + 1}. ${line}`);
    super(
      `Broke ${guarantee} at seed ${seed}: ${message}\n${lines.join("\n")}\n` +
        `Repeat it with chaos({ firstSeed: ${seed}, seeds: 1, effects })`,
    );
    this.guarantee = guarantee;
    this.seed = seed;
    this.history = history;
  }
}

/** What customers and strangers do with a sale. */
type Deal = (sale: SaleName, shop: Customers, play: Play) => unknown;

/** One thing that happens to a shop, and how it is told. */
interface Step {
  readonly line: string;
  readonly happen: (play: Play) => unknown;
}

/** What every basket costs, in USD. */
const PRICE = "50.00";

const WAITS_MS = [1_000, 60_000, 60_000, 15 * 60_000];

/** What happens in one history: the same for the same draws. */
function drawHistory(random: Random): readonly Step[] {
  const baskets = Array.from({ length: random.int(2, 4) }, (_, n) => n + 1);
  const lives = baskets.map((basket) => basketLife(basket, random));
  const steps: Step[] = [];
  while (lives.some((life) => life.length > 0)) {
    const next = random.pick(lives.filter((life) => life.length > 0)).shift();
    if (random.chance(0.25)) steps.push(trouble(random));
    if (next !== undefined) steps.push(next);
    if (random.chance(0.4)) {
      const ms = random.pick(WAITS_MS);
      steps.push({
        line: `${ms / 1000} s pass`,
        happen: (play) => play.wait(ms),
      });
    }
  }
  return steps;
}

/** What a customer does with one basket, in its order. */
function basketLife(basket: number, random: Random): Step[] {
  const sold = (line: string, act: Deal): Step => ({
    line,
    happen: (play) => play.deal(basket, act),
  });
  const pay = (amount: string) =>
    sold(
      `the customer of basket ${basket} pays ${amount} USD`,
      (sale, { pay }) => pay(sale, { amount }),
    );
  const fails = sold(
    `a payment of basket ${basket} is declined`,
    (sale, { fail }) => fail(sale),
  );
  const reverses = sold(
    `the service takes the payment of basket ${basket} back`,
    (sale, { reverse }, play) =>
      play.ordersOf(sale).at(-1)?.status === "success" && reverse(sale),
  );
  const forges = sold(
    `a stranger's webhook claims that basket ${basket} was paid`,
    async (sale, { forge }, { forged }) =>
      void forged.set((await forge(sale)).orderId, basket),
  );
  const forge = random.chance(0.3) ? [forges] : [];
  const lives = [
    [...forge, pay("5.00")],
    [fails, ...forge, pay(PRICE)],
    [pay(PRICE), reverses, ...forge],
    [pay(PRICE), pay(PRICE), ...forge],
    [forges],
  ];
  return [
    {
      line: `basket ${basket} is sold for ${PRICE} USD`,
      happen: (play) => play.sell(basket),
    },
    ...lives[random.int(0, 6)] ?? [...forge, pay(PRICE)],
  ];
}

/** When a process crashes, and how that is told. */
const CRASHES = {
  before: "before",
  in: "in the middle of",
  after: "right after",
} as const;
type CrashPoint = keyof typeof CRASHES;

function trouble(random: Random): Step {
  switch (random.int(0, 4)) {
    case 0: {
      const rate = random.pick([0.2, 0.5, 1]);
      const half = rate / 2;
      return {
        line: "webhooks come twice, late, out of order or never",
        happen: ({ world }) =>
          world.sandbox.setFaults({
            ...{ duplicate: rate, delay: half, reorder: half },
            ...{ drop: half, answerLost: half },
          }),
      };
    }
    case 1:
      return {
        line: "both processes crash",
        happen: ({ world }) => world.alive().forEach(({ kill }) => kill()),
      };
    default: {
      const at = random.pick<CrashPoint>(["before", "in", "after"]);
      return {
        line: `a process crashes ${CRASHES[at]} the next call of a handler`,
        happen: (play) => play.crash = at,
      };
    }
  }
}

const DAY_MS = 86_400_000;
const BEGIN_MS = Date.UTC(2026, 0, 1);
/** After a crash a process is there again when the leases have run out. */
const RESTART_MS = 40_000;
/** When all is healed: every look at what became final lately is over. */
const QUIET_MS = [60_000, 12 * 60_000, 70 * 60_000];

/** Most histories that are played to find a shorter one. */
const MOST_TRIES = 150;

/** Runs number through all calls: no id of one is used in another. */
let runs = 0;

/**
 * Plays histories until one breaks a guarantee or all have held.
 *
 * @throws {ChaosError} For the first that breaks one.
 * @throws {RangeError} When nothing would be played.
 */
export async function runChaos(
  on: Handlers,
  { seeds = 100, firstSeed = 1, effects }: ChaosOptions,
): Promise<ChaosReport> {
  if (!(Number.isInteger(seeds) && seeds > 0)) {
    throw new RangeError(
      `Cannot play chaos: seeds is ${seeds}; use a whole number from 1 on`,
    );
  }
  let steps = 0;
  let shipped = 0;
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const play = async (history: readonly Step[]) => {
      // Ids begin with the time.
      const world = await openWorld(seed, BEGIN_MS + ++runs * DAY_MS);
      try {
        const run = `${seed}-${runs}`;
        return await new Play(world, { on, effects, run }).all(history);
      } finally {
        await world.close();
      }
    };
    const history = drawHistory(new Random(seed).fork("history"));
    const played = await play(history);
    if (typeof played !== "number") {
      const shortest = await shorten(history, played, play);
      const lines = shortest.history.map(({ line }) => line);
      throw new ChaosError(shortest.broken, seed, lines);
    }
    shipped += played;
    steps += history.length;
  }
  return { seeds, steps, shipped };
}

/**
 * Leaves out steps without which it still breaks: halves first, then single
 * ones.
 */
async function shorten(
  history: readonly Step[],
  broken: Broken,
  play: (history: readonly Step[]) => Promise<number | Broken>,
): Promise<{ readonly history: readonly Step[]; readonly broken: Broken }> {
  let found = { history, broken };
  let tries = 0;
  for (let size = Math.ceil(history.length / 2); size >= 1;) {
    let left = false;
    for (let at = 0; at < found.history.length && tries < MOST_TRIES;) {
      tries++;
      const shorter = found.history.toSpliced(at, size);
      const again = await play(shorter);
      if (typeof again !== "number" && again.guarantee === broken.guarantee) {
        found = { history: shorter, broken: again };
        left = true;
      } else at += size;
    }
    if (tries >= MOST_TRIES || size === 1 && !left) break;
    size = Math.ceil(size / 2);
  }
  return found;
}

/** What is played, and with whom. */
interface PlayOptions extends Pick<ChaosOptions, "effects"> {
  readonly on: Handlers;
  /** Makes the references of this run others than those of all before. */
  readonly run: string;
}

/**
 * A history with two processes on one ledger: everything that is shipped is
 * checked, and at the end what is missing.
 */
class Play {
  readonly world: World;
  crash: CrashPoint | null = null;
  readonly #options: PlayOptions;
  /** What was sold, by the number of the basket. */
  readonly #sales = new Map<number, SaleName & { reference: string }>();
  /** Orders that only strangers named. */
  readonly forged = new Map<string, number>();
  /** Baskets that were shipped by the last look. */
  readonly #seen = new Set<number>();
  #broken: Broken | null = null;
  /** One call of a handler at a time, so that what it shipped is known. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(world: World, options: PlayOptions) {
    this.world = world;
    this.#options = options;
  }

  /** How many purchases were shipped, or what broke. */
  async all(steps: readonly Step[]): Promise<number | Broken> {
    const { sandbox } = this.world;
    await this.#start();
    for (const { happen } of steps) {
      await happen(this);
      if (this.#broken !== null) return this.#broken;
    }
    // Heals everything, and waits until nothing is under way.
    this.crash = null;
    sandbox.heal();
    sandbox.enableDelivery();
    for (const ms of QUIET_MS) {
      await this.wait(ms);
      if (this.#broken !== null) return this.#broken;
    }
    await this.#turn;
    await this.#look();
    const shipped = await this.#shipped();
    for (const [basket, sale] of this.#sales) {
      const paid = this.ordersOf(sale).filter(wasPaid);
      const isTakenBack = paid.some(({ status }) => status !== "success");
      if (paid.length === 0 || isTakenBack || shipped.has(basket)) continue;
      this.#breaks(
        "paid_is_shipped",
        basket,
        "was paid as asked, and is not shipped",
      );
    }
    return this.#broken ?? shipped.size;
  }

  async sell(basket: number): Promise<void> {
    await this.#restart();
    const sale = await this.world.alive()[0]?.onramp.sell({
      reference: `basket-${basket}-of-${this.#options.run}`,
      currency: "USD",
      amount: PRICE,
      asset: "ETH",
      network: "sepolia",
    });
    if (sale !== undefined) this.#sales.set(basket, sale);
  }

  async deal(basket: number, act: Deal): Promise<void> {
    const sale = this.#sales.get(basket);
    // Without its sale, which shortening may have left out, nothing happens.
    if (sale === undefined) return;
    await act(sale, customers(this.world.sandbox), this);
  }

  async wait(ms: number): Promise<void> {
    await this.world.clock.advance(ms);
    await this.#restart();
    await this.world.work(ms);
  }

  /** Starts again what has crashed. */
  async #restart(): Promise<void> {
    if (this.world.alive().length === 2) return;
    await this.world.clock.advance(RESTART_MS);
    await this.#start();
  }

  async #start(): Promise<void> {
    while (this.world.alive().length < 2) {
      await this.world.start({
        on: (self) =>
          Object.fromEntries(
            Object.entries(this.#options.on).map(([pattern, handler]) => [
              pattern,
              this.#called(handler as Handler, self),
            ]),
          ),
        onProblem: () => {},
      });
    }
  }

  /** The partner's handler, called by a process that may crash. */
  #called(handler: Handler, self: Mortal): Handler {
    return async (transition, context) => {
      if (self.isDead()) throw crashed();
      const { crash } = this;
      this.crash = null;
      if (crash === "before" || crash === "in") self.kill();
      if (crash === "before") throw crashed();
      const call = this.#turn.then(async () => {
        await this.#look();
        await handler(transition, context);
        await this.#look(transition.id, context.release);
      });
      this.#turn = call.catch(() => {});
      if (crash === "in") throw crashed();
      try {
        await call;
      } finally {
        if (crash === "after") self.kill();
      }
    };
  }

  /** Checks what was shipped since the last look, by a call for an order. */
  async #look(id?: string, release?: unknown): Promise<void> {
    for (const [basket, times] of await this.#shipped()) {
      const sale = this.#sales.get(basket);
      if (sale === undefined) continue;
      const orders = this.ordersOf(sale);
      const isNew = !this.#seen.has(basket);
      this.#seen.add(basket);
      if (times > 1) {
        this.#breaks("shipped_once", basket, `is shipped ${times} times`);
      } else if (isNew && !orders.some(wasPaid)) {
        this.#breaks("never_unpaid", basket, "is shipped, and nobody paid");
      } else if (
        isNew && release !== "yes" &&
        orders.some(({ orderId }) => orderId === id)
      ) {
        this.#breaks(
          "never_unpaid",
          basket,
          `is shipped although release is ${release}`,
        );
      }
    }
  }

  #breaks(guarantee: Guarantee, basket: number, how: string): void {
    this.#broken ??= { guarantee, message: `Basket ${basket} ${how}` };
  }

  /** How often each basket was shipped, by what the partner says. */
  async #shipped(): Promise<ReadonlyMap<number, number>> {
    const names = new Map<string, number>(this.forged);
    for (const [basket, sale] of this.#sales) {
      names.set(sale.reference, basket).set(sale.clickId, basket);
      for (const { orderId } of this.ordersOf(sale)) {
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

  ordersOf({ clickId }: SaleName): readonly SandboxOrder[] {
    return this.world.sandbox.orders()
      .filter((order) => order.clickId === clickId);
  }
}

/** Whether it was paid as asked, also where that was taken back. */
function wasPaid({ currencyAmount, history }: SandboxOrder): boolean {
  return Number(currencyAmount) === Number(PRICE) &&
    history.some(({ status }) => status === "success");
}
