/** A call that is made at a time unless it is removed before. */
export interface Deadline {
  /** When, in milliseconds of the clock the deadlines were made with. */
  readonly dueAt: number;
  /** The function to call then. */
  readonly onDue: () => void;
}

/**
 * Deadlines that share one timer, which runs only while there are any. A timer
 * for each request would cost more than the request.
 */
export class Deadlines {
  readonly #pending = new Set<Deadline>();
  readonly #clock: () => number;
  readonly #tickMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(clock: () => number, tickMs = 20) {
    this.#clock = clock;
    this.#tickMs = tickMs;
  }

  add(dueAt: number, onDue: () => void): Deadline {
    const deadline: Deadline = { dueAt, onDue };
    this.#pending.add(deadline);
    this.#timer ??= setTimeout(this.#sweep, this.#tickMs);
    return deadline;
  }

  remove(deadline: Deadline): void {
    this.#pending.delete(deadline);
  }

  /** Stops the timer if there is no deadline. */
  settle(): void {
    if (this.#pending.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #sweep = (): void => {
    this.#timer = undefined;
    const now = this.#clock();
    for (const deadline of this.#pending) {
      if (deadline.dueAt > now) continue;
      this.#pending.delete(deadline);
      deadline.onDue();
    }
    if (this.#pending.size > 0) {
      this.#timer ??= setTimeout(this.#sweep, this.#tickMs);
    }
  };

  /**
   * The result of `work`, or `due` when it has none at `dueAt`.
   */
  race<Result, Due>(
    work: Promise<Result>,
    dueAt: number,
    due: Due,
  ): Promise<Result | Due> {
    return new Promise((resolve, reject) => {
      const deadline = this.add(dueAt, () => resolve(due));
      work.then((result) => {
        this.remove(deadline);
        resolve(result);
      }, (error) => {
        this.remove(deadline);
        reject(error);
      });
    });
  }
}
