import type { MonthSummary } from "../../ledger/internals.ts";
import type { Ledger } from "../../ledger/mod.ts";

/** A page waits at most this long for the books of an open month, ms. */
const PATIENCE_MS = 10_000;

/** Older than this they are worked out again, ms. */
const OLD_MS = 60_000;

/**
 * The books of open months, one at a time: working them out walks over every
 * order of the ledger.
 */
export class OpenBooks {
  readonly #ledger: Ledger;
  readonly #now: () => number;
  readonly #patienceMs: number;
  #last: { readonly summary: MonthSummary; readonly atMs: number } | null =
    null;
  #working: Promise<unknown> = Promise.resolve();

  /**
   * Works nothing out until asked.
   *
   * @param now Clock, ms since the epoch.
   */
  constructor(
    ledger: Ledger,
    now: () => number,
    patienceMs: number = PATIENCE_MS,
  ) {
    this.#ledger = ledger;
    this.#now = now;
    this.#patienceMs = patienceMs;
  }

  /** The books of a month now; null where that takes too long for a page. */
  of(month: string): Promise<MonthSummary | null> {
    const books = this.#working.then(() => this.#of(month));
    this.#working = books.catch(() => {});
    return books;
  }

  /** Waits for what is under way. */
  async settled(): Promise<void> {
    await this.#working;
  }

  async #of(month: string): Promise<MonthSummary | null> {
    const last = this.#last;
    if (
      last?.summary.month === month && this.#now() - last.atMs < OLD_MS
    ) return last.summary;
    const signal = AbortSignal.timeout(this.#patienceMs);
    try {
      const summary = await this.#ledger.months.preview(month, { signal });
      this.#last = { summary, atMs: this.#now() };
      return summary;
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
  }
}
