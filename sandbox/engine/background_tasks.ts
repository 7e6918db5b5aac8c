/** Tasks that run by themselves until the sandbox closes. */
export class BackgroundTasks {
  readonly #closing: AbortSignal;
  readonly #running = new Set<Promise<void>>();

  constructor(closing: AbortSignal) {
    this.#closing = closing;
  }

  /** Adds a task. It does not fail because the sandbox closed. */
  add(task: Promise<void>): Promise<void> {
    const result = task.catch((error) => {
      if (!this.#closing.aborted) throw error;
    }).finally(() => this.#running.delete(settled));
    const settled = result.catch(() => {});
    this.#running.add(settled);
    return result;
  }

  /** Resolves when no task is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
