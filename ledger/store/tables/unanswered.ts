import type { Statement } from "../driver/driver.ts";

/** Deliveries that were not answered in time. */
export const unansweredSchema: readonly string[] = [
  `CREATE TABLE unanswered_deliveries (
    event_id TEXT PRIMARY KEY
  ) STRICT, WITHOUT ROWID`,
];

/** Remembers deliveries that were not answered in time, each once. */
export function insertUnanswered(eventIds: readonly string[]): Statement {
  return {
    sql: `INSERT INTO unanswered_deliveries (event_id)
      SELECT value FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`,
    args: [JSON.stringify(eventIds)],
  };
}
