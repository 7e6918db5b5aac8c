/** Orders that had ended, and users who were there, before a ledger went live. */
export interface Historic {
  /** How many orders there are: booked, and nobody was told of them. */
  readonly orders: number;
  /** How many users there are of whom nobody was told. */
  readonly users: number;
  /** Successes among the orders that a person may want to look at. */
  readonly listed: number;
}

/** What a report works with. */
export interface HistoryReportParts {
  /** Counts them. */
  readonly read: () => Promise<Historic>;
  /** Called once with the count, when it has stopped growing. */
  readonly tell: (historic: Historic) => void;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
}

/** Counting walks all of them, so it is not done after each fold. */
const LOOK_EVERY_MS = 60_000;

/**
 * Tells once how many orders and users were withheld because they are from
 * before the ledger went live: when their number has grown, and stands still for
 * a minute.
 */
export class HistoryReport {
  readonly #parts: HistoryReportParts;
  #lookedAtMs = -Infinity;
  #last = 0;
  #told: number | null = null;

  /** @param parts What it works with. */
  constructor(parts: HistoryReportParts) {
    this.#parts = parts;
  }

  /**
   * Looks, at most once a minute. What is there at the first look was told
   * before, so look before anything is folded.
   *
   * @throws {LedgerError} When the database fails.
   */
  async look(): Promise<void> {
    const { read, tell, now } = this.#parts;
    const nowMs = now();
    if (Math.abs(nowMs - this.#lookedAtMs) < LOOK_EVERY_MS) return;
    const historic = await read();
    this.#lookedAtMs = nowMs;
    const before = this.#last;
    const withheld = historic.orders + historic.users;
    this.#last = withheld;
    this.#told ??= withheld;
    if (withheld !== before || withheld <= this.#told) return;
    this.#told = withheld;
    tell(historic);
  }
}
