/**
 * Runs work side by side across lanes, and in order within one: a lane's next
 * item begins when the one before has ended.
 */
export class Lanes<Item> {
  readonly #most: number;
  readonly #work: (item: Item) => Promise<void>;
  readonly #lanes = new Map<string, Item[]>();
  #ready: string[] = [];
  #running = 0;
  #onIdle: (() => void)[] = [];

  /**
   * Makes lanes without items.
   *
   * @param most Items that are worked on at a time.
   * @param work Works on one; it must not throw.
   */
  constructor(most: number, work: (item: Item) => Promise<void>) {
    this.#most = most;
    this.#work = work;
  }

  /** Adds an item at the end of a lane. */
  add(lane: string, item: Item): void {
    const items = this.#lanes.get(lane);
    if (items !== undefined) items.push(item);
    else {
      this.#lanes.set(lane, [item]);
      this.#ready.push(lane);
    }
    this.#start();
  }

  /** Resolves when every item has been worked on. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #start(): void {
    while (this.#running < this.#most) {
      const lane = this.#ready.shift();
      if (lane === undefined) return;
      this.#running++;
      void this.#runNext(lane);
    }
  }

  async #runNext(lane: string): Promise<void> {
    const items = this.#lanes.get(lane) ?? [];
    const item = items.shift();
    if (item !== undefined) await this.#work(item);
    this.#running--;
    if (items.length > 0) this.#ready.push(lane);
    else this.#lanes.delete(lane);
    this.#start();
    if (this.#running > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
