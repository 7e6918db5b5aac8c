import { Columns, plain } from "../columns.ts";
import { ATTEMPTS_FROM_PREVIOUS_MS } from "../../../../core/waiting/retry_delay.ts";
import { CLOCK_TOLERANCE_MS } from "../../../../core/time/plausible_time.ts";
import {
  ANNOUNCED,
  type ObservedChange,
  type WatchedChange,
} from "../../../machines/observed_change.ts";
import type { Driver, Statement } from "../../driver/driver.ts";

/** Changes are kept this long, in milliseconds. */
export const KEEP_CHANGES_MS: number = 3 * 24 * 3_600_000;

/**
 * Changes of status that the service showed, on our clock, for the watchdog;
 * kept for days, not for ever.
 */
export const observedChangesSchema: readonly string[] = [
  `CREATE TABLE observed_changes (
    order_id TEXT NOT NULL,
    status TEXT NOT NULL,
    moved_at TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    PRIMARY KEY (order_id, status)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX observed_changes_by_time ON observed_changes(moved_at)`,
];

/** A move of an order. */
interface Move extends ObservedChange {
  readonly orderId: string;
}

const MOVES = new Columns<Move>({
  orderId: ["order_id", plain()],
  status: ["status", plain()],
  movedAt: ["moved_at", plain()],
  seenAt: ["seen_at", plain()],
});

/** Stores moves, each once. */
export function insertObservedChanges(
  moves: readonly Move[],
): Statement {
  const rows = moves.map((move) => MOVES.write(move));
  return {
    sql: `INSERT INTO observed_changes (${MOVES.list()})
      SELECT ${MOVES.values} FROM json_each(?) WHERE true
      ON CONFLICT (order_id, status) DO NOTHING`,
    args: [JSON.stringify(rows)],
  };
}

/** SQLite's form of our times: UTC ISO 8601 with milliseconds. */
const isoFormat = "%Y-%m-%dT%H:%M:%fZ";

/**
 * Whether the webhook that announces a move was recorded: before the move was
 * seen, or while the service was still trying.
 */
const announcedSql = `CASE m.status ${
  Object.entries(ANNOUNCED).map(([status, types]) =>
    `WHEN '${status}' THEN EXISTS (SELECT 1 FROM events AS e
      WHERE e.order_id = m.order_id AND e.kind = 'webhook'
        AND e.type IN (${types.map((type) => `'${type}'`).join(", ")})
        AND e.recorded_at <= strftime('${isoFormat}', m.seen_at, ?1))`
  ).join(" ")
} ELSE 1 END`;

/** How long after a move was seen its webhook may come, in seconds. */
const announcedWithinSeconds =
  (Math.max(...ATTEMPTS_FROM_PREVIOUS_MS) + CLOCK_TOLERANCE_MS) / 1000;

/**
 * Reads the last moves, by time, and whether a webhook announced each.
 *
 * @param driver The ledger's database.
 * @param window Moves of before `watchedSince`, UTC ISO 8601, are left out, and
 * those that have yet to come at `nowMs`.
 * @param limit How many, at most.
 */
export async function readObservedChanges(
  driver: Driver,
  { watchedSince, nowMs }: {
    readonly watchedSince: string;
    readonly nowMs: number;
  },
  limit: number,
): Promise<WatchedChange[]> {
  const [found] = await driver.batch([{
    sql: `SELECT ${MOVES.list("m")}, ${announcedSql}
      FROM observed_changes AS m WHERE m.moved_at > ?2 AND m.moved_at <= ?3
      ORDER BY m.moved_at DESC LIMIT ?4`,
    args: [
      `+${announcedWithinSeconds} seconds`,
      watchedSince,
      new Date(nowMs).toISOString(),
      limit,
    ],
  }], "read");
  return (found?.rows ?? []).map((row) => ({
    ...MOVES.read(row),
    announced: row[MOVES.count] === 1,
  })).reverse();
}

/**
 * Deletes moves of before a time, UTC ISO 8601, but for the last ones.
 *
 * @param time The time.
 * @param keep How many are kept, however old they are.
 */
export function deleteChangesBefore(time: string, keep: number): Statement {
  return {
    sql: `DELETE FROM observed_changes WHERE moved_at < min(?1,
      (SELECT moved_at FROM observed_changes
        ORDER BY moved_at DESC LIMIT 1 OFFSET ?2))`,
    args: [time, keep - 1],
  };
}

/**
 * Dates moves that were seen at a time to come, before our clock was set back,
 * to now: they are past, and not reported again when the clock comes to that time again.
 *
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function dateFutureChanges(nowMs: number): Statement {
  return {
    sql: `UPDATE observed_changes SET moved_at = min(moved_at, ?1), seen_at = ?1
      WHERE seen_at > ?2`,
    args: [
      new Date(nowMs).toISOString(),
      new Date(nowMs + CLOCK_TOLERANCE_MS).toISOString(),
    ],
  };
}
