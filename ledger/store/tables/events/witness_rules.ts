import type { Statement } from "../../driver/driver.ts";
import { EVENTS } from "./event_rows.ts";

/**
 * Selects the events that say since when orders wait for the chain, and until
 * when, by position. The second condition is that of the index.
 */
export const selectWitnessRules: Statement = {
  sql: `SELECT ${EVENTS.list()} FROM events
    WHERE kind = 'witness_required' AND kind <> 'webhook' ORDER BY position`,
  args: [],
};
