import type { RecordedEvent } from "./event.ts";
import type { UnreadableFact, UnreadableReason } from "./fact.ts";
import { factBase } from "./_fact_base.ts";
import { linking } from "./fact_text.ts";

/** The fact of an event that says only whom it concerns. */
export function unreadable(
  event: RecordedEvent,
  reason: UnreadableReason,
): UnreadableFact {
  const webhook = event.kind === "webhook";
  const session = event.kind === "session_created";
  // A delivery that names an order shows that the order exists.
  const ofOrder = event.kind !== "user_snapshot" && !session;
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
