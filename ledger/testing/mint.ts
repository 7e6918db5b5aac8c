/** Events as tests say them. */
import type { Delivery, UnansweredDelivery } from "../../core/wire/objects.ts";
import type { EventBodies, NewEvent } from "../events/event.ts";
import { type Note, noteOf } from "../recording/notes.ts";
import type { Driver } from "../store/database.ts";
import { selectEvents } from "../store/events.ts";
import {
  record,
  type RecordOptions,
  unansweredBody,
} from "../events/record.ts";

type Read = RecordOptions & { readonly readAt: string };

export function webhookEvent(delivery: Delivery, salt: Uint8Array): NewEvent {
  const { id: eventId, receivedAt: recordedAt, body } = delivery;
  return record("webhook", body, { eventId, recordedAt, salt });
}

export const orderSnapshot = (
  { source, ...options }: Read & { readonly source: string },
): NewEvent => record("order_snapshot", source, options);

export const userSnapshot = (
  { source, ...options }: Read & { readonly source: string },
): NewEvent => record("user_snapshot", source, options);

export const orderAbsent = (
  { orderId, ...options }: Read & { readonly orderId: string },
): NewEvent => record("order_absent", { order_id: orderId }, options);

export const orderContradicted = (
  { orderId, status, upTo, ...options }: Read & {
    readonly orderId: string;
    readonly status: string;
    readonly upTo: string;
  },
): NewEvent =>
  record(
    "order_contradicted",
    { order_id: orderId, status, up_to: upTo },
    options,
  );

export const sessionCreated = (
  { session, ...options }: RecordOptions & {
    readonly session: EventBodies["session_created"];
  },
): NewEvent => record("session_created", session, options);

export const orderExpected = (
  { expected, ...options }: RecordOptions & {
    readonly expected: EventBodies["order_expected"];
  },
): NewEvent => record("order_expected", expected, options);

export const orderReleased = (
  { released, ...options }: RecordOptions & {
    readonly released: EventBodies["order_released"];
  },
): NewEvent => record("order_released", released, options);

export const chainReading = (
  { looked, ...options }: Read & {
    readonly looked: EventBodies["chain_reading"];
  },
): NewEvent => record("chain_reading", looked, options);

export const witnessRequired = (
  { required, ...options }: RecordOptions & {
    readonly required: EventBodies["witness_required"];
  },
): NewEvent => record("witness_required", required, options);

export const monthClosed = (
  { closed, ...options }: RecordOptions & {
    readonly closed: EventBodies["month_closed"];
  },
): NewEvent => record("month_closed", closed, options);

export const orderRedacted = (
  { redacted, ...options }: RecordOptions & {
    readonly redacted: EventBodies["order_redacted"];
  },
): NewEvent => record("order_redacted", redacted, options);

export function deliveryUnanswered(
  { unanswered, recordedAt = unanswered.noticedAt, salt }: {
    readonly unanswered: UnansweredDelivery;
    readonly recordedAt?: string;
    readonly salt: Uint8Array;
  },
): NewEvent {
  return record("delivery_unanswered", unansweredBody(unanswered), {
    recordedAt,
    salt,
  });
}

/** All notes of a ledger, the oldest first. */
export async function allNotes(driver: Driver): Promise<Note[]> {
  const from = "events AS e WHERE e.kind = 'note' ORDER BY e.id";
  return (await selectEvents(driver, from)).flatMap((one) => noteOf(one) ?? []);
}
