import { messageOf } from "../core/guards.ts";
import { sleep, within } from "../core/waiting/waiting.ts";
import { type Meter, NO_METER } from "../core/telemetry/meter.ts";
import type { BodyClasses } from "../core/webhook_event/classify_body.ts";
import { endpointLog, type WebhookLog, type WriteLog } from "./endpoint_log.ts";
import type { Spool, TakeRecords } from "./spool.ts";

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

/** Shortest time between two reports of what waits. */
const REPORT_MS = 2_000;
/** Without anything that waits, that is said again after this time. */
const NOTHING_MS = 120_000;

/** What a spool keeps that the ledger does not have yet. */
export interface Waiting {
  /** Records. */
  readonly count: number;
  /** When the oldest of them was received, ms since 1970. */
  readonly oldestMs: number;
}

/**
 * Reports to other processes what waits in a spool; null when nothing does. It
 * may fail; the previous report then stands.
 */
export type ReportWaiting = (waiting: Waiting | null) => Promise<void>;

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
  const { spool, take, tidyEveryMs = 5_000, now = Date.now } = options;
  const log = endpointLog(options.log, now, (text) => text);
  const report = bodyReport(options.meter, log);
  const waiting = new WaitingReport(options.reportWaiting, now);
  const stopping = new AbortController();
  const { signal } = stopping;
  let failure: string | null = null;
  /** Whether it is worth a line of the log when the spool is empty. */
  let isNotable = true;
  let moved = 0;
  let movesLeft = MOVES_BETWEEN_TIDYING;
  /** Why the spool could not be tidied; null when it could. */
  let untidied: string | null = null;
  let resting = new AbortController();
  /** As many waiting records end the pause. */
  let endsPause = Infinity;
  let isKept = false;
  let onEmpty: (() => void)[] = [];

  async function pause(ms: number, endsAt = Infinity): Promise<void> {
    if (signal.aborted) return;
    endsPause = endsAt;
    resting = new AbortController();
    await sleep(ms, resting.signal).catch(() => {});
  }

  async function reportWaiting(count: number): Promise<void> {
    if (count === 0 || !waiting.isDue) return;
    await waiting.some(() => {
      const { oldestMs } = spool;
      return oldestMs === null ? null : { count, oldestMs };
    });
  }

  async function run(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const before = spool.depth;
      isKept = false;
      if (await move()) {
        pauseMs = FIRST_PAUSE_MS;
        await rest();
        continue;
      }
      if (spool.depth < before) pauseMs = FIRST_PAUSE_MS;
      await pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  async function move(): Promise<boolean> {
    try {
      if (--movesLeft <= 0) await tidy();
      await spool.drain(async (records, count) => {
        const classes = await take(records, count);
        if (classes !== undefined) report(classes);
        moved += count;
        changed(null);
        // The spool lets go of the group only after this.
        await reportWaiting(spool.depth - count);
      }, signal.aborted ? {} : { signal });
    } catch (error) {
      changed(messageOf(error));
      return false;
    }
    if (spool.depth > 0) return true;
    if (isNotable && moved > 0) {
      const message = "Spooled deliveries went into the ledger";
      log("info", "spool_drained", message, { count: moved });
    }
    isNotable = false;
    moved = 0;
    for (const resolve of onEmpty) resolve();
    onEmpty = [];
    await waiting.nothing();
    return true;
  }

  function changed(why: string | null): void {
    if (why === null && failure !== null) {
      log("info", "append_recovered", "The ledger takes deliveries again");
    } else if (why !== null && failure === null) {
      const message = "The ledger does not take deliveries";
      log("error", "append_failing", message, { detail: why });
    }
    failure = why;
    if (why !== null) isNotable = true;
  }

  /** A file that cannot be taken over must not delay others. */
  async function tidy(): Promise<void> {
    movesLeft = MOVES_BETWEEN_TIDYING;
    const { takenOver } = spool.writers;
    const why = await spool.tidy().then(() => null, messageOf);
    // What the ended process reported is counted here from now on.
    if (spool.writers.takenOver.size > takenOver.size) waiting.hurry();
    if (why !== null && why !== untidied) {
      const message = "Files of the spool cannot be taken over or cleared";
      log("error", "spool_untidied", message, { detail: why });
    }
    untidied = why;
  }

  /** Waits for the next group: a delivery that comes alone goes at once. */
  async function rest(): Promise<void> {
    if (spool.depth < FULL_GROUP) await pause(GROUP_MS, FULL_GROUP);
    await yieldToBurst();
    if (isKept) return;
    await pause(tidyEveryMs, 1);
    if (!isKept) movesLeft = 0;
  }

  /** Waits while many deliveries come: senders wait for their answers. */
  async function yieldToBurst(): Promise<void> {
    for (let ms = 0; ms < LONGEST_BURST_MS; ms += GROUP_MS) {
      const { depth, bytes } = spool;
      if (signal.aborted || bytes > MOST_WAITING_BYTES) return;
      if (depth < BURST) return;
      await reportWaiting(depth);
      await pause(GROUP_MS);
      if (spool.depth - depth < BURST) return;
    }
  }

  async function finish(): Promise<void> {
    await running;
    await move();
    waiting.isLast = true;
    if (spool.depth === 0) await waiting.nothing();
    await reportWaiting(spool.depth);
  }

  spool.onKept(() => {
    isKept = true;
    if (spool.depth >= endsPause) resting.abort();
  });
  const running = run();
  return {
    get failure(): string | null {
      return failure;
    },
    settled: (): Promise<void> =>
      spool.depth === 0
        ? Promise.resolve()
        : new Promise((resolve) => onEmpty.push(resolve)),
    async stop({ timeoutMs = 10_000 } = {}): Promise<void> {
      stopping.abort();
      resting.abort();
      const late = () => new Error("It takes too long");
      await within(timeoutMs, undefined, late, finish).catch(() => {});
    },
  };
}

