import type { RecordedEvent } from "../event/event.ts";
import type { Fact } from "../fold/fact.ts";
import { CLICK_SESSIONS_KEPT } from "../fold/sessions.ts";
import type { Driver } from "../store/driver.ts";
import { eventColumns, recordedEvent } from "../store/event_row.ts";
import { type Link, linkKey, orderLinks } from "./links.ts";
import { liveGeneration } from "./select_page.ts";

const columns = eventColumns.split(", ").map((name) => `e.${name}`).join(", ");

/**
 * Reads every fact of an order: the events that name it, and the sessions of
 * the partner that they link to it; of a click id the earliest ones, of which
 * one can be the order's own.
 *
 * @param driver The database.
 * @param orderId The order.
 * @param readFact Turns events into facts.
 * @returns The facts by position; none when nothing names the order.
 */
export async function readOrderFacts(
  driver: Driver,
  orderId: string,
  readFact: (event: RecordedEvent) => Fact,
): Promise<Fact[]> {
  const [events] = await driver.batch([{
    sql: `SELECT ${columns} FROM events AS e WHERE e.order_id = ?
      ORDER BY e.position`,
    args: [orderId],
  }], "read");
  const facts = events?.rows.map((row) => readFact(recordedEvent(row))) ?? [];
  const links = new Map<string, Link>();
  for (const fact of facts) {
    for (const link of orderLinks(fact)) links.set(linkKey(link), link);
  }
  if (links.size === 0) return facts;
  const [sessions] = await driver.batch([{
    sql: `SELECT ${columns} FROM events AS e WHERE e.position IN (
        SELECT l.position FROM json_each(?1) AS w
        CROSS JOIN session_links AS l ON l.generation = ${liveGeneration}
          AND l.kind = w.value ->> 0 AND l.link = w.value ->> 1
          AND l.recorded_at <= CASE w.value ->> 0 WHEN 'click' THEN coalesce((
              SELECT k.recorded_at FROM session_links AS k
              WHERE k.generation = ${liveGeneration} AND k.kind = 'click'
                AND k.link = w.value ->> 1
              ORDER BY k.recorded_at
              LIMIT 1 OFFSET ${CLICK_SESSIONS_KEPT - 1}), '~')
            ELSE '~' END)`,
    args: [
      JSON.stringify([...links.values()].map(({ kind, link }) => [kind, link])),
    ],
  }], "read");
  for (const row of sessions?.rows ?? []) {
    facts.push(readFact(recordedEvent(row)));
  }
  return facts.sort((a, b) => a.position - b.position);
}
