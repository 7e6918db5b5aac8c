/** Work that takes real time while a clock stands still. */
export class PendingWork {
  readonly #pending = new Set<Promise<unknown>>();

  /** Whether some work is not done. */
  get isRunning(): boolean {
    return this.#pending.size > 0;
  }

  /** Adds a promise until it settles, and returns it. */
  add<T>(promise: Promise<T>): Promise<T> {
    const done: Promise<unknown> = promise.then(() => {}, () => {}).finally(
      () => this.#pending.delete(done),
    );
    this.#pending.add(done);
    return promise;
  }

  /** Resolves when the work added so far is done. */
  done(): Promise<unknown> {
    return Promise.all(this.#pending);
  }
}
