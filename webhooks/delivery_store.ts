import { sleep } from "../core/waiting/sleep.ts";
import { messageOf } from "../core/guards.ts";
import type { Delivery, UnansweredDelivery } from "../core/wire/delivery.ts";
import { type AlarmParts, LastingAlarm } from "./endpoint_log.ts";
import type { WebhookEndpointOptions } from "./endpoint_options.ts";

type DeliveryStoreOptions =
  & AlarmParts
  & Pick<WebhookEndpointOptions, "append" | "unanswered">;

/** How long after a failed append a delivery is tried again. */
const RETRY_AFTER_MS = 100;
/** Most notes held; beyond them the oldest are dropped. */
const MOST_NOTES = 10_000;
/** Time between two tries to hand the notes over. */
const NOTES_AFTER_MS = 5_000;

/** Stores deliveries by `append`, and knows whether that fails. */
export class DeliveryStore {
  readonly #options: DeliveryStoreOptions;
  readonly #alarm: LastingAlarm;
  /** Held until they are stored: what goes unanswered often is while that fails. */
  readonly #notes: UnansweredDelivery[] = [];
  #handingOver: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;
  /** Appends that have begun and not settled, waited for or not. */
  readonly #underWay = new Set<Promise<boolean>>();
  /** Whether the latest append succeeded, or none was made yet. */
  appending = true;

  constructor(options: DeliveryStoreOptions) {
    this.#options = options;
    this.#alarm = new LastingAlarm("append_failing", options);
  }

  /** Notes of unanswered deliveries that are not stored yet. */
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
        if (this.#notes.length > 0) void this.#handOver();
        return true;
      } catch (error) {
        this.failed(messageOf(error));
      }
      if (!isFirst || clock() + RETRY_AFTER_MS >= dueAt) return false;
      await sleep(RETRY_AFTER_MS);
    }
  }

  /** Records that deliveries cannot be stored now, and why. */
  failed(why: string): void {
    this.#alarm.raise(why);
    this.appending = false;
  }

  /** Notes that a delivery which may be stored got no timely 2xx. */
  note(unanswered: UnansweredDelivery): void {
    if (this.#options.unanswered === undefined) return;
    if (this.#notes.length >= MOST_NOTES) this.#notes.shift();
    this.#notes.push(unanswered);
    if (this.appending) void this.#handOver();
    this.#tryLater();
  }

  /**
   * Not with the next delivery: the service switches delivery off when some go
   * unanswered.
   */
  #tryLater(): void {
    if (this.#isStopped || this.#notes.length === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#handOver().then(() => this.#tryLater());
    }, NOTES_AFTER_MS);
  }

  /** Hands over the notes held; those not taken are held for the next time. */
  #handOver(): Promise<void> {
    const handOver = async (): Promise<void> => {
      for (let [next] = this.#notes; next !== undefined; [next] = this.#notes) {
        await this.#options.unanswered?.(next);
        if (this.#notes[0] === next) this.#notes.shift();
      }
    };
    return this.#handingOver ??= handOver().catch(() => {}).finally(() => {
      this.#handingOver = null;
    });
  }

  /** Waits until no append is under way; then tries the notes a last time. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
    this.stop();
    if (this.appending) await this.#handOver();
  }

  /** Tries notes no more by itself. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }
}
