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
    (SELECT count(*) FROM events WHERE kind = 'webhook' AND type IS NULL),
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
