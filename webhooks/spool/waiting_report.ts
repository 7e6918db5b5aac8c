/** Shortest time between two reports of what waits. */
const REPORT_MS = 2_000;
/** Without anything that waits, that is said again after this time. */
const NOTHING_MS = 120_000;

/** What a spool keeps that the ledger does not have yet. */
export interface Waiting {
  /** Records. */
  readonly count: number;
  /** When the oldest of them was received, ms since 1970. */
  readonly oldestMs: number;
}

/**
 * Reports to other processes what waits in a spool; null when nothing does. It
 * may fail; the previous report then stands.
 */
export type ReportWaiting = (waiting: Waiting | null) => Promise<void>;

/** Reports what waits in a spool, not too often. */
export class WaitingReport {
  readonly #report: ReportWaiting | undefined;
  readonly #now: () => number;
  /** An earlier process may have reported. */
  #isReported = true;
  #reportedMs = -Infinity;
  #nothingMs = -Infinity;
  /** Whether no later report follows: it is due then. */
  isLast = false;

  constructor(report: ReportWaiting | undefined, now: () => number) {
    this.#report = report;
    this.#now = now;
  }

  /** Reports at the next occasion: more has changed than what waits. */
  hurry(): void {
    this.#isReported = true;
    this.#reportedMs = -Infinity;
  }

  /** Whether it is time to report what waits. */
  get isDue(): boolean {
    if (this.#report === undefined) return false;
    return this.isLast || this.#isPast(this.#reportedMs, REPORT_MS);
  }

  /** Reports what waits, if anything does. */
  async some(read: () => Waiting | null): Promise<void> {
    this.#reportedMs = this.#now();
    this.#isReported = true;
    try {
      const waiting = read();
      if (waiting !== null) await this.#report?.(waiting);
    } catch {
      // The report before stands; moving says what is wrong with ledger or disk.
    }
  }

  /** Reports that nothing waits, where something else may have been reported. */
  async nothing(): Promise<void> {
    if (this.#report === undefined) return;
    if (!this.#isReported && !this.#isPast(this.#nothingMs, NOTHING_MS)) return;
    this.#nothingMs = this.#now();
    try {
      await this.#report(null);
      this.#isReported = false;
    } catch {
      this.#isReported = true;
    }
  }

  /** Whether so much time has passed; a clock set back counts as well. */
  #isPast(sinceMs: number, ms: number): boolean {
    return Math.abs(this.#now() - sinceMs) >= ms;
  }
}
