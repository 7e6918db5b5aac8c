import type { ChainStep } from "./extend_chain.ts";

/**
 * Extends the chain while many events are folded: the thread that folds waits
 * for the database most of that time, and can hash meanwhile. It never goes
 * beyond what was folded, because callers wait for states and not for evidence.
 */
export class ChainBeside {
  readonly #step: () => Promise<ChainStep>;
  #folded = 0;
  #following: Promise<void> | null = null;

  /** @param step Extends the chain by one step. */
  constructor(step: () => Promise<ChainStep>) {
    this.#step = step;
  }

  /** Lets the chain follow. @param position How far events are folded. */
  follow(position: number): void {
    this.#folded = position;
    this.#following ??= this.#follow();
  }

  /** Waits until it no longer extends the chain. */
  async end(): Promise<void> {
    await this.#following;
  }

  async #follow(): Promise<void> {
    try {
      for (;;) {
        const { state, events } = await this.#step();
        if (events === 0 || state.position >= this.#folded) break;
      }
    } catch {
      // Whoever extends the chain after the fold meets it too, and throws it.
    }
    this.#following = null;
  }
}
