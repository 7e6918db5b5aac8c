/** One run of a process, from its start to its crash. */
export class Life {
  readonly #died = Promise.withResolvers<void>();
  #dead = false;
  readonly #onDeath: () => void;

  /** @param onDeath Called once, when it crashes. */
  constructor(onDeath: () => void) {
    this.#onDeath = onDeath;
  }

  /** Whether it has crashed. */
  get dead(): boolean {
    return this.#dead;
  }

  /** Resolves when it crashes. */
  get died(): Promise<void> {
    return this.#died.promise;
  }

  /** Crashes: whatever waits for the world outside waits for ever. */
  kill(): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#died.resolve();
    this.#onDeath();
  }

  /** Lets what came back from outside through to the living only. */
  async alive<T>(outside: Promise<T>): Promise<T> {
    try {
      const result = await outside;
      if (!this.#dead) return result;
    } catch (error) {
      if (!this.#dead) throw error;
    }
    return await never();
  }
}

/** What a dead process waits for. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
