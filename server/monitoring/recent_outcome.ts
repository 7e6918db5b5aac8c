/**
 * How long an outcome counts, ms. While deliveries wait in the spool an append
 * is tried every few seconds. Without any, `/readyz` may keep the service away,
 * and no later append could show that the ledger works again.
 */
const COUNTS_MS = 60_000;

/**
 * Remembers how the latest write ended. A small probe may still fit on a disk
 * that is too full for a delivery.
 */
export class RecentOutcome {
  readonly #now: () => number;
  #latest: { readonly error: unknown; readonly atMs: number } | null = null;

  /** Uses a clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Why the latest write failed; null when it did not, or was long ago. */
  get problem(): unknown {
    const latest = this.#latest;
    return latest === null || this.#now() - latest.atMs >= COUNTS_MS
      ? null
      : latest.error;
  }

  /** Waits for a write, and remembers how it ended. */
  async of<Result>(write: Promise<Result>): Promise<Result> {
    try {
      const result = await write;
      this.#latest = { error: null, atMs: this.#now() };
      return result;
    } catch (error) {
      this.#latest = { error, atMs: this.#now() };
      throw error;
    }
  }
}
