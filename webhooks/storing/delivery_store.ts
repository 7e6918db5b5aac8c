import { messageOf } from "../../core/guards.ts";
import type {
  AppendDelivery,
  Delivery,
  UnansweredDelivery,
} from "../../core/wire/delivery.ts";
import type { Spool } from "../spool/spool.ts";
import type { Deadlines } from "../endpoint/deadlines.ts";
import type { WriteLog } from "../endpoint/endpoint_log.ts";
import { LedgerAppender } from "./_ledger_appender.ts";
import { SpoolDrainer } from "./_spool_drainer.ts";
import { UnansweredNotes } from "./_unanswered_notes.ts";

/** Where a delivery is: in the ledger, on the disk, or perhaps nowhere. */
export type StoreOutcome = "appended" | "spooled" | "refused";

/** What a {@linkcode DeliveryStore} works with. */
export interface DeliveryStoreOptions {
  readonly append: AppendDelivery;
  readonly spool: Spool | undefined;
  readonly unanswered:
    | ((unanswered: UnansweredDelivery) => Promise<void>)
    | undefined;
  readonly spoolAfterMs: number;
  readonly deadlines: Deadlines;
  readonly clock: () => number;
  readonly log: WriteLog;
}

/** How long after a failed append a delivery without a spool is tried again. */
const RETRY_AFTER_MS = 100;

/**
 * Stores deliveries in the ledger, or in the spool while the ledger fails or
 * takes long. The spool is drained in the background.
 */
export class DeliveryStore {
  readonly #options: DeliveryStoreOptions;
  readonly #appender: LedgerAppender;
  readonly #drainer: SpoolDrainer | null;
  readonly #notes: UnansweredNotes;
  readonly #stopping = new AbortController();

  constructor(options: DeliveryStoreOptions) {
    const { append, spool, deadlines, clock, log } = options;
    const { signal } = this.#stopping;
    this.#options = options;
    this.#notes = new UnansweredNotes(options.unanswered);
    this.#appender = new LedgerAppender({
      append,
      deadlines,
      log,
      onAppended: () => void this.#notes.flush(),
    });
    this.#drainer = spool === undefined ? null : new SpoolDrainer({
      spool,
      appender: this.#appender,
      clock,
      log,
      signal,
    });
    this.#drainer?.wake();
  }

  /** Whether the latest append succeeded, or none was made yet. */
  get appending(): boolean {
    return this.#appender.failure === null;
  }

  /** Notes of unanswered deliveries that wait for the ledger. */
  get notes(): number {
    return this.#notes.size;
  }

  /** Stores a delivery, or gives up at `dueAt`. Never rejects. */
  async store(delivery: Delivery, dueAt: number): Promise<StoreOutcome> {
    const { spool, spoolAfterMs, deadlines, clock } = this.#options;
    if (spool !== undefined && !this.appending) {
      // Do not wait for a failing ledger: the drainer tries it again.
      if (await this.#spool(spool, delivery, dueAt)) return "spooled";
      const stored = await this.#appender.appendUntil(delivery, dueAt);
      return stored ? "appended" : "refused";
    }
    const appending = this.#appender.append(delivery);
    const spoolAt = spool === undefined
      ? dueAt
      : Math.min(dueAt, clock() + spoolAfterMs);
    const stored = await deadlines.race(appending, spoolAt, null);
    if (stored) return "appended";
    if (stored === null) {
      this.#appender.failed("The ledger has not answered in time");
    }
    return await this.#storeAfterFailure(delivery, appending, dueAt);
  }

  /** Notes that a delivery which may be stored got no timely 2xx. */
  note(unanswered: UnansweredDelivery): void {
    this.#notes.add(unanswered);
    this.#notes.flushUntilEmpty(this.#stopping.signal, this.appending);
  }

  /**
   * Waits until no append is under way, and the spool is empty or the ledger
   * has failed once more; until `dueAt` at most. Then stops the background work.
   */
  async drain(dueAt: number): Promise<void> {
    const { deadlines } = this.#options;
    await deadlines.race(this.#appender.settled(), dueAt, undefined);
    if (this.#drainer !== null) {
      await deadlines.race(this.#drainer.drainOnce(), dueAt, undefined);
    }
    this.#stopping.abort();
    if (this.appending) {
      await deadlines.race(this.#notes.flush(), dueAt, undefined);
    }
  }

  /** Stores a delivery whose first append failed or takes long. */
  async #storeAfterFailure(
    delivery: Delivery,
    appending: Promise<boolean>,
    dueAt: number,
  ): Promise<StoreOutcome> {
    const { spool, deadlines, clock } = this.#options;
    if (spool !== undefined) {
      if (await this.#spool(spool, delivery, dueAt)) return "spooled";
    }
    let stored = await deadlines.race(appending, dueAt, null);
    const retryAt = clock() + RETRY_AFTER_MS;
    if (stored === false && retryAt < dueAt) {
      await deadlines.race(new Promise<never>(() => {}), retryAt, null);
      stored = await this.#appender.appendUntil(delivery, dueAt);
    }
    return stored ? "appended" : "refused";
  }

  /** Whether the spool took a delivery in time. */
  async #spool(
    spool: Spool,
    delivery: Delivery,
    dueAt: number,
  ): Promise<boolean> {
    const { deadlines, log } = this.#options;
    const putting = spool.put(delivery);
    // One that was spooled too late is drained as well.
    putting.then(() => this.#drainer?.wake(), () => {});
    try {
      const stored = await deadlines.race(
        putting.then(() => true),
        dueAt,
        false,
      );
      if (!stored) throw new Error("No answer in time");
      return true;
    } catch (error) {
      log({
        level: "error",
        code: "spool_failed",
        message: "The spool could not take a delivery",
        deliveryId: delivery.id,
        detail: messageOf(error),
      });
      return false;
    }
  }
}
