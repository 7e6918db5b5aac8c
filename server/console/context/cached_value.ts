/** A value older than this many times `oldMs` is not used. */
const TOO_OLD = 6;

/**
 * A value that takes long to find out: the last one is given at once, and
 * refreshed in the background once it is old. After a night without requests,
 * the first caller waits.
 */
export class CachedValue<Value> {
  readonly #find: () => Promise<Value>;
  readonly #now: () => number;
  readonly #oldMs: number;
  #last: { readonly value: Value; readonly atMs: number } | null = null;
  #finding: Promise<Value> | null = null;

  /** Finds nothing out until asked. */
  constructor(
    find: () => Promise<Value>,
    { now, oldMs }: { readonly now: () => number; readonly oldMs: number },
  ) {
    this.#find = find;
    this.#now = now;
    this.#oldMs = oldMs;
  }

  /** The last value; before the first, or when it is too old, the next. */
  async value(): Promise<Value> {
    const last = this.#last;
    if (last === null) return await this.find();
    const ageMs = Math.abs(this.#now() - last.atMs);
    if (ageMs >= TOO_OLD * this.#oldMs) return await this.find();
    if (ageMs >= this.#oldMs) {
      this.find().catch(() => {}); // The next caller tries again.
    }
    return last.value;
  }

  /** Looks for it now; concurrent callers get the same. */
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
