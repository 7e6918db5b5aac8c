import type { Poller } from "../../../sync/mod.ts";

/** Runs a poller that can be paused. */
export class Polling {
  readonly #poller: Poller;
  readonly #signal: AbortSignal;
  #pause = new AbortController();
  #running: Promise<void>;

  /** Starts it; the signal ends it for good. */
  constructor(poller: Poller, signal: AbortSignal) {
    this.#poller = poller;
    this.#signal = signal;
    this.#running = this.#run();
  }

  /**
   * Pauses the poller for `act`, then reads every open order at once. The
   * poller itself would come back minutes later to an order it has just read.
   */
  async leapOver(act: () => Promise<void>): Promise<void> {
    this.#pause.abort();
    await this.#running;
    try {
      await act();
      const { aborted } = this.#signal;
      if (!aborted) await this.#poller.once({ sweeps: ["open"] });
    } finally {
      this.#pause = new AbortController();
      this.#running = this.#run();
    }
  }

  /** Resolves once the signal has ended it. */
  ended(): Promise<void> {
    return this.#running;
  }

  #run(): Promise<void> {
    return this.#poller.run(
      AbortSignal.any([this.#signal, this.#pause.signal]),
    );
  }
}
