import { messageOf } from "../../core/guards.ts";
import type {
  AppendDelivery,
  Delivery,
  UnansweredDelivery,
} from "../../core/wire/delivery.ts";
import type { Deadlines } from "../endpoint/deadlines.ts";
import type { WriteLog } from "../endpoint/endpoint_log.ts";
import { UnansweredNotes } from "./_unanswered_notes.ts";

/** What a {@linkcode DeliveryStore} works with. */
export interface DeliveryStoreOptions {
  readonly append: AppendDelivery;
  readonly unanswered:
    | ((unanswered: UnansweredDelivery) => Promise<void>)
    | undefined;
  readonly deadlines: Deadlines;
  readonly clock: () => number;
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
  /** Appends that have begun and not settled, waited for or not. */
  #underWay = 0;
  #onSettled: (() => void)[] = [];

  constructor(options: DeliveryStoreOptions) {
    this.#options = options;
    this.#notes = new UnansweredNotes(options.unanswered);
  }

  /** Whether the latest append succeeded, or none was made yet. */
  get appending(): boolean {
    return this.#failure === null;
  }

  /** Notes of unanswered deliveries that are not stored yet. */
  get notes(): number {
    return this.#notes.size;
  }

  /** Whether a delivery was stored by `dueAt`. Never rejects. */
  async store(delivery: Delivery, dueAt: number): Promise<boolean> {
    const { deadlines, clock } = this.#options;
    const stored = await deadlines.race(this.#append(delivery), dueAt, null);
    if (stored === null) this.#failed("No answer in time");
    if (stored !== false) return stored ?? false;
    const retryAt = clock() + RETRY_AFTER_MS;
    if (retryAt >= dueAt) return false;
    await deadlines.race(new Promise<never>(() => {}), retryAt, null);
    return await deadlines.race(this.#append(delivery), dueAt, false);
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

  async #append(delivery: Delivery): Promise<boolean> {
    this.#underWay++;
    try {
      await this.#options.append(delivery);
      this.#succeeded();
      return true;
    } catch (error) {
      this.#failed(messageOf(error));
      return false;
    } finally {
      this.#underWay--;
      if (this.#underWay === 0) {
        for (const resolve of this.#onSettled.splice(0)) resolve();
      }
    }
  }

  #failed(why: string): void {
    if (this.#failure === null) {
      this.#options.log({
        level: "error",
        code: "append_failing",
        message: "Deliveries cannot be stored",
        detail: why,
      });
    }
    this.#failure = why;
  }

  #succeeded(): void {
    if (this.#failure !== null) {
      this.#failure = null;
      this.#options.log({
        level: "info",
        code: "append_recovered",
        message: "Deliveries are stored again",
      });
    }
    if (this.#notes.size > 0) void this.#notes.flush();
  }
}
