import { sleep } from "../../core/waiting/sleep.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { readLastSeq } from "../../ledger/for_resources.ts";

/** Interval between two looks for more, while somebody waits, ms. */
const LOOK_EVERY_MS = 250;

/** A waiting caller. */
interface Waiter {
  readonly after: number;
  readonly resolve: () => void;
}

/**
 * Signals when transitions are added, by whichever process. One query at a time
 * looks for all who wait; while nobody waits, none runs.
 */
export class TransitionFeed {
  readonly #ledger: Ledger;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #waiting = new Set<Waiter>();
  #looking: Promise<void> | null = null;

  /** @param wait Waits. @default {the runtime's timer} */
  constructor(ledger: Ledger, wait: (ms: number) => Promise<void> = sleep) {
    this.#ledger = ledger;
    this.#sleep = wait;
  }

  /** `seq` of the last transition; 0 before the first. */
  last(): Promise<number> {
    return readLastSeq(this.#ledger.driver);
  }

  /** Waits until there is a transition after this one. */
  async waitFor(
    after: number,
    ms: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (signal.aborted || ms <= 0) return false;
    const added = Promise.withResolvers<boolean>();
    const waiter = { after, resolve: () => added.resolve(true) };
    const giveUp = () => added.resolve(false);
    const timer = setTimeout(giveUp, ms);
    signal.addEventListener("abort", giveUp, { once: true });
    this.#waiting.add(waiter);
    this.#looking ??= this.#look();
    try {
      return await added.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      this.#waiting.delete(waiter);
    }
  }

  /** Resolves when no query is under way; afterwards nobody may wait. */
  async stop(): Promise<void> {
    await this.#looking;
  }

  async #look(): Promise<void> {
    while (this.#waiting.size > 0) {
      try {
        const last = await this.last();
        for (const waiter of this.#waiting) {
          if (waiter.after < last) waiter.resolve();
        }
      } catch {
        // A client that waits asks again in the end, and gets the error.
      }
      await this.#sleep(LOOK_EVERY_MS);
    }
    this.#looking = null;
  }
}
