import type { SandboxClock } from "./clock.ts";
import type { SandboxCounters } from "./counters.ts";
import { Dice } from "./_dice.ts";
import { Maker } from "./_maker.ts";
import { noCounts } from "./_no_counts.ts";
import { OrderBook } from "./_order_book.ts";
import { OrderDesk } from "./_order_desk.ts";
import { Random } from "./_random.ts";
import type { SandboxOptions } from "./sandbox_options.ts";
import { WebhookSender } from "./_sender.ts";
import { Teller } from "./_teller.ts";
import { UserBook } from "./_user_book.ts";
import { UserDesk } from "./_user_desk.ts";

/** What a sandbox works with. */
export interface Works {
  readonly random: Random;
  readonly dice: Dice;
  readonly counters: SandboxCounters;
  readonly maker: Maker;
  readonly sender: WebhookSender;
  readonly teller: Teller;
  readonly orders: OrderBook;
  readonly users: UserBook;
  readonly orderDesk: OrderDesk;
  readonly userDesk: UserDesk;
}

/** What of a sandbox is settled before its works are put together. */
export interface Settled {
  readonly seed: number;
  readonly assets: "production" | "sandbox";
  readonly clock: SandboxClock;
  /** The service's own time. */
  readonly now: () => number;
}

/** Puts together what a sandbox works with; everything draws from the seed. */
export function assemble(
  options: SandboxOptions,
  { seed, assets, clock, now }: Settled,
): Works {
  const random = new Random(seed);
  const counters = noCounts();
  const dice = new Dice(random.fork("faults"));
  dice.set(options.faults ?? {});
  const maker = new Maker(random, assets);
  const sender = new WebhookSender({
    clock,
    dice,
    counters,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    webhookUrl: options.webhookUrl ?? null,
    disableRule: options.disableRule ?? "ladder_from_previous",
    logLimit: options.logLimit ?? 100_000,
  });
  const teller = new Teller({
    sender,
    dice,
    counters,
    maker,
    cancelSpelling: options.cancelSpelling ?? "order_cancelled",
    now,
  });
  const orders = new OrderBook();
  const users = new UserBook();
  const userDesk = new UserDesk({ users, maker, teller });
  const orderDesk = new OrderDesk({
    orders,
    users: userDesk,
    maker,
    teller,
    dice,
    counters,
  });
  return {
    random,
    dice,
    counters,
    maker,
    sender,
    teller,
    orders,
    users,
    orderDesk,
    userDesk,
  };
}
