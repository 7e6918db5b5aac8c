/**
 * A value that takes long to find out: what was found last is given at once,
 * and looked for again behind the answer once it is old.
 */
export class Remembered<Value> {
  readonly #find: () => Promise<Value>;
  readonly #now: () => number;
  readonly #oldMs: number;
  #last: { readonly value: Value; readonly atMs: number } | null = null;
  #finding: Promise<Value> | null = null;

  /**
   * Finds nothing out until asked.
   *
   * @param find Finds the value out.
   * @param options Clock in ms, and from which age on it is looked for again.
   */
  constructor(
    find: () => Promise<Value>,
    { now, oldMs }: { readonly now: () => number; readonly oldMs: number },
  ) {
    this.#find = find;
    this.#now = now;
    this.#oldMs = oldMs;
  }

  /** The last value; only before the first one does the caller wait. */
  async value(): Promise<Value> {
    const last = this.#last;
    if (last === null) return await this.find();
    if (Math.abs(this.#now() - last.atMs) >= this.#oldMs) {
      this.find().catch(() => {}); // The next caller tries again.
    }
    return last.value;
  }

  /** Looks for it now; all who ask meanwhile get the same. */
  find(): Promise<Value> {
    return this.#finding ??= this.#find().then((value) => {
      this.#last = { value, atMs: this.#now() };
      return value;
    }).finally(() => {
      this.#finding = null;
    });
  }

  /** Waits for what is under way, so that the ledger can be closed. */
  async settled(): Promise<void> {
    await this.#finding?.catch(() => {}); // The caller has got the error.
  }
}
