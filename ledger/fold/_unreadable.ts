import type { RecordedEvent } from "../event/event.ts";
import type { UnreadableFact } from "./fact.ts";
import { linking } from "./_text.ts";

/** The fact of an event that says nothing, but whom it concerns. */
export function unreadable(
  event: RecordedEvent,
  reason: string,
): UnreadableFact {
  const webhook = event.kind === "webhook";
  const session = event.kind === "session_created";
  // A delivery that names an order means that the order exists, whatever it says.
  const ofOrder = event.kind !== "user_snapshot" && !session;
  return {
    kind: "unreadable",
    position: event.position,
    eventId: event.eventId,
    recordedAt: event.recordedAt,
    digest: event.digest ?? "",
    label: webhook
      ? event.type === null ? "quarantined" : "unrecognised"
      : event.kind,
    orderId: ofOrder ? event.orderId : null,
    userId: webhook || event.kind === "user_snapshot" ? event.userId : null,
    sessionId: null,
    clickId: webhook ? linking(event.clickId) : null,
    reason,
  };
}
