import type { Deadlines } from "./_deadlines.ts";
import { UnansweredNotes } from "./_unanswered_notes.ts";
import type {
  AppendDelivery,
  Delivery,
  UnansweredDelivery,
} from "./delivery.ts";
import type { WebhookLogEntry } from "./log.ts";
import type { Spool } from "./spool.ts";

/** Where a delivery is now: in the ledger, on the disk, or nowhere for sure. */
export type Kept = "appended" | "spooled" | "refused";

/** What a store is made of. */
export interface DeliveryStoreOptions {
  readonly append: AppendDelivery;
  readonly spool: Spool | undefined;
  readonly unanswered:
    | ((unanswered: UnansweredDelivery) => Promise<void>)
    | undefined;
  readonly spoolAfterMs: number;
  readonly retryAfterMs: number;
  readonly probeTimeoutMs: number;
  readonly deadlines: Deadlines;
  readonly clock: () => number;
  readonly log: (entry: Omit<WebhookLogEntry, "at">) => void;
}

/** How often a ledger that failed is tried again, in milliseconds. */
const FIRST_PROBE_MS = 50;
const LAST_PROBE_MS = 5_000;

/**
 * Puts deliveries where they cannot be lost: into the ledger, or, while that
 * fails or dawdles, into the spool, which is drained in the background.
 */
export class DeliveryStore {
  readonly #options: DeliveryStoreOptions;
  readonly #notes: UnansweredNotes;
  /** Why the latest append failed; null while appends succeed. */
  #failure: string | null = null;
  /** Appends that were begun and are not settled, waited for or not. */
  #underWay = 0;
  #noneUnderWay: (() => void)[] = [];
  #drainer: Promise<void> | null = null;
  #noter: Promise<void> | null = null;
  #endPause: (() => void) | null = null;
  /** Set while draining for good: the next failure ends it. */
  #lastTry = false;
  readonly #stopping = new AbortController();

  constructor(options: DeliveryStoreOptions) {
    this.#options = options;
    this.#notes = new UnansweredNotes(options.unanswered);
    this.#wakeDrainer();
  }

  /** Whether the latest append succeeded, or none was made yet. */
  get appending(): boolean {
    return this.#failure === null;
  }

  /** Notes of unanswered deliveries that wait for the ledger. */
  get notes(): number {
    return this.#notes.size;
  }

