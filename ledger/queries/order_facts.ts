import type { RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { readExpectations } from "./read_expectations.ts";
import { placeRedacted } from "./place_redacted.ts";
import type { Driver } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import { selectEventsOfOrder } from "../store/tables/events/events.ts";

/**
 * Reads every fact of an order: the events that name it, and what the partner
 * expects of it.
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
  const own = placeRedacted(facts);
  const expected = await readExpectations(
    driver,
    new Map([[orderId, own]]),
    readFact,
  );
  return [...own, ...expected].sort((a, b) => a.position - b.position);
}
