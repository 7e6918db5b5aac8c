import type { Statement } from "../../driver/driver.ts";
import { EVENTS } from "./event_rows.ts";

/** Selects the event that says what a person did about an order. */
export function selectHandReleaseEvent(orderId: string): Statement {
  return {
    sql: `SELECT ${EVENTS.list("e")} FROM hand_releases AS h
      JOIN events AS e ON e.position = h.position WHERE h.order_id = ?`,
    args: [orderId],
  };
}
