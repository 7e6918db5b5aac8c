/**
 * One request in this many may go to what comes second while the first waits.
 */
export const ONE_IN = 4;

/** Interval between two looks for times that have yet to come, in ms. */
const LOOK_EVERY_MS = 60_000;

/**
 * Holds what comes second to a quarter of the requests while what comes first
 * waits as well: ids that the service never showed, because anybody can invent
 * ids, and users, because no goods wait for them.
 *
 * @example Three requests for what comes first earn one for the other
 * ```ts ignore
 * const share = new QuarterShare();
 * share.spend("first", 3);
 * share.allowsSecond; // true
 * ```
 */
export class QuarterShare {
  #earned = 0;

  /** Whether the next request may be for what comes second. */
  get allowsSecond(): boolean {
    return this.#earned >= ONE_IN - 1;
  }

  /**
   * Whether what comes second may have the places that a request for what comes
   * first leaves free: it costs nothing, but where the service does not know it.
   */
  get allowsBeside(): boolean {
    return this.#earned >= 0;
  }

  /**
   * Counts requests that were made while both waited.
   *
   * @param kind What they were for.
   * @param requests How many.
   */
  spend(kind: "first" | "second", requests: number): void {
    // Nothing is saved up: the first do not pay for a later flood.
    this.#earned = kind === "first"
      ? Math.min(ONE_IN - 1, this.#earned + requests)
      : this.#earned - requests * (ONE_IN - 1);
  }
}

/** Whose turn it is in a queue; lives longer than one sweep through it. */
export class RequestTurns {
  /** Known ids come first, unknown ones second. */
  readonly unknown = new QuarterShare();
  /** Orders come first, users second. */
  readonly users = new QuarterShare();
  #lookedMs = Infinity;

  /**
   * Whether to look for times in the queue that have yet to come: once a minute,
   * and whenever the clock was set back.
   *
   * @param nowMs The time, in milliseconds since the epoch.
   */
  looksAhead(nowMs: number): boolean {
    const sinceMs = nowMs - this.#lookedMs;
    if (sinceMs >= 0 && sinceMs < LOOK_EVERY_MS) return false;
    this.#lookedMs = nowMs;
    return true;
  }
}
