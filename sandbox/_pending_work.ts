/** Work that takes real time, while a clock stands still. */
export class PendingWork {
  readonly #pending = new Set<Promise<unknown>>();

  /** Whether some of it is not done. */
  get goesOn(): boolean {
    return this.#pending.size > 0;
  }

  /** The same promise, waited for until it settles. */
  add<T>(promise: Promise<T>): Promise<T> {
    const done: Promise<unknown> = promise.then(() => {}, () => {}).finally(
      () => this.#pending.delete(done),
    );
    this.#pending.add(done);
    return promise;
  }

  /** Resolves when all that goes on now is done. */
  done(): Promise<unknown> {
    return Promise.all(this.#pending);
  }
}
