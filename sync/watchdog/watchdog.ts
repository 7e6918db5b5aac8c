import {
  dateFutureChanges,
  deleteChangesBefore,
  type DeliveryLogRow,
  type Driver,
  KEEP_CHANGES_MS,
  readDeliveryLog,
  readLastPosition,
  readLastWebhook,
  readObservedChanges,
  readOldestWaiting,
  readSweep,
  readUnfoldedSince,
  type Statement,
  type WatchedChange,
  writeSweep,
} from "../../ledger/for_sync.ts";
import {
  DECIDING_CHANGES,
  type DeliveryAlarm,
  deliveryAlarm,
  type DeliveryAlert,
  deliveryAlert,
  type DeliveryHealth,
  deliveryHealth,
  earliest,
  type Pause,
  RETRIES_FROM_PREVIOUS_MS,
  settledChanges,
  type WatchedFacts,
} from "./watchdog_rule.ts";
import { CLOCK_TOLERANCE_MS } from "../../core/time/plausible_time.ts";

/** Usual time between two looks, in milliseconds. */
export const WATCH_EVERY_MS = 30_000;

/** Name under which the watchdog stores its state. */
const watchdogName = "watchdog";

/** Events looked through when the watchdog first wakes. */
const firstLook = 20_000;

const batchSize = 2000;

/** Changes read at first, and at most. */
const changesAtFirst = 2 * DECIDING_CHANGES;
const changesAtMost = 100 * changesAtFirst;

/** So many looks may be left out, and one be so late, in ms. */
const looksLeftOut = 1;
const lateLookMs = 60_000;

/** Pauses are kept until every attempt of a webhook in them is over, at most. */
const keepPausesMs = RETRIES_FROM_PREVIOUS_MS + KEEP_CHANGES_MS;
const mostPauses = 100;

/** What the watchdog keeps between two looks: plain JSON. */
interface WatchdogState {
  readonly log: DeliveryLog;
  /** When it first looked, UTC ISO 8601. */
  readonly watchedSince: string;
  /** When it looked last, in milliseconds since the epoch. */
  readonly lookedMs: number;
  /** Times in which it did not look, oldest first. */
  readonly pauses: readonly Pause[];
  /** The alarm of the last look; null where it found none. */
  readonly alarm: DeliveryAlarm | null;
}

/** One look of the watchdog. */
export interface WatchdogCheck {
  /** Health of webhook delivery. */
  readonly health: DeliveryHealth;
  /** What is new since the last look: an alarm or its all-clear, else null. */
  readonly alert: DeliveryAlert | null;
  /** Statements that make the watchdog remember this look. */
  readonly remember: readonly Statement[];
}

/**
 * Checks webhook delivery from outside the handler, because the handler gets no
 * call when delivery is off. Only reads: write the returned statements to store
 * the result.
 *
 * @param driver The ledger's database.
 * @param options The time, and how long a webhook may take.
 * @returns What it sees, and what to write.
 * @throws {LedgerError} When the database fails.
 *
 * @example Find out whether delivery works
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { watchdog } from "@rampkit/onramp/sync";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const { health } = await watchdog(ledger.driver, { nowMs: Date.now() });
 * assert.equal(health.deliverySuspected, false, health.state);
 * ```
 */
