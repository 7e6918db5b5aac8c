import { timeOf } from "../store/tables/stored_times.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { Driver } from "../store/driver/driver.ts";
import {
  countAll,
  countByKind,
  countOpenOrdersByStatus,
  countOrdersByAnomalies,
  countOrdersByStatus,
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
    chain_reading: 0,
    order_redacted: 0,
    witness_required: 0,
    month_closed: 0,
    note: 0,
    person_erased: 0,
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

/** Orders of one status and trust that may still change. */
export interface OpenOrders {
  /** Their status. */
  readonly status: string;
  /** Their trust. */
  readonly trust: string;
  /** How many. */
  readonly count: number;
  /** When the oldest was created, as far as is known; UTC ISO 8601. */
  readonly oldestAt: string;
}

/** How many orders there are, by the labels of the metrics. */
export interface OrderTally {
  /** All of them by status. */
  readonly byStatus: ReadonlyMap<string, number>;
  /** Those that may still change. */
  readonly open: readonly OpenOrders[];
  /** Those with an anomaly, by its kind; an order counts for each kind. */
  readonly byAnomaly: ReadonlyMap<string, number>;
}

/**
 * Counts orders. It walks an index with an entry for each order, so leave time
 * between two calls.
 *
 * @throws {LedgerError} When the database fails.
 */
export async function tallyOrders(driver: Driver): Promise<OrderTally> {
  const [statuses, open, anomalies] = await driver.batch(
    [countOrdersByStatus, countOpenOrdersByStatus, countOrdersByAnomalies],
    "read",
  );
  const byAnomaly = new Map<string, number>();
  for (const [kinds, count] of anomalies?.rows ?? []) {
    for (const kind of String(kinds).trim().split(" ")) {
      byAnomaly.set(kind, (byAnomaly.get(kind) ?? 0) + Number(count));
    }
  }
  return {
    byStatus: new Map(
      statuses?.rows.map(([status, count]) => [String(status), Number(count)]),
    ),
    open: open?.rows.map(([status, trust, count, oldestAt]) => ({
      status: String(status),
      trust: String(trust),
      count: Number(count),
      oldestAt: timeOf(oldestAt ?? 0),
    })) ?? [],
    byAnomaly,
  };
}
