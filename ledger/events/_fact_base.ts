import type { RecordedEvent } from "./event.ts";
import type { ActivityLabel, FactBase } from "./fact.ts";

/** What every fact has; the ids of what it concerns are still null. */
export function factBase(
  event: RecordedEvent,
  label: ActivityLabel,
): FactBase {
  return {
    position: event.position,
    eventId: event.eventId,
    recordedAt: event.recordedAt,
    digest: event.digest ?? "",
    label,
    orderId: null,
    userId: null,
    sessionId: null,
    clickId: null,
  };
}
