import { exactObject, filledText } from "../events/fact_text.ts";
import { readFact } from "../events/read_fact.ts";
import type { NewEvent } from "../events/event.ts";
import type {
  KnownOfRelease,
  RecordedRelease,
} from "../releases/release_by_hand.ts";
import { readOrderState } from "../projection/codec/stored_state.ts";
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import {
  selectAnyTerms,
  selectHandReleaseEvent,
} from "../store/tables/events/expectations.ts";
import { selectBegunRelease } from "../store/tables/subscriptions/release_deliveries.ts";
import { selectPurchaseHolder } from "../store/tables/purchases.ts";
import { settle } from "../outcomes/settled_by_hand.ts";
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
  const { outcome, purchase, recordedAt } = fact.hand;
  const body = exactObject(event.body);
  return {
    outcome,
    by: filledText(body?.by) ?? "",
    why: filledText(body?.why) ?? "",
    for: purchase?.name ?? null,
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
    const { facts, byHand } = readOrderState(state as string);
    const byRow = outcomeOf({ ...facts, twice: twice === 1 ? "yes" : "no" });
    const { release, reason } = settle(byRow, facts, byHand);
    releases.set(orderId as string, { release, releaseReason: reason });
  }
  return releases;
}

/**
 * Reads what is known beside an order of which a person records something.
 *
 * @param orderId The order.
 * @param reference What it is to be delivered for; null where that is not named.
 * @throws {LedgerError} When the database fails.
 */
export async function readKnownOfRelease(
  driver: Driver,
  orderId: string,
  reference: string | null,
): Promise<KnownOfRelease> {
  const [begun, recorded] = await readPrimary(driver, [
    selectBegunRelease(orderId),
    selectAnyTerms(reference),
  ]);
  const [name, at] = begun?.rows[0] ?? [];
  return {
    isRecorded: recorded?.rows[0]?.[0] === 1,
    sentTo: name === undefined
      ? null
      : { name: String(name), at: String(at ?? "an unknown time") },
  };
}

/** Whether exactly this event is stored under its id. */
export async function isStored(
  driver: Driver,
  { eventId, digest }: Pick<NewEvent, "eventId" | "digest">,
): Promise<boolean> {
  const [found] = await readPrimary(driver, [{
    sql: "SELECT digest FROM events WHERE event_id = ?",
    args: [eventId],
  }]);
  return found?.rows[0]?.[0] === digest;
}
