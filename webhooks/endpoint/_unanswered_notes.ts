import { sleep } from "../../core/waiting/sleep.ts";
import type { UnansweredDelivery } from "../../core/wire/delivery.ts";

/** Most notes held; beyond them the oldest are dropped. */
const MOST_NOTES = 10_000;
/** Time between two tries to hand the notes over. */
const RETRY_MS = 5_000;

/**
 * Notes about unanswered deliveries. They are held until the ledger takes
 * them: when a delivery goes unanswered, the ledger is often failing.
 */
export class UnansweredNotes {
  readonly #record:
    | ((unanswered: UnansweredDelivery) => Promise<void>)
    | undefined;
  readonly #held: UnansweredDelivery[] = [];
  #flushing: Promise<void> | null = null;
  #retrying: Promise<void> | null = null;

  constructor(
    record: ((unanswered: UnansweredDelivery) => Promise<void>) | undefined,
  ) {
    this.#record = record;
  }

  get size(): number {
    return this.#held.length;
  }

  add(unanswered: UnansweredDelivery): void {
    if (this.#record === undefined) return;
    if (this.#held.length >= MOST_NOTES) this.#held.shift();
    this.#held.push(unanswered);
  }

  /** Hands over the notes held; those not taken are held for the next time. */
  flush(): Promise<void> {
    if (this.#held.length === 0) return Promise.resolve();
    this.#flushing ??= this.#handOver().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  /**
   * Tries until the ledger has taken every note. It must not wait for the next
   * delivery: the service switches delivery off when some go unanswered.
   */
  flushUntilEmpty(signal: AbortSignal, tryNow: boolean): void {
    this.#retrying ??= this.#retry(signal, tryNow).finally(() => {
      this.#retrying = null;
    });
  }

  async #retry(signal: AbortSignal, tryNow: boolean): Promise<void> {
    if (tryNow) await this.flush();
    while (this.#held.length > 0 && !signal.aborted) {
      await sleep(RETRY_MS, signal).catch(() => {});
      if (!signal.aborted) await this.flush();
    }
  }

  async #handOver(): Promise<void> {
    while (this.#record !== undefined) {
      const [next] = this.#held;
      if (next === undefined) return;
      try {
        await this.#record(next);
      } catch {
        return;
      }
      if (this.#held[0] === next) this.#held.shift();
    }
  }
}
