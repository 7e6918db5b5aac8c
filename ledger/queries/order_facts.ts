import type { RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { placeRedacted } from "../events/place_redacted.ts";
import type { Driver } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/event_row.ts";
import { type Link, linkKey, orderLinks } from "../projection/links.ts";
import { selectEventsOfOrder } from "../store/tables/events.ts";
import { selectLiveSessions } from "../store/tables/links.ts";

/**
 * Reads every fact of an order: the events that name it, and the sessions of
 * the partner that they link to it; of a click id the earliest ones, of which
 * one can be the order's own.
 *
 * @param orderId The order.
 * @param readFact Turns events into facts.
 * @returns The facts by position; none when nothing names the order.
 */
export async function readOrderFacts(
  driver: Driver,
  orderId: string,
  readFact: (event: RecordedEvent) => Fact,
): Promise<Fact[]> {
  const [events] = await driver.batch([selectEventsOfOrder(orderId)], "read");
  const facts = events?.rows.map((row) => readFact(recordedEvent(row))) ?? [];
  const links = new Map<string, Link>();
  for (const fact of facts) {
    for (const link of orderLinks(fact)) links.set(linkKey(link), link);
  }
  if (links.size === 0) return placeRedacted(facts);
  const [sessions] = await driver.batch(
    [selectLiveSessions([...links.values()])],
    "read",
  );
  for (const row of sessions?.rows ?? []) {
    facts.push(readFact(recordedEvent(row)));
  }
  return placeRedacted(facts.sort((a, b) => a.position - b.position));
}
