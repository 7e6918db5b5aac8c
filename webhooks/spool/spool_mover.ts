import { messageOf } from "../../core/guards.ts";
import type { Meter } from "../../core/telemetry/meter.ts";
import { endpointLog, type WriteLog } from "../endpoint/endpoint_log.ts";
import type { WebhookLog } from "../endpoint/endpoint_log.ts";
import { BodyReport } from "../endpoint/body_report.ts";
import type { Spool, TakeRecords } from "./spool.ts";
import { type ReportWaiting, WaitingReport } from "./waiting_report.ts";

/** Shortest and longest pause before a failing ledger is tried again. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
/** Shortest time between two groups, unless a full group waits. */
const GROUP_MS = 50;
const FULL_GROUP = 1_024;
/** This many records in that time are a burst: storing goes before moving. */
const BURST = 100;
/** A burst delays moving at most this long, below this many bytes. */
const LONGEST_BURST_MS = 5_000;
const MOST_WAITING_BYTES = 64 << 20;
/**
 * While moves follow each other without a pause, the spool is tidied after this
 * many.
 */
const MOVES_BETWEEN_TIDYING = 100;

/** Options of {@linkcode spoolMover}. */
export interface SpoolMoverOptions {
  /** Where deliveries are kept. */
  readonly spool: Spool;
  /** Stores records for good; `ledger.appendRecords` does. */
  readonly take: TakeRecords;
  /**
   * Called with the backlog, at most every two seconds while there is one. Called
   * with null once there is none, and every two minutes while that lasts.
   *
   * @default {none}
   */
  readonly reportWaiting?: ReportWaiting;
  /**
   * How often the spool is tidied while no deliveries arrive, in milliseconds:
   * it then takes over what other processes have left, and overwrites what was
   * moved.
   *
   * @default 5000
   */
  readonly tidyEveryMs?: number;
  /**
   * Wall clock in milliseconds since 1970.
   *
   * @default Date.now
   */
  readonly now?: () => number;
  /**
   * Where bodies are counted by what they are.
   *
   * @default {nowhere}
   */
  readonly meter?: Meter;
  /**
   * Takes log entries.
   *
   * @default Nothing is logged.
   */
  readonly log?: WebhookLog;
}

/** Moves what a spool keeps into the ledger, in the background. */
export interface SpoolMover {
  /** Why the ledger did not take the latest group; null when it did. */
  readonly failure: string | null;
  /** Resolves when the spool is empty. */
  settled(): Promise<void>;
  /**
   * Tries the ledger a last time, and stops; what it does not take stays in the
   * spool. Call it after the endpoint's `drain`.
   *
   * @param options `timeoutMs` bounds the waiting; the default is 10 seconds.
   */
  stop(options?: { readonly timeoutMs?: number }): Promise<void>;
}

/**
 * Moves what a spool keeps into the ledger: in groups, oldest first, and again
 * after a failure. A delivery answered a moment ago and one that an earlier
 * process left take the same path.
 *
 * @param options Spool and ledger.
 * @returns The mover, which is already running. {@linkcode fileSpool} has an
 * example.
 */
export function spoolMover(options: SpoolMoverOptions): SpoolMover {
  return new Mover(options);
}

class Mover implements SpoolMover {
  readonly #spool: Spool;
  readonly #take: TakeRecords;
  readonly #tidyEveryMs: number;
  readonly #log: WriteLog;
  readonly #report: BodyReport;
  readonly #waiting: WaitingReport;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  #failure: string | null = null;
  /** Whether it is worth a line of the log when the spool is empty. */
  #isNotable = true;
  #moved = 0;
  #movesLeft = MOVES_BETWEEN_TIDYING;
  /** Why the spool could not be tidied; null when it could. */
  #untidied: string | null = null;
  #endPause: (() => void) | null = null;
  /** As many waiting records end the pause. */
  #endsPause = Infinity;
  #isKept = false;
  #onEmpty: (() => void)[] = [];

