/** What is left of an event: what the fold needs, and nothing that names anybody. */
import {
  KEPT_OF_WEBHOOK,
  KEPT_ORDER_FIELDS,
  orderField,
} from "../../core/wire/order_fields.ts";
import { readOrderRow } from "../../core/wire/read_row.ts";
import { KEPT_OF_CHAIN_READING } from "../events/chain_reading.ts";
import { derive, ERASED_ID, isMarkedErased } from "../events/record.ts";
import type {
  NewEvent,
  OrderRedactedBody,
  RecordedEvent,
} from "../events/event.ts";
import { exactObject, objectOf, soundRow } from "../events/fact_text.ts";
import { record } from "../events/record.ts";
import type { MatchFact } from "../events/order_facts.ts";
import { readOrder, statedTransactionForm } from "../events/order_reading.ts";
import type { EventKind } from "../machines/event_kind.ts";
import { hexOf, type StoredEvent } from "../store/events.ts";

/** Random names in the place of the people whom an order names; null for none. */
export interface OrderNames {
  readonly userId: string | null;
  readonly clickId: string | null;
}

export interface RedactOptions {
  readonly names: OrderNames;
  /** How its order compares with what was recorded; null when unknown. */
  readonly match: MatchFact | null;
  readonly randomBytes: (length: number) => Uint8Array;
}

const utf8 = new TextEncoder();

/** Whether something was taken out of an event before. */
export function isRedacted({ kind, body }: StoredEvent): boolean {
  return kind === "order_redacted" || body.length === 0 ||
    isMarkedErased(body);
}

/**
 * Takes out of an event what it says but what the fold needs, and gives it other
 * names. It keeps its place and its times; the id of a reading tells what it says,
 * so it gets a new one.
 */
export function redactEvent(
  event: StoredEvent,
  { names, match, randomBytes }: RedactOptions,
): StoredEvent {
  const { kind, orderId } = event;
  if (kind === "webhook") {
    return rewritten(event, webhookLeft(event, names), { kind, randomBytes });
  }
  const options = { kind: "order_redacted", randomBytes } as const;
  if (kind === "order_redacted") {
    const { user_id: _user, click_id: _click, ...rest } =
      objectIn(event.body) ?? {};
    return rewritten(event, { ...rest, ...named(names) }, options);
  }
  if (orderId !== null && kind === "order_snapshot" && isRedacted(event)) {
    return rewritten(event, { order_id: orderId }, { kind, randomBytes });
  }
  if (orderId !== null && kind === "order_snapshot") {
    return rewritten(event, {
      ...{ order_id: orderId, ...named(names), ...readingFields(event) },
      ...match !== null && { match },
      redacts: { kind },
    }, options);
  }
  if (orderId !== null && kind === "chain_reading") {
    const look = objectIn(event.body) ?? {};
    const witness = Object.fromEntries(
      KEPT_OF_CHAIN_READING.flatMap((field) =>
        look[field] === undefined ? [] : [[field, look[field]]]
      ),
    );
    return rewritten(event, {
      ...{ order_id: orderId, ...named(names), witness, redacts: { kind } },
    }, options);
  }
  return rewritten(event, {}, { kind, randomBytes });
}

/** An event with another body. The salt goes, so that nobody can guess the old one. */
export function rewritten(
  event: StoredEvent,
  left: object,
  { kind, randomBytes }: {
    readonly kind: EventKind;
    readonly randomBytes: (length: number) => Uint8Array;
  },
): StoredEvent {
  const marked = kind === "order_redacted" ? left : { ...left, erased: true };
  const body = utf8.encode(JSON.stringify(marked));
  // A delivery is known by its random id, and so is a note.
  const keepsId = event.kind === "webhook" || event.kind === "note" ||
    event.kind === "person_erased";
  return {
    ...event,
    ...derive(kind, body).columns,
    kind,
    body,
    eventId: keepsId ? event.eventId : ERASED_ID + hexOf(randomBytes(16)),
    salt: randomBytes(16),
  };
}

function named({ userId, clickId }: OrderNames) {
  return {
    ...userId !== null && { user_id: userId },
    ...clickId !== null && { click_id: clickId },
  };
}

/** The object of a body; null of what is none, and of what is no JSON. */
function objectIn(body: Uint8Array | null) {
  try {
    return body === null ? null : exactObject(body);
  } catch {
    return null;
  }
}

/** Of a webhook its type stays, and what it claims of its order. */
function webhookLeft(event: RecordedEvent, { userId, clickId }: OrderNames) {
  const root = objectIn(event.body);
  const order: Record<string, unknown> = {};
  for (const name of KEPT_OF_WEBHOOK) {
    const field = orderField(name).webhook?.path.split(".")[1];
    const value = field && objectOf(root?.order)?.[field];
    if (field && typeof value === "string") order[field] = value;
  }
  return {
    ...event.type !== null && { type: event.type },
    ...clickId !== null && { click_id: clickId },
    ...userId !== null && { user: { user_id: userId } },
    ...event.orderId !== null && { order: { id: event.orderId, ...order } },
  };
}

/**
 * A reading that is made after the erasure, without what was erased. How the order
 * compares with what was recorded is said by those redacted before.
 */
export function redactReading(
  event: NewEvent,
  { names }: { readonly names: OrderNames },
): NewEvent {
  const { recordedAt, readAt, salt } = event;
  return record("order_redacted", {
    order_id: event.orderId ?? "",
    ...named(names),
    ...readingFields(event),
    redacts: null,
  }, { recordedAt, readAt, salt });
}

function readingFields(
  event: Pick<RecordedEvent, "body" | "digest" | "readAt" | "recordedAt">,
): Partial<OrderRedactedBody> {
  const read = event.body === null ? null : soundRow(event.body, readOrderRow);
  if (read === null) return {};
  const kept = KEPT_ORDER_FIELDS.flatMap((field) => {
    const value = read.row[field];
    if (value === null) return [[field, ""]];
    return typeof value === "string" ? [[field, value]] : [];
  });
  const tx = statedTransactionForm(readOrder(event, read.row, read.odd));
  return {
    ...Object.fromEntries(kept),
    ...(tx === "empty"
      ? { tx_id: "" }
      : tx === "unstated"
      ? {}
      : tx === "named"
      ? { tx_named: true }
      : { tx_unreadable: true }),
  };
}
