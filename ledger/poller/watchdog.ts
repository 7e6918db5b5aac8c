import type { EventKind } from "../event/event.ts";
import type { Driver, Statement } from "../store/driver.ts";
import {
  deliveryFacts,
  type DeliveryLog,
  type DeliveryLogEntry,
  emptyDeliveryLog,
  evolveDeliveryLog,
} from "./delivery_log.ts";
import { ANNOUNCED } from "./order_move.ts";
import { readSweep, writeSweep } from "./sweep_store.ts";
import {
  type DeliveryHealth,
  deliveryHealth,
  type WatchedMove,
} from "./watchdog_rule.ts";

/** Name under which the watchdog keeps what it knows. */
const watchdogName = "watchdog";

/** Events looked through when the watchdog first wakes. */
const firstLook = 20_000;

/** Events read at once. */
const batchSize = 2000;

/** Moves are kept this long, in milliseconds. */
const keepMovesMs = 3 * 24 * 3_600_000;

/** What the watchdog keeps between two looks: plain JSON. */
interface WatchdogState {
  readonly log: DeliveryLog;
  /** When it first looked, UTC ISO 8601. */
  readonly watchedSince: string;
  /** Whether the last look raised the alarm. */
  readonly alarmed: boolean;
}

/** One look of the watchdog. */
export interface WatchdogLook {
  /** How webhook delivery is. */
  readonly health: DeliveryHealth;
  /** Whether this look is the first to find it that way. */
  readonly raised: boolean;
  /** Whether it was bad at the last look and no longer is. */
  readonly cleared: boolean;
  /** Statements that make the watchdog remember this look. */
  readonly remember: readonly Statement[];
}

/**
 * Looks at webhook delivery from outside the handler, which is silent exactly
 * when delivery is off. Reads only; to remember the look, write its statements.
 *
 * @param driver The ledger's database.
 * @param options The time, and how long a webhook may take.
 * @returns What it sees, and what to write.
 * @throws {LedgerError} When the database fails.
 *
 * @example Ask whether delivery works
 * ```ts
 * import { openLedger, watchdog } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const { health } = await watchdog(ledger.driver, { nowMs: Date.now() });
 * assert.equal(health.deliverySuspected, false, health.detail);
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
  const log = await readLog(driver, before.log);
  const facts = deliveryFacts(log);
  const moves = await readMoves(
    driver,
    facts.lastReceivedAt ?? before.watchedSince,
  );
  const { watchedSince } = before;
  const watched = { ...facts, moves, watchedSince, nowMs };
  const health = deliveryHealth(watched, graceMs);
  const alarmed = health.countdown !== null;
  const state: WatchdogState = { log, watchedSince, alarmed };
  return {
    health,
    raised: alarmed && !before.alarmed,
    cleared: !alarmed && before.alarmed,
    remember: [
      writeSweep(watchdogName, state, nowMs),
      {
        sql: "DELETE FROM order_moves WHERE moved_at < ?",
        args: [new Date(nowMs - keepMovesMs).toISOString()],
      },
    ],
  };
}

async function wake(driver: Driver, nowMs: number): Promise<WatchdogState> {
  const [head] = await driver.batch([{
    sql: "SELECT max(position) FROM events",
    args: [],
  }], "read");
  const position = Number(head?.rows[0]?.[0] ?? 0);
  const begin = Math.max(0, position - firstLook);
  return {
    log: emptyDeliveryLog(begin, await lastWebhook(driver, begin)),
    watchedSince: new Date(nowMs).toISOString(),
    alarmed: false,
  };
}

/** When the last webhook up to a position came: long ago is not never. */
async function lastWebhook(
  driver: Driver,
  position: number,
): Promise<string | null> {
  if (position === 0) return null;
  const [found] = await driver.batch([{
    sql: `SELECT recorded_at FROM events
      WHERE position <= ? AND kind = 'webhook'
        AND type IS NOT NULL AND type <> 'test'
      ORDER BY position DESC LIMIT 1`,
    args: [position],
  }], "read");
  return found?.rows[0]?.[0] as string | undefined ?? null;
}

async function readLog(
  driver: Driver,
  begun: DeliveryLog,
): Promise<DeliveryLog> {
  let log = begun;
  for (;;) {
    const [found] = await driver.batch([{
      sql: `SELECT position, kind, event_id, type, recorded_at,
          CASE WHEN kind = 'delivery_unanswered' THEN body END
        FROM events WHERE position > ? ORDER BY position LIMIT ?`,
      args: [log.position, batchSize],
    }], "read");
    const rows = found?.rows ?? [];
    for (const row of rows) {
      log = evolveDeliveryLog(log, {
        position: Number(row[0]),
        kind: row[1] as EventKind,
        eventId: String(row[2]),
        type: row[3] as string | null,
        recordedAt: String(row[4]),
        unansweredId: unansweredId(row[5]),
      });
    }
    if (rows.length < batchSize) return log;
  }
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

/** Whether the webhook that announces a move was ever recorded. */
const announcedSql = `CASE m.status ${
  Object.entries(ANNOUNCED).map(([status, types]) =>
    `WHEN '${status}' THEN EXISTS (SELECT 1 FROM events AS e
      WHERE e.order_id = m.order_id AND e.kind = 'webhook'
        AND e.type IN (${types.map((type) => `'${type}'`).join(", ")}))`
  ).join(" ")
} ELSE 1 END`;

async function readMoves(
  driver: Driver,
  since: string,
): Promise<WatchedMove[]> {
  const [found] = await driver.batch([{
    sql: `SELECT m.order_id, m.status, m.moved_at, m.seen_at, ${announcedSql}
      FROM order_moves AS m WHERE m.moved_at > ?
      ORDER BY m.moved_at LIMIT 1000`,
    args: [since],
  }], "read");
  return (found?.rows ?? []).map((row) => ({
    orderId: String(row[0]),
    status: String(row[1]),
    movedAt: String(row[2]),
    seenAt: String(row[3]),
    announced: row[4] === 1,
  }));
}
