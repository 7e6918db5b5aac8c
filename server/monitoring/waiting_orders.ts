import { sleep } from "../../core/waiting/waiting.ts";
import { outcomeNow, readLastSeq } from "../../ledger/for_resources.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { nextStep } from "../../resources/views/order_view.ts";
import { waitingWords } from "../../resources/wording/outcome.ts";
import type { Log } from "./logger.ts";

/** What {@linkcode WaitingOrders} work with. */
export interface WaitingOrdersParts {
  /** Whose orders wait. */
  readonly ledger: Pick<Ledger, "driver" | "transitions" | "orders">;
  /** Where each is told. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
}

/** Time between two looks, ms. */
const REST_MS = 1000;
/** Transitions read at once. */
const READ = 1000;
/** Orders told one by one of a look; those beyond are counted. */
const TOLD = 20;
/** Orders whose end is told as well. */
const REMEMBERED = 500;
/** Looks after which those are looked at again: a person may have settled one. */
const AGAIN = 30;

/**
 * Tells of each order that a person has to see about as soon as the ledger
 * learns it, and once more when it is settled. What waited before it began, and
 * what only time makes wait, is for the look at everything.
 */
export class WaitingOrders {
  readonly #parts: WaitingOrdersParts;
  readonly #told = new Map<string, string>();
  #after: number | null = null;
  #looks = 0;

  /** Tells nothing yet. */
  constructor(parts: WaitingOrdersParts) {
    this.#parts = parts;
  }

  /** Looks again and again until it is stopped. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // What is wrong with the database is reported elsewhere.
      await this.look().catch(() => {});
      await sleep(REST_MS, signal).catch(() => {});
    }
  }

  /** Tells what is new since the look before; the first one only begins. */
  async look(): Promise<void> {
    const { ledger } = this.#parts;
    if (this.#after === null) {
      this.#after = await readLastSeq(ledger.driver);
      return;
    }
    const moved = await ledger.transitions({
      after: this.#after,
      limit: READ,
    });
    const ids = new Set<string>();
    for (const { entity, machine, trust, live, id } of moved) {
      const isOf = entity === "order" &&
        (machine !== "order" || trust === "confirmed");
      if (isOf && live) ids.add(id);
    }
    if (this.#looks++ % AGAIN === 0) {
      for (const id of this.#told.keys()) ids.add(id);
    }
    let waiting = 0;
    for (const id of ids) {
      if (await this.#lookAt(id, waiting < TOLD)) waiting++;
    }
    if (waiting > TOLD) {
      this.#parts.log("warn", "order_waits", {
        message: `${waiting - TOLD} more orders wait for a person`,
        advice: "See them, and what to do about each: rampkit attention",
      });
    }
    this.#after = moved.at(-1)?.seq ?? this.#after;
  }

  /** Tells of one order, and returns whether it waits for a new reason. */
  async #lookAt(id: string, tells: boolean): Promise<boolean> {
    const { ledger, log, now } = this.#parts;
    const order = await ledger.orders.get(id);
    if (order === null) return false;
    const nowMs = now();
    const outcome = outcomeNow(order, nowMs);
    const kind = outcome.attention
      .find((one) => one !== "forged_or_unknown");
    const before = this.#told.get(id);
    if (kind === before) return false;
    const reference = order.expected?.reference ?? null;
    const which = { orderId: id, name: id, reference };
    if (kind === undefined) {
      this.#told.delete(id);
      log("info", "order_waits_no_more", {
        ...which,
        message: `Order ${id} waits for a person no more`,
      });
      return false;
    }
    if (this.#told.size < REMEMBERED) this.#told.set(id, kind);
    if (!tells) return true;
    log("warn", "order_waits", {
      ...which,
      kind,
      message: `Order ${id} waits for a person: ` +
        [waitingWords(order, kind), reference].filter(Boolean).join(", "),
      advice: nextStep({ order, outcome }),
    });
    return true;
  }
}
