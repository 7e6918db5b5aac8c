import type { Ledger } from "../../../ledger/mod.ts";
import type { Sandbox } from "../../../sandbox/mod.ts";
import { type BoardView, type OrderCard, orderCard } from "./board_view.ts";
import type { DemoClock } from "./demo_clock.ts";

/** Orders shown; the page of a demo needs no second page. */
const MOST_ORDERS = 12;

/** What the board is made from. */
export interface BoardParts {
  /** The ledger that is shown. */
  readonly ledger: Ledger;
  /** The service, for the truth beside it. */
  readonly sandbox: Sandbox;
  /** The clock that is shown. */
  readonly clock: DemoClock;
}

/** Holds the page's data, and sends it to every open page. */
export class Board {
  readonly #parts: BoardParts;
  readonly #released = new Map<string, number>();
  readonly #forged = new Set<string>();
  readonly #ended = new AbortController();
  #seen = "";
  #view: Omit<BoardView, "clock"> | null = null;
  #changed: PromiseWithResolvers<void> = Promise.withResolvers();

  /** Starts empty. */
  constructor(parts: BoardParts) {
    this.#parts = parts;
  }

  /** Remembers that the goods of an order were released, once more. */
  release(orderId: string): void {
    this.#released.set(orderId, (this.#released.get(orderId) ?? 0) + 1);
  }

  /** Remembers that an event is the forger's. */
  markForged(eventId: string): void {
    this.#forged.add(eventId);
  }

  /**
   * Reads the ledger again, and notifies every open page of changes.
   *
   * @param position How far the ledger is folded.
   */
  async refresh(position: number): Promise<void> {
    const { ledger, sandbox, clock } = this.#parts;
    const seen = JSON.stringify([
      position,
      clock.isLeaping,
      [...this.#released],
      sandbox.orders().map(({ status }) => status),
    ]);
    if (seen === this.#seen) return;
    const { chain } = await ledger.stats();
    this.#view = {
      ledger: { events: chain.count, hash: chain.hash },
      orders: await this.#orders(),
    };
    this.#seen = seen;
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }

  /**
   * What the page shows: the latest at once, then each newer one, until the
   * reader leaves or the demo ends.
   */
  async *follow(left: AbortSignal): AsyncGenerator<BoardView> {
    const over = AbortSignal.any([left, this.#ended.signal]);
    const ended = Promise.withResolvers<void>();
    over.addEventListener("abort", () => ended.resolve(), { once: true });
    while (!over.aborted) {
      const { promise } = this.#changed;
      if (this.#view !== null) yield { clock: this.#clock(), ...this.#view };
      if (over.aborted) return;
      await Promise.race([promise, ended.promise]);
    }
  }

  /** Ends every {@linkcode Board.follow}. */
  end(): void {
    this.#ended.abort();
  }

  #clock(): BoardView["clock"] {
    const { clock } = this.#parts;
    return { nowMs: clock.now(), factor: clock.clock.factor };
  }

  async #orders(): Promise<OrderCard[]> {
    const { ledger, sandbox } = this.#parts;
    const { orders } = await ledger.orders.page({ limit: MOST_ORDERS });
    const cards: OrderCard[] = [];
    for (const { orderId } of orders) {
      const explanation = await ledger.explain(orderId);
      if (explanation === null) continue;
      cards.push(orderCard(explanation, {
        atService: sandbox.order(orderId)?.status ?? null,
        released: this.#released.get(orderId) ?? 0,
        nowMs: this.#parts.clock.now(),
        forged: this.#forged,
      }));
    }
    return cards;
  }
}
