import type { EventKind } from "../event/event.ts";
import type { Driver } from "../store/driver.ts";
import { liveGeneration } from "./select_page.ts";

/** How much a ledger holds, and how far it is folded. */
export interface LedgerStats {
  /** Events by kind; `webhook` counts quarantined ones too. */
  readonly events: Readonly<Record<EventKind, number>>;
  /** Deliveries without a text `type`, JSON objects or not. */
  readonly quarantined: number;
  /** Orders. */
  readonly orders: number;
  /** Users. */
  readonly users: number;
  /** Position of the last event; 0 when there is none. */
  readonly position: number;
  /** Events that are not folded yet. */
  readonly lag: number;
}

const position = "coalesce((SELECT position FROM projections " +
  "WHERE name = 'live'), 0)";

/**
 * Counts what a ledger holds.
 *
 * @param driver The database.
 */
export async function readStats(driver: Driver): Promise<LedgerStats> {
  const [kinds, counts] = await driver.batch([
    {
      sql: "SELECT kind, count(*) FROM events WHERE kind <> 'webhook' " +
        "GROUP BY kind",
      args: [],
    },
    {
      sql: `SELECT
        (SELECT count(*) FROM events),
        (SELECT count(*) FROM events WHERE kind = 'webhook' AND type IS NULL),
        (SELECT count(*) FROM orders WHERE generation = ${liveGeneration}),
        (SELECT count(*) FROM users WHERE generation = ${liveGeneration}),
        (SELECT coalesce(max(position), 0) FROM events),
        (SELECT count(*) FROM events WHERE position > ${position})`,
      args: [],
    },
  ], "read");
  const events: Record<EventKind, number> = {
    webhook: 0,
    order_snapshot: 0,
    user_snapshot: 0,
    order_absent: 0,
    order_contradicted: 0,
    session_created: 0,
    delivery_unanswered: 0,
  };
  const [all, quarantined, orders, users, last, lag] =
    (counts?.rows[0] ?? []) as readonly number[];
  let others = 0;
  for (const [kind, count] of kinds?.rows ?? []) {
    events[kind as EventKind] = count as number;
    others += count as number;
  }
  events.webhook = (all ?? 0) - others;
  return {
    events,
    quarantined: quarantined ?? 0,
    orders: orders ?? 0,
    users: users ?? 0,
    position: last ?? 0,
    lag: lag ?? 0,
  };
}

/**
 * Counts events that are not folded yet.
 *
 * @param driver The database.
 */
export async function readLag(driver: Driver): Promise<number> {
  const [result] = await driver.batch([{
    sql: `SELECT count(*) FROM events WHERE position > ${position}`,
    args: [],
  }], "read");
  return result?.rows[0]?.[0] as number;
}
