import type { Statement } from "../../driver/driver.ts";
import { EVENTS } from "./event_rows.ts";

/** Selects what people did about orders and noted of them, by position. */
export function selectCaseEvents(orderIds: readonly string[]): Statement {
  return {
    sql: `SELECT ${EVENTS.list("e")} FROM json_each(?) AS w
      CROSS JOIN events AS e INDEXED BY events_by_order
        ON e.order_id = w.value
      WHERE e.kind IN ('case_changed', 'order_released')
      ORDER BY e.position`,
    args: [JSON.stringify(orderIds)],
  };
}

/** Selects the latest of what people did about cases, the latest first. */
export function selectLatestNotes(limit: number): Statement {
  return {
    // The second condition is that of the index.
    sql: `SELECT ${EVENTS.list()} FROM events
      WHERE kind = 'case_changed' AND kind <> 'webhook'
      ORDER BY position DESC LIMIT ?`,
    args: [limit],
  };
}
