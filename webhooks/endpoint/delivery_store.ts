import { messageOf } from "../../core/guards.ts";
import type {
  AppendDelivery,
  Delivery,
  UnansweredDelivery,
} from "../../core/wire/delivery.ts";
import type { Deadlines } from "./deadlines.ts";
import { LastingAlarm, type WriteLog } from "./endpoint_log.ts";
import { sleep } from "../../core/waiting/sleep.ts";

/** Options of {@linkcode DeliveryStore}. */
export interface DeliveryStoreOptions {
  readonly append: AppendDelivery;
  readonly unanswered:
    | ((unanswered: UnansweredDelivery) => Promise<void>)
    | undefined;
  readonly deadlines: Deadlines;
  readonly clock: () => number;
  readonly now: () => number;
  readonly log: WriteLog;
}

/** How long after a failed append a delivery is tried again. */
const RETRY_AFTER_MS = 100;

/** Stores deliveries by `append`, and knows whether that fails. */
export class DeliveryStore {
  readonly #options: DeliveryStoreOptions;
  readonly #notes: UnansweredNotes;
  readonly #stopping = new AbortController();
  #failure: string | null = null;
  readonly #alarm: LastingAlarm;
  /** Appends that have begun and not settled, waited for or not. */
  #underWay = 0;
  #onSettled: (() => void)[] = [];

  constructor(options: DeliveryStoreOptions) {
    this.#options = options;
    this.#notes = new UnansweredNotes(options.unanswered);
    this.#alarm = new LastingAlarm({
      ...options,
      raised: {
        code: "append_failing",
        message: "Deliveries cannot be stored",
      },
      cleared: {
        code: "append_recovered",
        message: "Deliveries are stored again",
      },
    });
  }

  /** Whether the latest append succeeded, or none was made yet. */
  get appending(): boolean {
    return this.#failure === null;
  }

  /** Notes of unanswered deliveries that are not stored yet. */
  get notes(): number {
    return this.#notes.size;
  }

  /**
   * Whether a delivery was stored. A failed append is tried once more, if there
   * is time before `dueAt`. Never rejects.
   */
  async store(delivery: Delivery, dueAt: number): Promise<boolean> {
    const { append, deadlines, clock } = this.#options;
    this.#underWay++;
    for (let isFirst = true;; isFirst = false) {
      try {
        await append(delivery);
        this.#succeeded();
        this.#ended();
        return true;
      } catch (error) {
        this.failed(messageOf(error));
      }
      const retryAt = clock() + RETRY_AFTER_MS;
      if (!isFirst || retryAt >= dueAt) break;
      await deadlines.reach(retryAt);
    }
    this.#ended();
    return false;
  }

  /** Records that deliveries cannot be stored now, and why. */
  failed(why: string): void {
    this.#alarm.raise(why);
    this.#failure = why;
  }

  /** Notes that a delivery which may be stored got no timely 2xx. */
  note(unanswered: UnansweredDelivery): void {
    this.#notes.add(unanswered);
    this.#notes.flushUntilEmpty(this.#stopping.signal, this.appending);
  }

  /** Waits until no append is under way and the notes are tried a last time;
   * until `dueAt` at most. */
  async drain(dueAt: number): Promise<void> {
    const { deadlines } = this.#options;
    if (this.#underWay > 0) {
      const settled = new Promise<void>((resolve) =>
        this.#onSettled.push(resolve)
      );
      await deadlines.race(settled, dueAt, undefined);
    }
    this.#stopping.abort();
    if (this.appending) {
      await deadlines.race(this.#notes.flush(), dueAt, undefined);
    }
  }

  #succeeded(): void {
    this.#failure = null;
    this.#alarm.settle();
    if (this.#notes.size > 0) void this.#notes.flush();
  }

  #ended(): void {
    this.#underWay--;
    if (this.#underWay > 0) return;
    for (const resolve of this.#onSettled.splice(0)) resolve();
  }
}

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
