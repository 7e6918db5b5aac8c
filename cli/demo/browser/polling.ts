import type { Poller } from "../../../ledger/mod.ts";

/** Runs a poller, but for a while now and then. */
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
   * Does something while nothing is asked, then asks for every open order: to
   * one just asked for the poller would come back minutes later.
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
