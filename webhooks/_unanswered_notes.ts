import type { UnansweredDelivery } from "./delivery.ts";

/** Most notes to hold while the ledger takes none; the oldest go first. */
const MOST_NOTES = 10_000;

/**
 * Notes about unanswered deliveries, held until the ledger takes them: the
 * time when a delivery goes unanswered is mostly the time when it does not.
 */
export class UnansweredNotes {
  readonly #record:
    | ((unanswered: UnansweredDelivery) => Promise<void>)
    | undefined;
  readonly #held: UnansweredDelivery[] = [];
  #flushing: Promise<void> | null = null;

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
