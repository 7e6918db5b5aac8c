import { sleep } from "../../../core/waiting/sleep.ts";
import type { Ledger, MonthPreview } from "../../../ledger/mod.ts";
import {
  type BooksDigest,
  booksDigest,
} from "../../../resources/months/books_digest.ts";

/** A page waits at most this long for the books of an open month, ms. */
const PATIENCE_MS = 2_000;

/** Books older than this are computed again, ms. */
const OLD_MS = 60_000;

/** At most this part of the time is spent on it. */
const SHARE = 1 / 20;

/** Months whose books are remembered. */
const REMEMBERED = 24;

/** The books of an open month, as they were at some time. */
export interface WorkedOut {
  readonly books: BooksDigest;
  /** When that was begun, ms since the epoch. */
  readonly atMs: number;
}

/** The books of an open month, as far as they are known. */
export interface OpenMonth {
  /** What was worked out last; null before the first time. */
  readonly last: WorkedOut | null;
  /** Orders that were read so far where it is worked out now; else null. */
  readonly underWay: number | null;
}

/** A month that is worked out. */
interface Work {
  orders: number;
  readonly done: Promise<void>;
}

/**
 * The books of open months. Computing them reads every order of the ledger,
 * which may take minutes: it is done in the background, one month at a time,
 * and the result is remembered.
 */
export class OpenBooks {
  readonly #ledger: Ledger;
  readonly #now: () => number;
  readonly #patienceMs: number;
  readonly #stop = new AbortController();
  readonly #last = new Map<string, WorkedOut & { readonly tookMs: number }>();
  readonly #works = new Map<string, Work>();
  readonly #whole = new Map<string, Promise<MonthPreview>>();
  #queue: Promise<void> = Promise.resolve();

  /** Works nothing out until asked. */
  constructor(
    ledger: Ledger,
    now: () => number,
    patienceMs: number = PATIENCE_MS,
  ) {
    this.#ledger = ledger;
    this.#now = now;
    this.#patienceMs = patienceMs;
  }

  /** The books of a month, as they are now if that is soon known. */
  async of(month: string): Promise<OpenMonth> {
    if (!this.#isFresh(month)) {
      const { done } = this.#works.get(month) ?? this.#begin(month);
      const waited = new AbortController();
      const late = sleep(this.#patienceMs, waited.signal).catch(() => {});
      try {
        await Promise.race([done, late]);
      } finally {
        waited.abort();
      }
    }
    return {
      last: this.#last.get(month) ?? null,
      underWay: this.#works.get(month)?.orders ?? null,
    };
  }

  /**
   * The books of a month with all of their rows, for its files, once they are
   * worked out; they are not remembered.
   */
  whole(month: string): Promise<MonthPreview> {
    let whole = this.#whole.get(month);
    if (whole === undefined) {
      const done = this.#queue.then(() => this.#preview(month, () => {}));
      whole = done.finally(() => this.#whole.delete(month));
      this.#whole.set(month, whole);
      this.#queue = done.then(() => {}, () => {});
    }
    return whole;
  }

  /** What is known of a month, at once; it is worked out if that is old. */
  latest(month: string): WorkedOut | null {
    if (!this.#isFresh(month) && !this.#works.has(month)) {
      // A page that asks for it shows what fails.
      this.#begin(month).done.catch(() => {});
    }
    return this.#last.get(month) ?? null;
  }

  /** Forgets what was computed, because a month was closed. */
  forget(): void {
    this.#last.clear();
  }

  /** Ends what is under way, so that the ledger can be closed. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#queue;
  }

  #isFresh(month: string): boolean {
    const last = this.#last.get(month);
    if (last === undefined) return false;
    const oldMs = Math.max(OLD_MS, last.tookMs / SHARE);
    return Math.abs(this.#now() - last.atMs) < oldMs;
  }

  #begin(month: string): Work {
    const done = this.#queue.then(() => this.#workOut(month)).finally(() => {
      this.#works.delete(month);
    });
    const work: Work = { orders: 0, done };
    this.#works.set(month, work);
    // The callers that wait for it get the error.
    this.#queue = done.catch(() => {});
    return work;
  }

  async #workOut(month: string): Promise<void> {
    const work = this.#works.get(month);
    const atMs = this.#now();
    const preview = await this.#preview(month, (orders) => {
      if (work !== undefined) work.orders = orders;
    });
    const tookMs = Math.abs(this.#now() - atMs);
    this.#last.delete(month);
    this.#last.set(month, { books: booksDigest(preview), atMs, tookMs });
    const [oldest = month] = this.#last.keys();
    if (this.#last.size > REMEMBERED) this.#last.delete(oldest);
  }

  async #preview(
    month: string,
    onProgress: (orders: number) => void,
  ): Promise<MonthPreview> {
    const { signal } = this.#stop;
    signal.throwIfAborted();
    return await this.#ledger.months.preview(month, { signal, onProgress });
  }
}
