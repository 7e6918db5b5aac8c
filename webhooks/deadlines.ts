/** Something that must be over by a time. */
export interface Timed {
  /**
   * When, in milliseconds of the clock the deadlines were made with. It may be
   * moved; it is infinite when it is over.
   */
  readonly dueAt: number;
  /** Called once when the time has come. */
  onDue(): void;
}

/**
 * Deadlines that share one timer, which runs only while there are any. A
 * deadline that was met costs nothing: the next sweep drops it.
 */
export class Deadlines {
  readonly #clock: () => number;
  readonly #tickMs: number;
  #watched: Timed[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(clock: () => number, tickMs = 20) {
    this.#clock = clock;
    this.#tickMs = tickMs;
  }

  /** Watches something until it is over or due. */
  watch(timed: Timed): void {
    this.#watched.push(timed);
    this.#timer ??= setTimeout(this.#sweep, this.#tickMs);
  }

  /** Stops the timer if nothing is watched. */
  settle(): void {
    if (this.#watched.some(({ dueAt }) => dueAt !== Infinity)) return;
    this.#watched = [];
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The result of `work`, or `due` when it has none at `dueAt`. */
  race<Result, Due>(
    work: Promise<Result>,
    dueAt: number,
    due: Due,
  ): Promise<Result | Due> {
    return new Promise((resolve, reject) => {
      const timed = { dueAt, onDue: (): void => resolve(due) };
      this.watch(timed);
      work.finally(() => {
        timed.dueAt = Infinity;
      }).then(resolve, reject);
    });
  }

  /** Waits until `dueAt`. */
  reach(dueAt: number): Promise<void> {
    return new Promise((onDue) => this.watch({ dueAt, onDue }));
  }

  readonly #sweep = (): void => {
    this.#timer = undefined;
    const now = this.#clock();
    const watched = this.#watched;
    this.#watched = [];
    for (const timed of watched) {
      if (timed.dueAt <= now) timed.onDue();
      else if (timed.dueAt !== Infinity) this.watch(timed);
    }
  };
}
