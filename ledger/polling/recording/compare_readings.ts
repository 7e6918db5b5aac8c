import { effectiveReadAt, effectiveTime } from "../../events/effective_time.ts";
import type { NewEvent } from "../../events/event.ts";
import { compareTimes } from "../../events/time.ts";
import type {
  CountingReading,
  Observation,
  ObservationsRead,
  Presence,
} from "../../store/tables/polling/observations.ts";
import {
  type ObservedChange,
  observedChange,
} from "../../watchdog/observed_change.ts";
import type { Reading } from "./readings.ts";

/** A change longer ago says nothing about webhooks of late, in ms. */
const tooOldMs = 24 * 3_600_000;

/**
 * Finds the readings that become events: readings that differ from the last one,
 * and readings that decide what the last one left open.
 *
 * @param readings What the service said now.
 * @param before What it said before.
 */
export function changedReadings(
  readings: readonly Reading[],
  { latest, unsettled, counting, presence, erased }: ObservationsRead,
): Reading[] {
  return readings.filter(({ event, observation }) => {
    const { entityId, digest, found } = observation;
    const before = latest.get(entityId);
    const same = before?.digest === digest && before.found === found;
    const other = counting.get(entityId);
    const settles = !erased.has(entityId) &&
      (unsettled.has(entityId) ||
        (found && other !== undefined && event !== null &&
          overtakes(event, other)));
    const was = presence.get(entityId);
    const turns = event !== null && was !== undefined &&
      !(found && erased.has(entityId)) && turnsPresence(event, found, was);
    return event !== null && (!same || settles || turns);
  });
}

/**
 * Whether a reading would take the place of the one that counts and says more
 * than that: something else, or a change that is dated ahead no longer.
 */
function overtakes(event: NewEvent, other: CountingReading): boolean {
  const readAt = effectiveReadAt(event.readAt, event.recordedAt);
  const changed = effectiveTime(event.occurredAt ?? "", readAt);
  const changedAt = event.kind === "user_snapshot" ? "" : changed.counts;
  const order = compareTimes(changedAt, other.changedAt);
  if (other.digest === event.digest) {
    return order > 0 && changed.stated === null;
  }
  const read = compareTimes(readAt, other.readAt);
  // One that is dated ahead goes by when it was read alone.
  if (other.isAhead || changed.stated !== null) return read > 0;
  return order > 0 || (order === 0 && read > 0);
}

/** Whether a reading changes whether an order counts as absent. */
function turnsPresence(
  event: NewEvent,
  found: boolean,
  { absentAt, seenAt }: Presence,
): boolean {
  const isAbsent = seenAt === null || compareTimes(absentAt, seenAt) > 0;
  if (isAbsent === !found) return false;
  const readAt = effectiveReadAt(event.readAt, event.recordedAt);
  return compareTimes(readAt, found ? absentAt : seenAt ?? "") > 0;
}

/**
 * Finds the changes of status that readings of orders show and that webhooks
 * announce.
 *
 * @param readings What the service said now.
 * @param latest What it said before.
 */
export function observedChanges(
  readings: readonly Reading[],
  latest: ReadonlyMap<string, Observation>,
): (ObservedChange & { readonly orderId: string })[] {
  return readings.flatMap(({ observation, changedAt }) => {
    const { status, requestedAt, readAt, entityId } = observation;
    if (status === null) return [];
    const change = observedChange({
      before: latest.get(entityId) ?? null,
      status,
      changedAt,
      readAt,
      requestedAt,
    });
    if (change === null) return [];
    const ageMs = Date.parse(requestedAt) - Date.parse(change.movedAt);
    return ageMs > tooOldMs ? [] : [{ ...change, orderId: entityId }];
  });
}
