import type { Sandbox, VirtualClock } from "../sandbox/mod.ts";
import type { Handlers } from "../server/start/handlers.ts";
import type { Onramp, PageSessions } from "../server/start/onramp.ts";
import type { Problem } from "../server/alarms/alarm_message.ts";
import type { Sale, SaleInput } from "../server/start/sale.ts";
import { type ChaosOptions, type ChaosReport, runChaos } from "./chaos.ts";
import { type Customers, customers } from "./customers.ts";
import { openWorld } from "./world.ts";

/** How a shop in memory is set up. */
export interface TestShopOptions {
  /** Your handlers, as `startOnramp` takes them. @default {none} */
  readonly on?: Handlers;
  /** Who may ask for sessions, as `startOnramp` takes it. @default {nobody} */
  readonly sessions?: PageSessions<unknown>;
  /** Decides ids, and all amounts that you leave open. @default {1} */
  readonly seed?: number;
  /** When it opens, UTC ISO 8601. @default {"2026-01-01T00:00:00Z"} */
  readonly startAt?: string;
}

/** A shop in memory: your handlers, the sandbox, and a clock moved by hand. */
export interface TestShop extends Customers, Omit<Onramp, "sell" | "listen"> {
  /** Sells, as `startOnramp` does; what you leave open costs 50 USD. */
  readonly sell: (sale?: Partial<SaleInput>) => Promise<Sale>;
  /**
   * Lets webhooks arrive, asks the service and calls your handlers, until all is
   * quiet. A minute of the shop's time passes.
   */
  readonly settle: () => Promise<void>;
  /** The same after this much of the shop's time, in ms. */
  readonly advance: (ms: number) => Promise<void>;
  /**
   * Runs your handlers through what may happen, again and again: webhooks
   * twice, out of order and lost, crashes before, in and after a handler, two
   * processes, forged webhooks, short payments and claw-backs; and compares what
   * was shipped with what was paid.
   *
   * @throws {ChaosError} When a guarantee broke: with the seed, and the shortest
   * history that was found.
   */
  readonly chaos: (options: ChaosOptions) => Promise<ChaosReport>;
  /** What went wrong so far. */
  readonly problems: readonly Problem[];
  /** The service. */
  readonly sandbox: Sandbox;
  /** The time. */
  readonly clock: VirtualClock;
}

const MINUTE_MS = 60_000;

/**
 * Opens a shop in memory, to test your handlers in milliseconds: nothing waits,
 * and nothing leaves the process.
 *
 * @param options Your handlers; seed and time.
 * @returns The shop; close it at the end.
 *
 * @example A sale that was paid is shipped once, one that was paid short is not
 * ```ts
 * import { testShop } from "@rampkit/onramp/testing";
 * import assert from "node:assert/strict";
 *
 * const shipped = new Set<string | null>();
 * await using shop = await testShop({
 *   on: {
 *     "order.release.yes": (_, { reference, release }) => {
 *       if (release === "yes") shipped.add(reference);
 *     },
 *   },
 * });
 * const paid = await shop.sell({ reference: "basket-17", amount: "49.90" });
 * const short = await shop.sell({ reference: "basket-18", amount: "49.90" });
 * await shop.pay(paid);
 * await shop.pay(short, { amount: "4.99" });
 * await shop.settle();
 * assert.deepEqual([...shipped], ["basket-17"]);
 * ```
 */
export async function testShop(
  options: TestShopOptions = {},
): Promise<TestShop> {
  const { seed = 1, startAt = "2026-01-01T00:00:00Z", on = {} } = options;
  const problems: Problem[] = [];
  const { sandbox, clock, start, work, close } = await openWorld(
    seed,
    Date.parse(startAt),
  );
  const { sessions } = options;
  const { onramp } = await start({
    on: () => on,
    sessions,
    onProblem: (problem) => void problems.push(problem),
  });
  const advance = async (ms: number) => {
    await clock.advance(ms);
    await work(ms);
  };
  let sold = 0;
  return {
    ...onramp,
    ...customers(sandbox),
    sell: (sale = {}) =>
      onramp.sell({ reference: `basket-${++sold}`, ...usual(sale), ...sale }),
    settle: () => advance(MINUTE_MS),
    chaos: (chaos) => runChaos(on, chaos),
    ...{ advance, problems, sandbox, clock, close },
    [Symbol.asyncDispose]: close,
  };
}

/** What a sale costs where it does not say so. */
function usual(sale: Partial<SaleInput>): Partial<SaleInput> {
  return {
    ...sale.assetAmount === undefined && { currency: "USD", amount: "50" },
    ...sale.asset === undefined && { asset: "ETH", network: "sepolia" },
  };
}
