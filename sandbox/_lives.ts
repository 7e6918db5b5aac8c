/** Lives that go on by themselves, until the sandbox closes. */
export class Lives {
  readonly #closing: AbortSignal;
  readonly #lives = new Set<Promise<void>>();

  constructor(closing: AbortSignal) {
    this.#closing = closing;
  }

  /** The same promise; that the sandbox closed is no failure of a life. */
  follow(life: Promise<void>): Promise<void> {
    const lived = life.catch((error) => {
      if (!this.#closing.aborted) throw error;
    }).finally(() => this.#lives.delete(settled));
    const settled = lived.catch(() => {});
    this.#lives.add(settled);
    return lived;
  }

  /** Resolves when no life goes on any more. */
  async over(): Promise<void> {
    while (this.#lives.size > 0) await Promise.all(this.#lives);
  }
}