export async function watchdog(
  driver: Driver,
  options: {
    /** The time, in milliseconds since the epoch. */
    readonly nowMs: number;
    /** How long a webhook may take, in milliseconds. @default {360000} */
    readonly graceMs?: number;
    /** Usual time between two looks, in milliseconds. @default {30000} */
    readonly everyMs?: number;
  },
): Promise<WatchdogCheck> {
  const { nowMs, graceMs, everyMs = WATCH_EVERY_MS } = options;
  const before = await readSweep<WatchdogState>(driver, watchdogName) ??
    await wake(driver, nowMs);
  // Read before the log: what is moved or folded meanwhile is in one of both.
  const oldestMs = await readOldestWaiting(driver, nowMs);
  const unfoldedSince = await readUnfoldedSince(driver);
  const log = withoutFuture(await readLog(driver, before.log), nowMs);
  const facts = deliveryFacts(log);
  // After our clock was set back, the stored time may be in the future.
  const nowIso = new Date(nowMs).toISOString();
  const watchedSince = before.watchedSince < nowIso
    ? before.watchedSince
    : nowIso;
  const waiting = oldestMs === null ? null : new Date(oldestMs).toISOString();
  const pauses = pausesOf(before, nowMs, everyMs);
  const known = {
    ...facts,
    waitingSince: earliest(
      [waiting, unfoldedSince].filter((time) => time !== null),
    ),
    watchedSince,
    pauses,
    nowMs,
  };
  const changes = await readDecidingChanges(driver, known, graceMs);
  const health = deliveryHealth({ ...known, changes }, graceMs);
  const alarm = deliveryAlarm(before.alarm, health);
  const state = { log, watchedSince, lookedMs: nowMs, pauses, alarm };
  return {
    health,
    alert: deliveryAlert(before.alarm, alarm, health),
    remember: [
      writeSweep(watchdogName, state satisfies WatchdogState, nowMs),
      dateFutureChanges(nowMs),
      deleteChangesBefore(
        new Date(nowMs - KEEP_CHANGES_MS).toISOString(),
        DECIDING_CHANGES,
      ),
    ],
  };
}

/** The last changes, as many as decide. */
async function readDecidingChanges(
  driver: Driver,
  known: Omit<WatchedFacts, "changes">,
  graceMs: number | undefined,
): Promise<readonly WatchedChange[]> {
  for (let limit = changesAtFirst;; limit *= 10) {
    const changes = await readObservedChanges(driver, known, limit);
    const settled = settledChanges({ ...known, changes }, graceMs);
    if (
      settled.length >= DECIDING_CHANGES || changes.length < limit ||
      limit >= changesAtMost
    ) return changes;
  }
}

/**
 * The pauses that matter still, with the one that this look ends. One that ends
 * in the future was before our clock was set back, and excuses nothing now.
 */
function pausesOf(
  { pauses, lookedMs }: WatchdogState,
  nowMs: number,
  everyMs: number,
): readonly Pause[] {
  const all = nowMs - lookedMs > (1 + looksLeftOut) * everyMs + lateLookMs
    ? [...pauses, { fromMs: lookedMs, untilMs: nowMs }]
    : pauses;
  return all.filter(({ untilMs }) =>
    untilMs > nowMs - keepPausesMs && untilMs <= nowMs
  )
    .slice(-mostPauses);
}

async function wake(driver: Driver, nowMs: number): Promise<WatchdogState> {
  const position = await readLastPosition(driver);
  const begin = Math.max(0, position - firstLook);
  return {
    log: emptyDeliveryLog(
      begin,
      // Long ago is not never.
      begin === 0 ? null : await readLastWebhook(driver, begin),
    ),
    watchedSince: new Date(nowMs).toISOString(),
    lookedMs: nowMs,
    pauses: [],
    alarm: null,
  };
}

async function readLog(
  driver: Driver,
  begun: DeliveryLog,
): Promise<DeliveryLog> {
  let log = begun;
  for (;;) {
    const rows = await readDeliveryLog(driver, log.position, batchSize);
    for (const row of rows) log = evolveDeliveryLog(log, row);
    if (rows.length < batchSize) return log;
  }
}

/**
 * How many answers are kept apart: that one was not answered may be reported
 * late.
 */
const remembered = 256;

interface ReceivedDelivery {
  readonly id: string;
  readonly at: string;
  readonly answered: boolean;
  /** Whether the service has shown the order or user that it names. */
  readonly shown: boolean;
  /** Whether it is about an order. */
  readonly ofOrder: boolean;
}

/** What the recorded events say about webhook delivery: plain data. */
interface DeliveryLog {
  /** Position of the last event taken in. */
  readonly position: number;
  readonly recent: readonly ReceivedDelivery[];
  /** Named as unanswered before they were stored. */
  readonly unmatched: readonly string[];
  /** The same as {@linkcode DeliveryFacts}, of all that left `recent`. */
  readonly before: DeliveryFacts;
}

/** What is known of delivery at one time. */
export interface DeliveryFacts {
  /** Last delivery that was answered in time; null when none ever was. */
  readonly lastReceivedAt: string | null;
  /**
   * First delivery that was not answered in time since one about an order was;
   * null when all were. A user can log in as often as they like, so webhooks
   * about users say nothing of the others.
   */
  readonly failingSince: string | null;
}

