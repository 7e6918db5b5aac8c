import type { OnrampClient } from "../../client/mod.ts";
import type { AttentionKind, Ledger } from "../../ledger/mod.ts";
import { countWaiting } from "../../resources/health/waiting_counts.ts";
import type { OrderInput } from "../../sandbox/mod.ts";
import { sell } from "../../server/start/sale.ts";

/** What became of what the demo sold. */
export interface DemoShop {
  /** Baskets that were sold. */
  readonly sold: number;
  /** Baskets that were shipped. */
  readonly shipped: number;
  /** Baskets that were shipped more than once. Always 0. */
  readonly shippedTwice: number;
  /** Orders that wait for a person, by why. */
  readonly waiting: readonly {
    readonly kind: AttentionKind;
    readonly count: number;
  }[];
}

/** What each basket costs, and what a customer who pays short pays. */
const PRICE = "49.90";
const SHORT = "4.99";

/** Of so many customers one pays short, and one pays the basket before again. */
const SHORT_EVERY = 7;
const TWICE_EVERY = 5;

/** Sells baskets by recorded sessions, and ships each on its release. */
export class Shop {
  readonly #ledger: Ledger;
  readonly #sessions: OnrampClient["sessions"];
  readonly #shipped = new Map<string, Set<string>>();
  #customers = 0;
  #sold = 0;

  constructor(ledger: Ledger, { sessions }: Pick<OnrampClient, "sessions">) {
    this.#ledger = ledger;
    this.#sessions = sessions;
  }

  /** Sells to the next customer; what the order of it is to have. */
  async sells(): Promise<OrderInput> {
    const customer = ++this.#customers;
    if (customer % TWICE_EVERY !== 0) this.#sold++;
    const { clickId, sessionId } = await sell(
      { ledger: this.#ledger, sessions: this.#sessions },
      {
        reference: `basket-${this.#sold}`,
        ...{ currency: "USD", amount: PRICE },
        ...{ asset: "ETH", network: "sepolia" },
      },
    );
    const isShort = customer % SHORT_EVERY === 0;
    return {
      ...{ clickId, sessionId },
      ...isShort ? { currency: "USD", currencyAmount: SHORT } : {},
    };
  }

  /** Ships what was released since it was last called. */
  async ship(): Promise<void> {
    const shipping = await this.#ledger.subscribe(
      "demo",
      { on: "order.release.yes", from: "start", start: false },
      ({ key }, { reference }) => {
        if (reference === null) return;
        // A repeat has the key of the first call.
        const keys = this.#shipped.get(reference) ?? new Set();
        this.#shipped.set(reference, keys.add(key));
      },
    );
    try {
      while ((await shipping.dispatch()).delivered > 0);
    } finally {
      await shipping.stop();
    }
  }

  /** The baskets that were shipped. */
  get shipped(): readonly string[] {
    return [...this.#shipped.keys()];
  }

  /** What became of all of it. */
  async report(): Promise<DemoShop> {
    const { size } = this.#shipped;
    return {
      sold: this.#sold,
      shipped: size,
      shippedTwice: [...this.#shipped.values()].filter((keys) => keys.size > 1)
        .length,
      waiting: await countWaiting(this.#ledger, Date.now()),
    };
  }
}
