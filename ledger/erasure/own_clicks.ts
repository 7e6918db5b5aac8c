import type { RecordedEvent } from "../events/event.ts";
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import {
  type ErasableEvent,
  erasableEvents,
  selectErasableAt,
  selectErasableOfClicks,
  selectOrdersOfClicks,
  selectOrdersOfLinks,
} from "../store/tables/erasure/erasable_events.ts";
import { selectPositionsOfLinks } from "../store/tables/events/expectations.ts";
import { isExpectation } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";

/**
 * The click ids that the service or the partner states of some events. Anybody
 * can send a webhook that names a person beside somebody else's click id.
 *
 * @param events Events that say something of one person.
 */
export function statedClicks(
  events: readonly Pick<RecordedEvent, "kind" | "clickId">[],
): Set<string> {
  return new Set(
    events.flatMap(({ kind, clickId }) =>
      kind === "webhook" ? [] : clickId ?? []
    ),
  );
}

/**
 * Finds the click ids that lead to no order of anybody else. A click id that
 * several people share identifies none of them.
 *
 * @param clickIds Click ids.
 * @param isOwn Whether an order is the person's.
 */
export async function ownClicks(
  driver: Driver,
  clickIds: Iterable<string>,
  isOwn: (orderId: string) => boolean,
): Promise<Set<string>> {
  const own = new Set(clickIds);
  if (own.size === 0) return own;
  const [rows] = await readPrimary(driver, [selectOrdersOfClicks(own)]);
  for (const [clickId, orderId] of rows?.rows ?? []) {
    if (!isOwn(String(orderId))) own.delete(String(clickId));
  }
  return own;
}

/**
 * Reads what names nothing but one of some click ids: sessions, and webhooks
 * without an order and a user.
 *
 * @param clickIds Click ids.
 * @param position Position of the last event that counts.
 */
export async function readEventsOfClicks(
  driver: Driver,
  clickIds: ReadonlySet<string>,
  position: number,
): Promise<ErasableEvent[]> {
  if (clickIds.size === 0) return [];
  const [links, webhooks] = await readPrimary(driver, [
    selectPositionsOfLinks(linksOf("click", clickIds)),
    selectErasableOfClicks([...clickIds], position),
  ]);
  const positions = links?.rows.map(([at]) => at as number) ?? [];
  const [sessions] = await readPrimary(driver, [selectErasableAt(positions)]);
  return [...erasableEvents(sessions), ...erasableEvents(webhooks)].filter((
    { event, erased },
  ) =>
    event.position <= position && event.userId === null &&
    erased?.part !== "identity"
  );
}

function linksOf(
  kind: "click" | "reference",
  values: ReadonlySet<string>,
): [string, string][] {
  return [...values].map((value) => [kind, value]);
}

/**
 * Reads what else was expected under the references of a person's sessions: a
 * basket that was asked for again names its buyer's address too. A reference
 * that leads to orders of others identifies none of them.
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
  const [orders] = await readPrimary(driver, [
    selectOrdersOfLinks(linksOf("reference", own)),
  ]);
  for (const [, reference, orderId, stands] of orders?.rows ?? []) {
    if (stands === 1 && !isOwn(String(orderId))) own.delete(String(reference));
  }
  const [found] = await readPrimary(driver, [
    selectPositionsOfLinks(linksOf("reference", own)),
  ]);
  const positions = found?.rows.map(([at]) => at as number) ?? [];
  const [events] = await readPrimary(driver, [selectErasableAt(positions)]);
  return erasableEvents(events);
}
