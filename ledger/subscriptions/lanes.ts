/** What lanes do. */
export interface LanesOptions<Item> {
  /** Items that are worked on at a time. */
  readonly most: number;
  /** Works on one; it must not throw. */
  readonly work: (item: Item) => Promise<void>;
  /**
   * Whether an item was worked on before. Such items take no more than half of
   * the places while others wait: they may fail again, and take long to.
   */
  readonly isRetry: (item: Item) => boolean;
}

/** Lanes whose next item may begin, the one that waits longest first. */
interface Ready {
  readonly first: string[];
  readonly again: string[];
}

/**
 * Runs work side by side across lanes, and in order within one: a lane's next
 * item begins when the one before has ended.
 */
export class Lanes<Item> {
  readonly #options: LanesOptions<Item>;
  readonly #lanes = new Map<string, Item[]>();
  readonly #ready: Ready = { first: [], again: [] };
  #running = 0;
  #runningAgain = 0;
  #wasAgain = false;
  #onIdle: (() => void)[] = [];

  /** Makes lanes without items. */
  constructor(options: LanesOptions<Item>) {
    this.#options = options;
  }

  /** Adds an item at the end of a lane. */
  add(lane: string, item: Item): void {
    const items = this.#lanes.get(lane);
    if (items !== undefined) items.push(item);
    else {
      this.#lanes.set(lane, [item]);
      this.#queue(lane, item);
    }
    this.#start();
  }

  /** Resolves when every item has been worked on. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #queue(lane: string, next: Item): void {
    this.#ready[this.#options.isRetry(next) ? "again" : "first"].push(lane);
  }

  #start(): void {
    while (this.#running < this.#options.most) {
      const isRetry = this.#isAgainNext();
      const lane = this.#ready[isRetry ? "again" : "first"].shift();
      if (lane === undefined) return;
      this.#wasAgain = isRetry;
      this.#running++;
      if (isRetry) this.#runningAgain++;
      void this.#runNext(lane, isRetry);
    }
  }

  #isAgainNext(): boolean {
    const { first, again } = this.#ready;
    if (first.length === 0 || again.length === 0) return again.length > 0;
    const half = Math.max(1, Math.floor(this.#options.most / 2));
    return this.#runningAgain < half && !this.#wasAgain;
  }

  async #runNext(lane: string, isRetry: boolean): Promise<void> {
    const items = this.#lanes.get(lane) ?? [];
    const item = items.shift();
    if (item !== undefined) await this.#options.work(item);
    this.#running--;
    if (isRetry) this.#runningAgain--;
    const [next] = items;
    if (next !== undefined) this.#queue(lane, next);
    else this.#lanes.delete(lane);
    this.#start();
    if (this.#running > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
