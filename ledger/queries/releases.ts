import { exactObject, filledText } from "../events/fact_text.ts";
import { readFact } from "../events/read_fact.ts";
import type { RecordedRelease } from "../releases/release_by_hand.ts";
import { readOrderState } from "../projection/codec/stored_state.ts";
import type { Driver } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import { selectHandReleaseEvent } from "../store/tables/events/expectations.ts";
import { selectPurchaseHolder } from "../store/tables/purchases.ts";
import { outcomeOf } from "../outcomes/outcome.ts";
import type { Release, ReleaseReason } from "../outcomes/outcome_table.ts";
import { selectOutcomeFacts } from "../store/tables/order_context.ts";

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

/**
 * Finds the order that holds the purchase which another order waits for.
 *
 * @param orderId The order that waits.
 * @returns Null where it waits for none.
 * @throws {LedgerError} When the database fails.
 */
export async function readPurchaseHolder(
  driver: Driver,
  orderId: string,
): Promise<string | null> {
  const [found] = await driver.batch([selectPurchaseHolder(orderId)], "read");
  return (found?.rows[0]?.[0] ?? null) as string | null;
}

/** Whether the goods of an order may be released by what is known now. */
export interface ReleaseNow {
  /** Whether they may. */
  readonly release: Release;
  /** Why. */
  readonly releaseReason: ReleaseReason;
}

/**
 * Reads the release of several orders as of now.
 *
 * @param orderIds Which ones; those that are not there are left out.
 * @returns The release of each.
 * @throws {LedgerError} When the database fails.
 */
export async function readReleasesNow(
  driver: Driver,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, ReleaseNow>> {
  const releases = new Map<string, ReleaseNow>();
  if (orderIds.length === 0) return releases;
  const [found] = await driver.batch([selectOutcomeFacts(orderIds)], "read");
  for (const [orderId, state, twice] of found?.rows ?? []) {
    const { release, reason } = outcomeOf({
      ...readOrderState(state as string).facts,
      twice: twice === 1 ? "yes" : "no",
    });
    releases.set(orderId as string, { release, releaseReason: reason });
  }
  return releases;
}
