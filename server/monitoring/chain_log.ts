import type { ChainState } from "../../ledger/for_server.ts";
import { describeChainBreak } from "../../resources/wording/damage_reason.ts";
import { Alarm } from "./alarm.ts";
import type { Log } from "./logger.ts";

const HOUR_MS = 3_600_000;

/** What the log of the chain works with. */
export interface ChainLogOptions {
  /** Where lines go. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** A clock that never jumps, ms. @default performance.now */
  readonly steady?: () => number;
}

/**
 * Writes the head of the evidence chain to the log at the start and hourly, so
 * that a copy is kept outside the database, and says once that it is broken.
 */
export class ChainLog {
  readonly #log: Log;
  readonly #steady: () => number;
  readonly #broken: Alarm;
  #loggedAt = -Infinity;

  /** Writes nothing yet. */
  constructor({ log, now, steady }: ChainLogOptions) {
    this.#log = log;
    this.#steady = steady ?? (() => performance.now());
    this.#broken = new Alarm(log, "chain_broken", now);
  }

  /** Takes in how far the chain is. Costs nothing between two lines. */
  take({ position, events, hash, broken }: ChainState): void {
    if (broken !== null) {
      return this.#broken.raise({ message: describeChainBreak(broken) });
    }
    this.#broken.clear();
    const now = this.#steady();
    if (events === 0 || now - this.#loggedAt < HOUR_MS) return;
    this.#loggedAt = now;
    this.#log("info", "chain_head", { events, position, hash });
  }
}
