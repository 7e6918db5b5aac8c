import type { EventKind } from "../events/event.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import {
  deliveryFacts,
  type DeliveryLog,
  type DeliveryLogEntry,
  emptyDeliveryLog,
  evolveDeliveryLog,
  withoutFuture,
} from "./delivery_log.ts";
import {
  type DeliveryAlarm,
  deliveryAlarm,
  type DeliveryAlert,
  deliveryAlert,
} from "./delivery_alert.ts";
import {
  dateFutureChanges,
  deleteChangesBefore,
  readObservedChanges,
} from "../store/tables/polling/observed_changes.ts";
import {
  selectDeliveryLog,
  selectLastPosition,
  selectLastWebhook,
} from "../store/tables/deliveries.ts";
import { readSweep, writeSweep } from "../store/tables/polling/sweeps.ts";
import { oldestWaitingMs, readMovers } from "../queries/waiting_deliveries.ts";
import { type DeliveryHealth, deliveryHealth } from "./watchdog_rule.ts";

/** Name under which the watchdog stores its state. */
const watchdogName = "watchdog";

/** Events looked through when the watchdog first wakes. */
const firstLook = 20_000;

/** Events read at once. */
const batchSize = 2000;

/** Changes are kept this long, in milliseconds. */
export const KEEP_CHANGES_MS: number = 3 * 24 * 3_600_000;

/** What the watchdog keeps between two looks: plain JSON. */
interface WatchdogState {
  readonly log: DeliveryLog;
  /** When it first looked, UTC ISO 8601. */
  readonly watchedSince: string;
  /** The alarm of the last look; null where it found none. */
  readonly alarm: DeliveryAlarm | null;
}

/** One look of the watchdog. */
export interface WatchdogLook {
  /** How webhook delivery is. */
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
 * import { openLedger, watchdog } from "@rampkit/onramp/ledger";
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
    /** How long a webhook may take, in milliseconds. @default {300000} */
    readonly graceMs?: number;
  },
): Promise<WatchdogLook> {
  const { nowMs, graceMs } = options;
  const before = await readSweep<WatchdogState>(driver, watchdogName) ??
    await wake(driver, nowMs);
  // Read before the log: what is moved meanwhile is in one of both.
  const movers = await readMovers(driver);
  const log = withoutFuture(await readLog(driver, before.log), nowMs);
  const facts = deliveryFacts(log);
  // After our clock was set back, the stored time may be in the future.
  const nowIso = new Date(nowMs).toISOString();
  const watchedSince = before.watchedSince < nowIso
    ? before.watchedSince
    : nowIso;
  const changes = await readObservedChanges(
    driver,
    facts.lastReceivedAt ?? watchedSince,
  );
  const oldestMs = oldestWaitingMs(movers, nowMs);
  const waitingSince = oldestMs === null
    ? null
    : new Date(oldestMs).toISOString();
  const watched = { ...facts, waitingSince, changes, watchedSince, nowMs };
  const health = deliveryHealth(watched, graceMs);
  const alarm = deliveryAlarm(before.alarm, health);
  const state: WatchdogState = { log, watchedSince, alarm };
  return {
    health,
    alert: deliveryAlert(before.alarm, alarm, health),
    remember: [
      writeSweep(watchdogName, state, nowMs),
      dateFutureChanges(nowMs),
      deleteChangesBefore(new Date(nowMs - KEEP_CHANGES_MS).toISOString()),
    ],
  };
}

async function wake(driver: Driver, nowMs: number): Promise<WatchdogState> {
  const [head] = await driver.batch([selectLastPosition], "read");
  const position = Number(head?.rows[0]?.[0] ?? 0);
  const begin = Math.max(0, position - firstLook);
  return {
    log: emptyDeliveryLog(begin, await lastWebhook(driver, begin)),
    watchedSince: new Date(nowMs).toISOString(),
    alarm: null,
  };
}

/** When the last webhook up to a position came: long ago is not never. */
async function lastWebhook(
  driver: Driver,
  position: number,
): Promise<string | null> {
  if (position === 0) return null;
  const [found] = await driver.batch([selectLastWebhook(position)], "read");
  return found?.rows[0]?.[0] as string | undefined ?? null;
}

async function readLog(
  driver: Driver,
  begun: DeliveryLog,
): Promise<DeliveryLog> {
  let log = begun;
  for (;;) {
    const [found] = await driver.batch(
      [selectDeliveryLog(log.position, batchSize)],
      "read",
    );
    const rows = found?.rows ?? [];
    for (const row of rows) {
      log = evolveDeliveryLog(log, {
        position: Number(row[0]),
        kind: row[1] as EventKind,
        eventId: String(row[2]),
        type: row[3] as string | null,
        recordedAt: String(row[4]),
        unansweredId: unansweredId(row[5]),
        shown: row[6] === 1,
        named: namedDelivery(row[7]),
      });
    }
    if (rows.length < batchSize) return log;
  }
}

function namedDelivery(text: unknown): DeliveryLogEntry["named"] {
  if (typeof text !== "string") return null;
  const [eventId, recordedAt] = JSON.parse(text);
  return { eventId, recordedAt };
}

function unansweredId(body: unknown): DeliveryLogEntry["unansweredId"] {
  if (!(body instanceof Uint8Array) && !(body instanceof ArrayBuffer)) {
    return null;
  }
  try {
    const parsed = JSON.parse(new TextDecoder().decode(body));
    return typeof parsed?.event_id === "string" ? parsed.event_id : null;
  } catch {
    return null;
  }
}
