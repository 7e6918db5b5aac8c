import type { Driver } from "../store/driver/driver.ts";
import {
  countOpenOrdersByStatus,
  countOrdersByAnomalies,
  countOrdersByStatus,
} from "../store/tables/counts.ts";

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

/** How many orders there are, by what a metric tells apart. */
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
      oldestAt: String(oldestAt),
    })) ?? [],
    byAnomaly,
  };
}
