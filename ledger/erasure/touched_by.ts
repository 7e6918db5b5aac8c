import type { RecordedEvent } from "../events/event.ts";
import type { Driver } from "../store/driver/driver.ts";
import { readPrimary } from "../store/driver/read_primary.ts";
import { selectOrdersOfLinks } from "../store/tables/erasure/erasable_events.ts";
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
    if (event.userId !== null && event.userId !== userId) {
      users.add(event.userId);
    }
    if (event.kind !== "session_created") continue;
    if (event.clickId !== null) links.push(["click", event.clickId]);
    const sessionId = sessionOf(event);
    if (sessionId !== null) links.push(["session", sessionId]);
  }
  const [linked] = await readPrimary(driver, [selectOrdersOfLinks(links)]);
  for (const row of linked?.rows ?? []) orders.add(String(row[2]));
  return { orderIds: [...orders], userIds: [...users] };
}

function sessionOf({ body }: RecordedEvent): string | null {
  if (body === null) return null;
  return JSON.parse(new TextDecoder().decode(body)).session_id ?? null;
}