  /**
   * Keeps a delivery, or says at `dueAt` at the latest that it could not.
   *
   * Tells `done` instead of returning a promise, like the reading of bodies.
   */
  store(
    delivery: Delivery,
    dueAt: number,
    done: (kept: Kept) => void,
  ): void {
    const { spool, spoolAfterMs, deadlines, clock } = this.#options;
    if (spool !== undefined && this.#failure !== null) {
      this.#storeWhileFailing(spool, delivery, dueAt).then(done);
      return;
    }
    const patience = spool === undefined
      ? dueAt
      : Math.min(dueAt, clock() + spoolAfterMs);
    let waiting = true;
    let settled: ((stored: boolean) => void) | null = null;
    const attempt: Attempt = {
      stored: null,
      settled: (): Promise<boolean> =>
        new Promise((resolve) => settled = resolve),
    };
    const deadline = deadlines.add(patience, () => {
      waiting = false;
      this.#fails("The ledger has not answered in time");
      this.#rescue(delivery, attempt, dueAt).then(done);
    });
    this.#append(delivery, (stored) => {
      attempt.stored = stored;
      settled?.(stored);
      if (!waiting) return;
      deadlines.remove(deadline);
      if (stored) done("appended");
      else this.#rescue(delivery, attempt, dueAt).then(done);
    });
  }

  /** Notes that a delivery which may be stored got no timely 2xx. */
  note(unanswered: UnansweredDelivery): void {
    this.#notes.add(unanswered);
    this.#noter ??= this.#handNotesOver().finally(() => {
      this.#noter = null;
    });
  }

  /**
   * Waits until nothing is under way, and the spool is empty or the ledger
   * refuses once more; at `dueAt` at the latest. Then the background is quiet.
   */
  async drain(dueAt: number): Promise<void> {
    const { deadlines } = this.#options;
    if (this.#underWay > 0) {
      const none = new Promise<void>((resolve) => {
        this.#noneUnderWay.push(resolve);
      });
      await deadlines.race(none, dueAt, undefined);
    }
    // Whatever is known of the ledger, the spool is tried a last time.
    this.#lastTry = true;
    this.#endPause?.();
    this.#wakeDrainer();
    if (this.#drainer !== null) {
      await deadlines.race(this.#drainer, dueAt, undefined);
    }
    this.#stopping.abort();
    if (this.#failure === null) {
      await deadlines.race(this.#notes.flush(), dueAt, null);
    }
  }

  /** A ledger known to fail is not waited for; the drainer probes it. */
  async #storeWhileFailing(
    spool: Spool,
    delivery: Delivery,
    dueAt: number,
  ): Promise<Kept> {
    if (await this.#spool(spool, delivery, dueAt)) return "spooled";
    const stored = await this.#appendUntil(delivery, dueAt);
    return stored === true ? "appended" : "refused";
  }

  /** Keeps a delivery whose first append failed, or takes long. */
  async #rescue(
    delivery: Delivery,
    attempt: Attempt,
    dueAt: number,
  ): Promise<Kept> {
    const { spool, deadlines, clock, retryAfterMs } = this.#options;
    if (spool !== undefined) {
      if (await this.#spool(spool, delivery, dueAt)) return "spooled";
    }
    let stored = attempt.stored;
    if (stored === null && clock() < dueAt) {
      stored = await deadlines.race(attempt.settled(), dueAt, null);
    }
    const resumeAt = clock() + retryAfterMs;
    if (stored === false && resumeAt < dueAt) {
      await deadlines.race(new Promise<never>(() => {}), resumeAt, null);
      stored = await this.#appendUntil(delivery, dueAt);
    }
    return stored === true ? "appended" : "refused";
  }

  /** Whether a delivery was stored; null when that is open at `dueAt`. */
  #appendUntil(delivery: Delivery, dueAt: number): Promise<boolean | null> {
    const settled = new Promise<boolean>((resolve) => {
      this.#append(delivery, resolve);
    });
    return this.#options.deadlines.race(settled, dueAt, null);
  }

  #append(delivery: Delivery, settled: (stored: boolean) => void): void {
    this.#underWay++;
    const settle = (stored: boolean): void => {
      this.#underWay--;
      if (this.#underWay === 0 && this.#noneUnderWay.length > 0) {
        for (const none of this.#noneUnderWay.splice(0)) none();
      }
      settled(stored);
    };
    let appending: Promise<void>;
    try {
      appending = this.#options.append(delivery);
    } catch (error) {
      appending = Promise.reject(error);
    }
    appending.then(() => {
      this.#succeeds();
      settle(true);
    }, (error) => {
      this.#fails(messageOf(error));
      settle(false);
    });
  }

  async #spool(
    spool: Spool,
    delivery: Delivery,
    dueAt: number,
  ): Promise<boolean> {
    const { deadlines, log } = this.#options;
    const putting = spool.put(delivery);
    const wake = (): void => this.#wakeDrainer();
    // Kept too late to be answered 204, it is drained all the same.
    putting.then(wake, () => {});
    try {
      const kept = await deadlines.race(putting.then(() => true), dueAt, false);
      if (!kept) throw new Error("No answer in time");
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

  #fails(why: string): void {
    if (this.#failure === null) {
      this.#options.log({
        level: "error",
        code: "append_failing",
        message: "The ledger does not take deliveries",
        detail: why,
      });
    }
    this.#failure = why;
  }

  #succeeds(): void {
    if (this.#failure !== null) {
      this.#failure = null;
      this.#options.log({
        level: "info",
        code: "append_recovered",
        message: "The ledger takes deliveries again",
      });
    }
    if (this.#notes.size > 0) this.#notes.flush();
  }

  #wakeDrainer(): void {
    const { spool } = this.#options;
    if (spool === undefined || spool.depth === 0) return;
    if (this.#stopping.signal.aborted) return;
    this.#drainer ??= this.#drainSpool(spool).finally(() => {
      this.#drainer = null;
      // A delivery may have been spooled after the last look.
      if (!this.#lastTry) this.#wakeDrainer();
    });
  }

  async #drainSpool(spool: Spool): Promise<void> {
    let pauseMs = FIRST_PROBE_MS;
    const { signal } = this.#stopping;
    while (!signal.aborted && spool.depth > 0) {
      const before = spool.depth;
      try {
        const count = await spool.drain((delivery) => this.#probe(delivery), {
          signal,
        });
        this.#options.log({
          level: "info",
          code: "spool_drained",
          message: "Spooled deliveries went into the ledger",
          count,
        });
        pauseMs = FIRST_PROBE_MS;
        // A spool that hands nothing over and is not empty is not hurried.
        if (count === 0) await this.#pause(LAST_PROBE_MS);
      } catch (error) {
        this.#fails(messageOf(error));
        if (this.#lastTry) return;
        if (spool.depth < before) pauseMs = FIRST_PROBE_MS;
        await this.#pause(pauseMs);
        pauseMs = Math.min(pauseMs * 2, LAST_PROBE_MS);
      }
    }
  }

  /** Appends for the drainer, which a hanging ledger must not hold for ever. */
  async #probe(delivery: Delivery): Promise<void> {
    const { clock, probeTimeoutMs } = this.#options;
    const dueAt = clock() + probeTimeoutMs;
    const stored = await this.#appendUntil(delivery, dueAt);
    if (stored === true) return;
    throw new Error(
      this.#failure ?? "The ledger has not answered in time",
    );
  }

  /**
   * Tries until the ledger takes the notes: no delivery may come any more that
   * would bring them along, for unanswered ones get delivery switched off.
   */
  async #handNotesOver(): Promise<void> {
    const { signal } = this.#stopping;
    if (this.#failure === null) await this.#notes.flush();
    while (this.#notes.size > 0 && !signal.aborted) {
      await sleepUnless(signal, LAST_PROBE_MS);
      if (!signal.aborted) await this.#notes.flush();
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#lastTry) return;
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

/** The first append of a delivery. */
interface Attempt {
  /** Whether it stored the delivery; null while that is open. */
  stored: boolean | null;
  /** Resolves when that is no longer open; for one caller. */
  readonly settled: () => Promise<boolean>;
}

/** Waits, but no longer than until the signal. */
function sleepUnless(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
