import { messageOf } from "../../core/guards.ts";
import type { Delivery } from "../../core/wire/delivery.ts";
import type { Spool } from "../spool/spool.ts";
import type { WriteLog } from "../endpoint/endpoint_log.ts";
import type { LedgerAppender } from "./_ledger_appender.ts";

/** Shortest and longest pause before a failing ledger is tried again. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
/** How long one append may take while the spool is drained. */
const APPEND_TIMEOUT_MS = 5_000;

/** What a {@linkcode SpoolDrainer} works with. */
export interface SpoolDrainerOptions {
  readonly spool: Spool;
  readonly appender: LedgerAppender;
  readonly clock: () => number;
  readonly log: WriteLog;
  /** Ends the draining when it aborts. */
  readonly signal: AbortSignal;
}

/** Moves spooled deliveries into the ledger, in the background. */
export class SpoolDrainer {
  readonly #options: SpoolDrainerOptions;
  #running: Promise<void> | null = null;
  #endPause: (() => void) | null = null;
  /** Set by {@linkcode drainOnce}: the next failure ends the draining. */
  #isLastTry = false;

  constructor(options: SpoolDrainerOptions) {
    this.#options = options;
  }

  /** Begins to drain, unless the spool is empty or is being drained. */
  wake(): void {
    const { spool, signal } = this.#options;
    if (spool.depth === 0 || signal.aborted) return;
    this.#running ??= this.#drain().finally(() => {
      this.#running = null;
      // A delivery may have been spooled after the last look.
      if (!this.#isLastTry) this.wake();
    });
  }

  /** Resolves when the spool is empty, or at the next failure. */
  async drainOnce(): Promise<void> {
    this.#isLastTry = true;
    this.#endPause?.();
    this.wake();
    await this.#running;
  }

  async #drain(): Promise<void> {
    const { spool, appender, log, signal } = this.#options;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted && spool.depth > 0) {
      const before = spool.depth;
      try {
        const count = await spool.drain((delivery) => this.#append(delivery), {
          signal,
        });
        log({
          level: "info",
          code: "spool_drained",
          message: "Spooled deliveries went into the ledger",
          count,
        });
        pauseMs = FIRST_PAUSE_MS;
        // Nothing came out of a spool that is not empty: try again later.
        if (count === 0) await this.#pause(LONGEST_PAUSE_MS);
      } catch (error) {
        appender.failed(messageOf(error));
        if (this.#isLastTry) return;
        if (spool.depth < before) pauseMs = FIRST_PAUSE_MS;
        await this.#pause(pauseMs);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    }
  }

  /** Appends one delivery, or throws: a hanging ledger must not block us. */
  async #append(delivery: Delivery): Promise<void> {
    const { appender, clock } = this.#options;
    const dueAt = clock() + APPEND_TIMEOUT_MS;
    if (await appender.appendUntil(delivery, dueAt)) return;
    throw new Error(appender.failure ?? "The ledger has not answered in time");
  }

  async #pause(ms: number): Promise<void> {
    if (this.#isLastTry) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#endPause = (): void => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endPause = null;
  }
}
