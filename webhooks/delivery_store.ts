import { sleep } from "../core/waiting/waiting.ts";
import { messageOf } from "../core/guards.ts";
import type { Delivery, UnansweredDelivery } from "../core/wire/objects.ts";
import { type AlarmParts, LastingAlarm } from "./endpoint_log.ts";
import type { WebhookEndpointOptions } from "./endpoint_options.ts";

type DeliveryStoreOptions =
  & AlarmParts
  & Pick<WebhookEndpointOptions, "append" | "unanswered">;

const RETRY_AFTER_MS = 100;
const MOST_NOTES = 10_000;
const NOTES_AFTER_MS = 5_000;

/** Stores deliveries by `append`, and knows whether that fails. */
export class DeliveryStore {
  readonly #options: DeliveryStoreOptions;
  readonly #alarm: LastingAlarm;
  /** Held until they are stored: what goes unanswered often is while that fails. */
  readonly #notes: UnansweredDelivery[] = [];
  #telling: Promise<void> | null = null;
  /** Ends the pause before the notes are tried again. */
  #pause = new AbortController();
  #isStopped = false;
  /** Appends that have begun and not settled, waited for or not. */
  readonly #underWay = new Set<Promise<boolean>>();
  /** Whether the latest append succeeded, or none was made yet. */
  appending = true;

  constructor(options: DeliveryStoreOptions) {
    this.#options = options;
    this.#alarm = new LastingAlarm("append_failing", options);
  }

  get notes(): number {
    return this.#notes.length;
  }

  /**
   * Whether a delivery was stored. A failed append is tried once more, if there
   * is time before `dueAt`. Never rejects.
   */
  store(delivery: Delivery, dueAt: number): Promise<boolean> {
    const storing = this.#store(delivery, dueAt)
      .finally(() => this.#underWay.delete(storing));
    this.#underWay.add(storing);
    return storing;
  }

  async #store(delivery: Delivery, dueAt: number): Promise<boolean> {
    const { append, clock } = this.#options;
    for (let isFirst = true;; isFirst = false) {
      try {
        await append(delivery);
        this.appending = true;
        this.#alarm.settle();
        this.#pause.abort();
        return true;
      } catch (error) {
        this.failed(messageOf(error));
      }
      if (!isFirst || clock() + RETRY_AFTER_MS >= dueAt) return false;
      await sleep(RETRY_AFTER_MS);
    }
  }

  failed(why: string): void {
    this.#alarm.raise(why);
    this.appending = false;
  }

  note(unanswered: UnansweredDelivery): void {
    if (this.#options.unanswered === undefined) return;
    if (this.#notes.length >= MOST_NOTES) this.#notes.shift();
    this.#notes.push(unanswered);
    void this.#tellAll();
  }

  #tellAll(): Promise<void> {
    return this.#telling ??= this.#tell().finally(() => this.#telling = null);
  }

  /**
   * Hands over the notes held, again and again. It does not wait for the next
   * delivery: the service switches delivery off when some go unanswered.
   */
  async #tell(): Promise<void> {
    let isToWait = !this.appending;
    for (let [next] = this.#notes; next !== undefined; [next] = this.#notes) {
      if (isToWait) {
        if (this.#isStopped) return;
        this.#pause = new AbortController();
        await sleep(NOTES_AFTER_MS, this.#pause.signal).catch(() => {});
      }
      try {
        await this.#options.unanswered?.(next);
        if (this.#notes[0] === next) this.#notes.shift();
        isToWait = false;
      } catch {
        isToWait = true;
      }
    }
  }

  /** Waits until no append is under way; then tries the notes a last time. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
    this.stop();
    await this.#telling;
    if (this.appending) await this.#tellAll();
  }

  stop(): void {
    this.#isStopped = true;
    this.#pause.abort();
  }
}
