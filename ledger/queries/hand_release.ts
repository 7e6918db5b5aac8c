import { filledText } from "../events/fact_text.ts";
import { exactObject } from "../events/read_body.ts";
import { readFact } from "../events/read_fact.ts";
import type { RecordedRelease } from "../releases/release_by_hand.ts";
import type { Driver } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import { selectHandReleaseEvent } from "../store/tables/events/hand_release.ts";

/**
 * Reads what a person did about an order.
 *
 * @param orderId The order.
 * @returns Null while nobody did anything.
 */
export async function readHandRelease(
  driver: Driver,
  orderId: string,
): Promise<RecordedRelease | null> {
  const [found] = await driver.batch(
    [selectHandReleaseEvent(orderId)],
    "read",
  );
  const row = found?.rows[0];
  if (row === undefined) return null;
  const event = recordedEvent(row);
  const fact = readFact(event);
  if (fact.kind !== "order_released" || event.body === null) return null;
  const { outcome, reference, recordedAt } = fact.hand;
  const body = exactObject(event.body);
  return {
    outcome,
    by: filledText(body?.by) ?? "",
    why: filledText(body?.why) ?? "",
    for: reference,
    at: recordedAt,
  };
}
