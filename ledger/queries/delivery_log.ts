import type { EventKind } from "../machines/event_kind.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import type { DeliveryLogRow } from "../next/reads/delivery_log.ts";
import {
  selectDeliveryLog,
  selectLastPosition,
  selectLastWebhook,
  selectLateReading,
} from "../store/tables/deliveries.ts";

/** Reads what tells whether deliveries come, of the events after a position. */
export async function readDeliveryLog(
  driver: Driver,
  after: number,
  limit: number,
): Promise<readonly DeliveryLogRow[]> {
  const [found] = await driver.batch([selectDeliveryLog(after, limit)], "read");
  return (found?.rows ?? []).map((row) => ({
    position: Number(row[0]),
    kind: row[1] as EventKind,
    eventId: String(row[2]),
    type: row[3] as string | null,
    recordedAt: String(row[4]),
    unansweredId: unansweredId(row[5]),
    shown: row[6] === 1,
    named: namedDelivery(row[7]),
    ofOrder: row[8] === 1,
  }));
}

function namedDelivery(text: unknown): DeliveryLogRow["named"] {
  if (typeof text !== "string") return null;
  const [eventId, recordedAt] = JSON.parse(text);
  return { eventId, recordedAt };
}

function unansweredId(body: unknown): string | null {
  if (!(body instanceof Uint8Array)) return null;
  try {
    const parsed = JSON.parse(new TextDecoder().decode(body));
    return typeof parsed?.event_id === "string" ? parsed.event_id : null;
  } catch {
    return null;
  }
}

/** When the last webhook up to a position came; null where there is none. */
export function readLastWebhook(
  driver: Driver,
  position: number,
): Promise<string | null> {
  return readText(driver, selectLastWebhook(position));
}

/** When the last reading among the last events was recorded; else null. */
export function readLateReading(driver: Driver): Promise<string | null> {
  return readText(driver, selectLateReading);
}

/** Reads the position of the last event; 0 where there is none. */
export async function readLastPosition(driver: Driver): Promise<number> {
  const [found] = await driver.batch([selectLastPosition], "read");
  return Number(found?.rows[0]?.[0] ?? 0);
}

async function readText(
  driver: Driver,
  statement: Statement,
): Promise<string | null> {
  const [found] = await driver.batch([statement], "read");
  return (found?.rows[0]?.[0] ?? null) as string | null;
}
