import type { AppendDelivery } from "../webhooks/delivery.ts";
import { messageOf } from "./logger.ts";

/**
 * How long a refused append counts when none was made since, ms. While
 * deliveries wait in the spool one is made every few seconds; without any, a
 * service that is kept away by `/readyz` could never show that all is well.
 */
const COUNTS_MS = 60_000;

/**
 * Remembers whether the ledger takes deliveries. A write that only probes may
 * still fit on a disk that is too full for a delivery.
 */
export class AppendWatch {
  readonly #now: () => number;
  #refused: { readonly why: string; readonly atMs: number } | null = null;

  /** Goes by a clock of milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Why the latest append failed; null when it did not, or long ago. */
  get problem(): string | null {
    if (this.#refused === null) return null;
    const { why, atMs } = this.#refused;
    return this.#now() - atMs < COUNTS_MS ? why : null;
  }

  /** The same append, watched. */
  watching(append: AppendDelivery): AppendDelivery {
    return async (delivery) => {
      try {
        await append(delivery);
        this.#refused = null;
      } catch (error) {
        this.#refused = { why: messageOf(error), atMs: this.#now() };
        throw error;
      }
    };
  }
}
