/** Events for tests of the store. */
import type { NewEvent, RecordedEvent } from "../events/event.ts";
import { webhookEvent } from "./mint.ts";
import type { Driver } from "../store/database.ts";
import { createLedger, type LedgerStamp } from "../store/create.ts";
import { EVENT_COLUMNS, eventsOf } from "../store/events.ts";
import { openDriver } from "../thread/open_driver.ts";

/** Makes a ledger of the sandbox. */
export function prepare(driver: Driver): Promise<LedgerStamp> {
  return createLedger(driver, {
    environment: "sandbox",
    foldVersion: 1,
    now: () => Date.parse("2026-01-01T00:00:00Z"),
    randomBytes: (length) => new Uint8Array(length).fill(1),
  });
}

/** A webhook of order `number % 10`; the same number gives the same event. */
export function testEvent(number: number): NewEvent {
  const body = JSON.stringify({
    type: "payment_started",
    click_id: `click-${number % 7}`,
    order: { id: `order-${number % 10}`, base_amount: `0.${number}` },
    user: { user_id: `user-${number % 3}` },
  });
  return webhookEvent({
    id: `01J${String(number).padStart(23, "0")}`,
    receivedAt: new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString(),
    body: new TextEncoder().encode(body),
  }, new Uint8Array(16).fill(number));
}

/** `count` events, from the number `from` on. */
export function testEvents(count: number, from: number = 0): NewEvent[] {
  return Array.from({ length: count }, (_, at) => testEvent(from + at));
}

/** Ids of the stored events, as a process that comes later sees them. */
export async function storedIds(url: string): Promise<string[]> {
  const driver = await openDriver({ url, worker: false });
  const found = await storedEvents(driver);
  await driver.close();
  return found.map(({ eventId }) => eventId);
}

/**
 * Every event that is stored, in order of position.
 *
 * @param driver The database.
 * @param mode `read` may be answered by a replica. @default {"write"}
 */
export async function storedEvents(
  driver: Driver,
  mode: "read" | "write" = "write",
): Promise<RecordedEvent[]> {
  const [result] = await driver.batch([{
    sql: `SELECT ${EVENT_COLUMNS} FROM events AS e ORDER BY e.position`,
    args: [],
  }], mode);
  return eventsOf(result?.rows);
}
