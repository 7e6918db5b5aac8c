import type { EventKind } from "../machines/event_kind.ts";
import type { Driver } from "../store/driver/driver.ts";
import {
  countAll,
  countByKind,
  countUnfolded,
} from "../store/tables/counts.ts";

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

/**
 * Counts what a ledger holds.
 */
export async function readStats(driver: Driver): Promise<LedgerStats> {
  const [kinds, counts] = await driver.batch(
    [countByKind, countAll],
    "read",
  );
  const events: Record<EventKind, number> = {
    webhook: 0,
    order_snapshot: 0,
    user_snapshot: 0,
    order_absent: 0,
    order_contradicted: 0,
    session_created: 0,
    order_expected: 0,
    delivery_unanswered: 0,
    order_released: 0,
    order_redacted: 0,
    month_closed: 0,
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
 */
export async function readLag(driver: Driver): Promise<number> {
  const [result] = await driver.batch([countUnfolded], "read");
  return result?.rows[0]?.[0] as number;
}
