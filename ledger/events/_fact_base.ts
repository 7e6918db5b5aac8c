import type { RecordedEvent } from "./event.ts";
import type {
  ActivityLabel,
  FactBase,
  UnreadableFact,
  UnreadableReason,
} from "./fact.ts";
import { linking } from "./fact_text.ts";

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

/** The fact of an event that says only whom it concerns. */
export function unreadable(
  event: RecordedEvent,
  reason: UnreadableReason,
): UnreadableFact {
  const webhook = event.kind === "webhook";
  const expectation = event.kind === "session_created" ||
    event.kind === "order_expected";
  // A delivery that names an order shows that the order exists.
  const ofOrder = event.kind !== "user_snapshot" && !expectation;
  const label = !webhook
    ? event.kind
    : event.type === null
    ? "quarantined"
    : "unrecognised";
  return {
    ...factBase(event, label),
    kind: "unreadable",
    orderId: ofOrder ? event.orderId : null,
    userId: webhook || event.kind === "user_snapshot" ? event.userId : null,
    clickId: webhook ? linking(event.clickId) : null,
    reason,
  };
}
