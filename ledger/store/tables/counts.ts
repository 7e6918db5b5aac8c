import type { Statement } from "../driver/driver.ts";
import { liveGeneration } from "./checkpoints.ts";

const position = "coalesce((SELECT position FROM projections " +
  "WHERE name = 'live'), 0)";

/** Counts the events that are no webhooks: rows of kind and number. */
export const countByKind: Statement = {
  sql: "SELECT kind, count(*) FROM events WHERE kind <> 'webhook' " +
    "GROUP BY kind",
  args: [],
};

/**
 * Counts events, quarantined deliveries, orders and users; then the position of
 * the last event, and events that are not folded.
 */
export const countAll: Statement = {
  sql: `SELECT
    (SELECT count(*) FROM events),
    (SELECT count(*) FROM events INDEXED BY events_quarantined
      WHERE kind = 'webhook' AND type IS NULL),
    (SELECT count(*) FROM orders WHERE generation = ${liveGeneration}),
    (SELECT count(*) FROM users WHERE generation = ${liveGeneration}),
    (SELECT coalesce(max(position), 0) FROM events),
    (SELECT count(*) FROM events WHERE position > ${position})`,
  args: [],
};

/** Counts the events that are not folded. */
export const countUnfolded: Statement = {
  sql: `SELECT count(*) FROM events WHERE position > ${position}`,
  args: [],
};

/** Counts all orders: rows of status and number. */
export const countOrdersByStatus: Statement = {
  sql: `SELECT status, count(*) FROM orders
    WHERE generation = ${liveGeneration} GROUP BY status`,
  args: [],
};

/**
 * Counts the orders that may still change: rows of status, trust, number and
 * the earliest time that one is sorted by.
 */
export const countOpenOrdersByStatus: Statement = {
  sql: `SELECT status, trust, count(*), min(sort_at) FROM orders
    WHERE generation = ${liveGeneration} AND open = 1 GROUP BY status, trust`,
  args: [],
};

/** Counts orders with anomalies: rows of the kinds in one text, and number. */
export const countOrdersByAnomalies: Statement = {
  sql: `SELECT anomalies, count(*) FROM orders
    WHERE generation = ${liveGeneration} AND anomalies IS NOT NULL
    GROUP BY anomalies`,
  args: [],
};
