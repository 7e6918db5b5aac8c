import { isExpectation } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";
import type { Driver } from "../store/driver/driver.ts";
import { readPrimary } from "../store/driver/read_primary.ts";
import {
  type ErasableEvent,
  erasableEvents,
  selectErasableAt,
  selectOrdersOfLinks,
} from "../store/tables/erasure/erasable_events.ts";
import { selectPositionsOfLinks } from "../store/tables/events/expectations.ts";

/**
 * Reads what else was expected under the references of a person's sessions: a
 * basket that was asked for again names its buyer's address too. A reference
 * that leads to orders of others tells nothing of one of them.
 *
 * @param sessions Sessions and expectations of the person.
 * @param isOwn Whether an order is the person's.
 */
export async function readEventsOfReferences(
  driver: Driver,
  sessions: readonly ErasableEvent[],
  isOwn: (orderId: string) => boolean,
): Promise<ErasableEvent[]> {
  const own = new Set(sessions.flatMap(({ event }) => {
    const fact = readFact(event);
    return isExpectation(fact) ? fact.expectation.reference ?? [] : [];
  }));
  if (own.size === 0) return [];
  const [orders] = await readPrimary(driver, [selectOrdersOfLinks(pairs(own))]);
  for (const [, reference, orderId, stands] of orders?.rows ?? []) {
    if (stands === 1 && !isOwn(String(orderId))) own.delete(String(reference));
  }
  const [found] = await readPrimary(driver, [
    selectPositionsOfLinks(pairs(own)),
  ]);
  const positions = found?.rows.map(([at]) => at as number) ?? [];
  const [events] = await readPrimary(driver, [selectErasableAt(positions)]);
  return erasableEvents(events);
}

function pairs(references: ReadonlySet<string>): [string, string][] {
  return [...references].map((reference) => ["reference", reference]);
}