const ODDITIES = {
  quarantined: ["quarantined", "A delivery is not a JSON object"],
  other: ["unrecognised", "A delivery is not one of the documented events"],
  long: [
    "identifier_too_long",
    "A delivery has an identifier that is too long",
  ],
} as const;

/** Counts and logs what stored bodies are, a group at a time. */
export function bodyReport(
  meter: Meter | undefined,
  log: WriteLog,
): (classes: BodyClasses) => void {
  const used = meter ?? NO_METER;
  const bodies = used.createCounter("rampkit.webhook.bodies", {
    description: "Bodies in the ledger by event type",
    unit: "{delivery}",
  });
  const quarantined = used.createCounter("rampkit.webhook.quarantined", {
    description: "Stored bodies that are no JSON object",
    unit: "{delivery}",
  });
  return ({ counts, odd }) => {
    for (const [type, count] of Object.entries(counts)) {
      bodies.add(count, { type });
      if (type === "quarantined") quarantined.add(count);
    }
    for (const { deliveryId, type, why } of odd) {
      const kind = type === "quarantined" || type === "other" ? type : "long";
      const [code, message] = ODDITIES[kind];
      log("warn", code, message, { deliveryId, detail: why });
    }
  };
}

/** Reports what waits in a spool, not too often. */
export class WaitingReport {
  readonly #report: ReportWaiting | undefined;
  readonly #now: () => number;
  /** An earlier process may have reported. */
  #isReported = true;
  #reportedMs = -Infinity;
  #nothingMs = -Infinity;
  /** Whether no later report follows: it is due then. */
  isLast = false;

  constructor(report: ReportWaiting | undefined, now: () => number) {
    this.#report = report;
    this.#now = now;
  }

  /** Reports at the next occasion: more has changed than what waits. */
  hurry(): void {
    this.#isReported = true;
    this.#reportedMs = -Infinity;
  }

  get isDue(): boolean {
    if (this.#report === undefined) return false;
    return this.isLast || this.#isPast(this.#reportedMs, REPORT_MS);
  }

  async some(read: () => Waiting | null): Promise<void> {
    this.#reportedMs = this.#now();
    this.#isReported = true;
    try {
      const waiting = read();
      if (waiting !== null) await this.#report?.(waiting);
    } catch {
      // The report before stands; moving says what is wrong with ledger or disk.
    }
  }

  /** Reports that nothing waits, where something else may have been reported. */
  async nothing(): Promise<void> {
    if (this.#report === undefined) return;
    if (!this.#isReported && !this.#isPast(this.#nothingMs, NOTHING_MS)) return;
    this.#nothingMs = this.#now();
    try {
      await this.#report(null);
      this.#isReported = false;
    } catch {
      this.#isReported = true;
    }
  }

  /** Whether so much time has passed; a clock set back counts as well. */
  #isPast(sinceMs: number, ms: number): boolean {
    return Math.abs(this.#now() - sinceMs) >= ms;
  }
}
