/** Changes of status that the service showed, on our clock, for the watchdog. */
import { CLOCK_TOLERANCE_MS } from "../../core/time/plausible_time.ts";
import { ATTEMPTS_FROM_PREVIOUS_MS } from "../../core/waiting/retry_delay.ts";
import {
  ANNOUNCED,
  type ObservedChange,
  type WatchedChange,
} from "../machines/observed_change.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { insertMany, read } from "../store/database.ts";

/** Changes are kept this long, in milliseconds. */
export const KEEP_CHANGES_MS: number = 3 * 24 * 3_600_000;

/** A move of an order. */
interface Move extends ObservedChange {
  readonly orderId: string;
}

/** Stores moves, each once. */
export function insertObservedChanges(moves: readonly Move[]): Statement[] {
  return insertMany(
    "observed (order_id, status, moved_at, seen_at)",
    moves.map((one) => [one.orderId, one.status, one.movedAt, one.seenAt]),
    "ON CONFLICT (order_id, status) DO NOTHING",
  );
}

/** How long after a move was seen its webhook may come, in seconds. */
const ANNOUNCED_WITHIN_SECONDS =
  (Math.max(...ATTEMPTS_FROM_PREVIOUS_MS) + CLOCK_TOLERANCE_MS) / 1000;

/** When the webhook that announces a move must be there, in our form of times. */
const LATEST = `strftime('%Y-%m-%dT%H:%M:%fZ', m.seen_at,
  '+${ANNOUNCED_WITHIN_SECONDS} seconds')`;

/** Our form of the time of an event, which is stored as ms where that loses nothing. */
const RECORDED_AT = `CASE typeof(e.recorded_at) WHEN 'integer'
  THEN strftime('%Y-%m-%dT%H:%M:%fZ', e.recorded_at / 1000.0, 'unixepoch')
  ELSE e.recorded_at END`;

const TYPE = `CASE WHEN json_valid(CAST(e.body AS TEXT))
  THEN CAST(e.body AS TEXT) ->> '$.type' END`;

/**
 * Whether the webhook that announces a move was recorded: before the move was seen, or
 * while the service was still trying.
 */
const IS_ANNOUNCED = `CASE m.status ${
  Object.entries(ANNOUNCED).map(([status, types]) =>
    `WHEN '${status}' THEN EXISTS (SELECT 1 FROM orders AS o
        CROSS JOIN mentions AS n ON n.no = o.no
        CROSS JOIN events AS e ON e.position = n.position
      WHERE o.id = m.order_id AND e.kind = 'webhook'
        AND ${RECORDED_AT} <= ${LATEST}
        AND ${TYPE} IN (${types.map((type) => `'${type}'`).join(", ")}))`
  ).join(" ")
} ELSE 1 END`;

/**
 * Reads the last moves, by time, and whether a webhook announced each.
 *
 * @param window Moves of before `watchedSince`, UTC ISO 8601, are left out, and those
 * that have yet to come at `nowMs`.
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
  const [rows = []] = await read(driver, [{
    sql: `SELECT m.order_id, m.status, m.moved_at, m.seen_at, ${IS_ANNOUNCED}
      FROM observed AS m WHERE m.moved_at > ? AND m.moved_at <= ?
      ORDER BY m.moved_at DESC LIMIT ?`,
    args: [watchedSince, new Date(nowMs).toISOString(), limit],
  }]);
  return rows.map(([orderId, status, movedAt, seenAt, announced]) => ({
    orderId: String(orderId),
    status: String(status),
    movedAt: String(movedAt),
    seenAt: String(seenAt),
    announced: announced === 1,
  })).reverse();
}

/**
 * Deletes moves of before a time, UTC ISO 8601, but for the last ones.
 *
 * @param keep How many are kept, however old they are.
 */
export function deleteChangesBefore(time: string, keep: number): Statement {
  return {
    sql: `DELETE FROM observed WHERE moved_at < min(?1, (SELECT moved_at
      FROM observed ORDER BY moved_at DESC LIMIT 1 OFFSET ?2))`,
    args: [time, keep - 1],
  };
}

/**
 * Dates moves that were seen at a time to come, before our clock was set back, to now:
 * they are past, and not reported again when the clock comes to that time again.
 */
export function dateFutureChanges(nowMs: number): Statement {
  return {
    sql: `UPDATE observed SET moved_at = min(moved_at, ?1), seen_at = ?1
      WHERE seen_at > ?2`,
    args: [
      new Date(nowMs).toISOString(),
      new Date(nowMs + CLOCK_TOLERANCE_MS).toISOString(),
    ],
  };
}
