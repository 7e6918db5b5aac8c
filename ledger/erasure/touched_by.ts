import { isExpectationKind } from "../machines/event_kind.ts";
import { isExpectation } from "../events/fact.ts";
import { expectationLinks } from "../events/links.ts";
import { readFact } from "../events/read_fact.ts";
import type { Driver } from "../store/driver/driver.ts";
import { readPrimary } from "../store/driver/read_primary.ts";
import { selectOrdersOfLinks } from "../store/tables/erasure/erasable_events.ts";
import { isSameId } from "./same_id.ts";
import type { PersonEvents } from "./person_events.ts";

/** Orders and other users whose states the blanked events had a part in. */
export async function touchedBy(
  driver: Driver,
  { userId, orderIds, events }: Pick<PersonEvents, "orderIds" | "events"> & {
    readonly userId: string | null;
  },
): Promise<{ orderIds: string[]; userIds: string[] }> {
  const orders = new Set(orderIds);
  const users = new Set<string>();
  const links: [string, string][] = [];
  for (const { event } of events) {
    if (event.orderId !== null) orders.add(event.orderId);
    if (event.userId !== null && !isSameId(event.userId, userId)) {
      users.add(event.userId);
    }
    if (!isExpectationKind(event.kind)) continue;
    const fact = readFact(event);
    if (!isExpectation(fact)) continue;
    for (const { kind, link } of expectationLinks(fact.expectation)) {
      links.push([kind, link]);
    }
  }
  const [linked] = await readPrimary(driver, [selectOrdersOfLinks(links)]);
  for (const [, , orderId] of linked?.rows ?? []) orders.add(String(orderId));
  return { orderIds: [...orders], userIds: [...users] };
}
