import {
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
  tidyObservedChanges,
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
import { CLOCK_TOLERANCE_MS } from "../../core/time/service_time.ts";

/** Usual time between two looks, in milliseconds. */
export const WATCH_EVERY_MS = 30_000;

const NAME = "watchdog";

/** Events looked through when the watchdog first wakes. */
const FIRST_LOOK = 20_000;

const BATCH = 2000;

/** Changes read at first, and at most. */
const CHANGES_AT_FIRST = 2 * DECIDING_CHANGES;
const CHANGES_AT_MOST = 100 * CHANGES_AT_FIRST;

/** So many looks may be left out, and one be so late, in ms. */
const LOOKS_LEFT_OUT = 1;
const LATE_LOOK_MS = 60_000;

/** Pauses are kept until every attempt of a webhook in them is over, at most. */
const KEEP_PAUSES_MS = RETRIES_FROM_PREVIOUS_MS + KEEP_CHANGES_MS;
const MOST_PAUSES = 100;

interface WatchdogState {
  readonly log: DeliveryLog;
  readonly watchedSince: string;
  readonly lookedMs: number;
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
 * @param options The time, and how often it looks.
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
    /** Usual time between two looks, in milliseconds. @default {30000} */
    readonly everyMs?: number;
  },
): Promise<WatchdogCheck> {
  const { nowMs, everyMs = WATCH_EVERY_MS } = options;
  const before = await readSweep<WatchdogState>(driver, NAME) ??
    await wake(driver, nowMs);
  // Read before the log: what is moved or folded meanwhile is in one of both.
  const oldestMs = await readOldestWaiting(driver, nowMs);
  const unfoldedSince = await readUnfoldedSince(driver);
  const log = withoutFuture(await readLog(driver, before.log), nowMs);
  const nowIso = new Date(nowMs).toISOString();
  // After our clock was set back, the stored time may be in the future.
  const watchedSince = earliest(before.watchedSince, nowIso) ?? nowIso;
  const waiting = oldestMs === null ? null : new Date(oldestMs).toISOString();
  const pauses = pausesOf(before, nowMs, everyMs);
  const known = {
    ...deliveryFacts(log),
    waitingSince: earliest(waiting, unfoldedSince),
    ...{ watchedSince, pauses, nowMs },
  };
  const changes = await readDecidingChanges(driver, known);
  const health = deliveryHealth({ ...known, changes });
  const alarm = deliveryAlarm(before.alarm, health);
  const state = { log, watchedSince, lookedMs: nowMs, pauses, alarm };
  return {
    health,
    alert: deliveryAlert(before.alarm, alarm, health),
    remember: [
      writeSweep(NAME, state satisfies WatchdogState, nowMs),
      ...tidyObservedChanges(nowMs, DECIDING_CHANGES),
    ],
  };
}

async function readDecidingChanges(
  driver: Driver,
  known: Omit<WatchedFacts, "changes">,
): Promise<readonly WatchedChange[]> {
  for (let limit = CHANGES_AT_FIRST;; limit *= 10) {
    const changes = await readObservedChanges(driver, known, limit);
    const settled = settledChanges({ ...known, changes });
    if (
      settled.length >= DECIDING_CHANGES || changes.length < limit ||
      limit >= CHANGES_AT_MOST
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
  const all = nowMs - lookedMs > (1 + LOOKS_LEFT_OUT) * everyMs + LATE_LOOK_MS
    ? [...pauses, { fromMs: lookedMs, untilMs: nowMs }]
    : pauses;
  return all.filter(({ untilMs }) =>
    untilMs > nowMs - KEEP_PAUSES_MS && untilMs <= nowMs
  )
    .slice(-MOST_PAUSES);
}

async function wake(driver: Driver, nowMs: number): Promise<WatchdogState> {
  const position = await readLastPosition(driver);
  const begin = Math.max(0, position - FIRST_LOOK);
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
    const rows = await readDeliveryLog(driver, log.position, BATCH);
    for (const row of rows) log = evolveDeliveryLog(log, row);
    if (rows.length === 0) return log;
  }
}

/**
 * How many answers are kept apart: that one was not answered may be reported
 * late.
 */
const REMEMBERED = 256;

interface ReceivedDelivery {
  readonly id: string;
  readonly at: string;
  /** Whether the service has shown the order or user that it names. */
  readonly shown: boolean;
  readonly ofOrder: boolean;
}

/** What the recorded events say about webhook delivery: plain data. */
interface DeliveryLog {
  readonly position: number;
  readonly recent: readonly ReceivedDelivery[];
  /** Ids of the last ones that were not answered in time, stored or not. */
  readonly unanswered: readonly string[];
  /** The same as {@linkcode DeliveryFacts}, of all that left `recent`. */
  readonly before: DeliveryFacts;
}

/** What is known of delivery at one time. */
export type DeliveryFacts = Pick<
  WatchedFacts,
  "lastReceivedAt" | "failingSince"
>;

/** A log that starts after a position. */
export function emptyDeliveryLog(
  position: number,
  lastReceivedAt: string | null = null,
): DeliveryLog {
  const before = { lastReceivedAt, failingSince: null };
  return { position, recent: [], unanswered: [], before };
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
    const unanswered = [...log.unanswered, unansweredId].slice(-REMEMBERED);
    return { ...log, position, unanswered };
  }
  const isWebhook = kind === "webhook" && type !== null && type !== "test";
  if (named === null && !isWebhook) return { ...log, position };
  const { eventId: id, recordedAt: at } = named ?? row;
  // The service has shown what a delivery named: now it counts as life.
  const delivery = { id, at, shown: named !== null || row.shown, ofOrder };
  const known = log.recent.findIndex((one) => one.id === id);
  const recent = known < 0
    ? [...log.recent, delivery]
    : log.recent.with(known, delivery);
  const leaving = recent.slice(0, -REMEMBERED);
  return {
    ...{ position, unanswered: log.unanswered },
    recent: recent.slice(leaving.length),
    before: deliveryFacts({ ...log, recent: leaving }),
  };
}

/** What the deliveries of a log say, after what is known of those before. */
export function deliveryFacts(
  { recent, unanswered, before }: DeliveryLog,
): DeliveryFacts {
  let { lastReceivedAt, failingSince } = before;
  for (const { id, at, shown, ofOrder } of recent) {
    if (unanswered.includes(id)) failingSince ??= at;
    else if (shown) {
      // Deliveries from the spool are stored late: their receipt may lie before.
      if (lastReceivedAt === null || at > lastReceivedAt) lastReceivedAt = at;
      // A user can log in at will: such webhooks say nothing of the others.
      if (ofOrder && failingSince !== null && at >= failingSince) {
        failingSince = null;
      }
    }
  }
  return { lastReceivedAt, failingSince };
}

/**
 * Drops receipts that are in the future: our clock was set back, and no later
 * change would count. One receipt at the present time takes their place.
 */
export function withoutFuture(log: DeliveryLog, nowMs: number): DeliveryLog {
  const nowIso = new Date(nowMs).toISOString();
  const isPast = (at: string) => Date.parse(at) <= nowMs + CLOCK_TOLERANCE_MS;
  const known = (at: string | null) => at === null || isPast(at) ? at : nowIso;
  const recent = log.recent.filter(({ at }) => isPast(at));
  const { lastReceivedAt, failingSince } = log.before;
  return {
    ...log,
    recent,
    before: {
      lastReceivedAt: recent.length < log.recent.length
        ? nowIso
        : known(lastReceivedAt),
      failingSince: known(failingSince),
    },
  };
}