/** A log that starts after a position. */
export function emptyDeliveryLog(
  position: number,
  lastReceivedAt: string | null = null,
): DeliveryLog {
  return {
    position,
    recent: [],
    unmatched: [],
    before: { lastReceivedAt, failingSince: null },
  };
}

/**
 * Adds one event. Webhooks of the Test button do not count: it also works while
 * delivery is switched off. Webhooks without a type do not count: the service
 * never sends them.
 *
 * Anybody who learns the address can send webhooks. So a webhook counts only
 * after the service has shown the order or user that it names.
 */
export function evolveDeliveryLog(
  log: DeliveryLog,
  row: DeliveryLogRow,
): DeliveryLog {
  const { position, kind, type, unansweredId, named, ofOrder } = row;
  if (kind === "delivery_unanswered" && unansweredId !== null) {
    const unmatched = [...log.unmatched, unansweredId].slice(-remembered);
    return marked(log, position, unansweredId, { answered: false }) ??
      { ...log, position, unmatched };
  }
  // The service has shown what a delivery named: now it counts as life.
  if (named !== null) {
    return marked(log, position, named.eventId, { shown: true }) ??
      withDelivery(log, position, { ...named, shown: true, ofOrder });
  }
  return kind !== "webhook" || type === null || type === "test"
    ? { ...log, position }
    : withDelivery(log, position, row);
}

/** The log with one of its deliveries changed; null where it has none such. */
function marked(
  log: DeliveryLog,
  position: number,
  id: string,
  change: Partial<ReceivedDelivery>,
): DeliveryLog | null {
  if (!log.recent.some((delivery) => delivery.id === id)) return null;
  const recent = log.recent.map((delivery) =>
    delivery.id === id ? { ...delivery, ...change } : delivery
  );
  return { ...log, position, recent };
}

function withDelivery(
  log: DeliveryLog,
  position: number,
  { eventId: id, recordedAt: at, shown, ofOrder }: Pick<
    DeliveryLogRow,
    "eventId" | "recordedAt" | "shown" | "ofOrder"
  >,
): DeliveryLog {
  const answered = !log.unmatched.includes(id);
  const recent = [...log.recent, { id, at, answered, shown, ofOrder }];
  const leaving = recent.length > remembered ? recent.slice(0, 1) : [];
  return {
    position,
    recent: recent.slice(leaving.length),
    unmatched: log.unmatched.filter((one) => one !== id),
    before: leaving.reduce(takeIn, log.before),
  };
}

export function deliveryFacts(log: DeliveryLog): DeliveryFacts {
  return log.recent.reduce(takeIn, log.before);
}

/**
 * Drops receipts that are in the future: our clock was set back, and no later
 * change would count. One receipt at the present time takes their place.
 */
export function withoutFuture(log: DeliveryLog, nowMs: number): DeliveryLog {
  const limitMs = nowMs + CLOCK_TOLERANCE_MS;
  const nowIso = new Date(nowMs).toISOString();
  const known = (at: string | null) =>
    at === null || Date.parse(at) <= limitMs ? at : nowIso;
  const recent = log.recent.filter(({ at }) => Date.parse(at) <= limitMs);
  const forgotten = log.recent.length - recent.length;
  const { lastReceivedAt, failingSince } = log.before;
  return {
    ...log,
    recent,
    before: {
      lastReceivedAt: forgotten > 0 ? nowIso : known(lastReceivedAt),
      failingSince: known(failingSince),
    },
  };
}

function takeIn(facts: DeliveryFacts, next: ReceivedDelivery): DeliveryFacts {
  if (!next.answered) {
    return { ...facts, failingSince: facts.failingSince ?? next.at };
  }
  if (!next.shown) return facts;
  const { lastReceivedAt, failingSince } = facts;
  // Deliveries from the spool are stored late: their receipt may lie before.
  const later = lastReceivedAt === null || next.at > lastReceivedAt;
  const clears = next.ofOrder && failingSince !== null &&
    next.at >= failingSince;
  return {
    lastReceivedAt: later ? next.at : lastReceivedAt,
    failingSince: clears ? null : failingSince,
  };
}