  constructor(options: SpoolMoverOptions) {
    this.#spool = options.spool;
    this.#take = options.take;
    this.#tidyEveryMs = options.tidyEveryMs ?? 5_000;
    const now = options.now ?? Date.now;
    this.#waiting = new WaitingReport(options.reportWaiting, now);
    this.#log = endpointLog(options.log, now, (text) => text);
    this.#report = new BodyReport({ meter: options.meter, log: this.#log });
    this.#spool.onKept(() => {
      this.#isKept = true;
      if (this.#spool.depth >= this.#endsPause) this.#endPause?.();
    });
    this.#running = this.#run();
  }

  get failure(): string | null {
    return this.#failure;
  }

  settled(): Promise<void> {
    if (this.#spool.depth === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  async stop(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    const { promise: due, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, options.timeoutMs ?? 10_000);
    this.#stopping.abort();
    this.#endPause?.();
    await Promise.race([this.#running.then(() => this.#finish()), due]);
    clearTimeout(timer);
  }

  async #finish(): Promise<void> {
    await this.#move();
    this.#waiting.isLast = true;
    if (this.#spool.depth === 0) await this.#waiting.nothing();
    await this.#reportWaiting(this.#spool.depth);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const before = this.#spool.depth;
      this.#isKept = false;
      if (await this.#move()) {
        pauseMs = FIRST_PAUSE_MS;
        await this.#rest();
        continue;
      }
      if (this.#spool.depth < before) pauseMs = FIRST_PAUSE_MS;
      await this.#pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  /** Moves what waits; resolves to whether the ledger took it. */
  async #move(): Promise<boolean> {
    const { signal } = this.#stopping;
    try {
      if (--this.#movesLeft <= 0) await this.#tidy();
      await this.#spool.drain(async (records, count) => {
        const classes = await this.#take(records, count);
        if (classes !== undefined) this.#report.take(classes);
        this.#moved += count;
        this.#succeeded();
        // The spool lets go of the group only after this.
        await this.#reportWaiting(this.#spool.depth - count);
      }, signal.aborted ? {} : { signal });
    } catch (error) {
      this.#failed(messageOf(error));
      return false;
    }
    if (this.#spool.depth > 0) return true;
    if (this.#isNotable && this.#moved > 0) {
      this.#log({
        level: "info",
        code: "spool_drained",
        message: "Spooled deliveries went into the ledger",
        count: this.#moved,
      });
    }
    this.#isNotable = false;
    this.#moved = 0;
    for (const resolve of this.#onEmpty.splice(0)) resolve();
    await this.#waiting.nothing();
    return true;
  }

  /**
   * Tidies the spool. A file that cannot be taken over must not delay others.
   */
  async #tidy(): Promise<void> {
    this.#movesLeft = MOVES_BETWEEN_TIDYING;
    let why: string | null = null;
    const { takenOver } = this.#spool.writers;
    try {
      await this.#spool.tidy();
    } catch (error) {
      why = messageOf(error);
    }
    if (this.#spool.writers.takenOver.size > takenOver.size) {
      // What the ended process reported is counted here from now on.
      this.#waiting.hurry();
    }
    if (why !== null && why !== this.#untidied) {
      this.#log({
        level: "error",
        code: "spool_untidied",
        message: "Files of the spool cannot be taken over or cleared",
        detail: why,
      });
    }
    this.#untidied = why;
  }

  async #reportWaiting(count: number): Promise<void> {
    if (count === 0 || !this.#waiting.isDue) return;
    await this.#waiting.some(() => {
      const { oldestMs } = this.#spool;
      return oldestMs === null ? null : { count, oldestMs };
    });
  }

  /** Waits for the next group: a delivery that comes alone goes at once. */
  async #rest(): Promise<void> {
    if (this.#spool.depth < FULL_GROUP) {
      await this.#pause(GROUP_MS, FULL_GROUP);
    }
    await this.#yieldToBurst();
    if (this.#isKept) return;
    await this.#pause(this.#tidyEveryMs, 1);
    if (!this.#isKept) this.#movesLeft = 0;
  }

  /** Waits while many deliveries come: senders wait for their answers. */
  async #yieldToBurst(): Promise<void> {
    const { signal } = this.#stopping;
    for (let ms = 0; ms < LONGEST_BURST_MS; ms += GROUP_MS) {
      const { depth, bytes } = this.#spool;
      if (signal.aborted || bytes > MOST_WAITING_BYTES) return;
      if (depth < BURST) return;
      await this.#reportWaiting(depth);
      await this.#pause(GROUP_MS);
      if (this.#spool.depth - depth < BURST) return;
    }
  }

  #succeeded(): void {
    if (this.#failure === null) return;
    this.#failure = null;
    this.#log({
      level: "info",
      code: "append_recovered",
      message: "The ledger takes deliveries again",
    });
  }

  #failed(why: string): void {
    if (this.#failure === null) {
      this.#log({
        level: "error",
        code: "append_failing",
        message: "The ledger does not take deliveries",
        detail: why,
      });
    }
    this.#failure = why;
    this.#isNotable = true;
  }

  async #pause(ms: number, endsAt = Infinity): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#endsPause = endsAt;
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
