import { createHash } from "node:crypto";
import { parseExact } from "../../client/exact_json.ts";
import type { Delivery, UnansweredDelivery } from "../../webhooks/delivery.ts";
import { columnText, fields } from "./_text.ts";
import { digestOfBytes, digestOfReading } from "./digest.ts";
import type {
  DeliveryUnansweredBody,
  EventKind,
  NewEvent,
  OrderAbsentBody,
  OrderContradictedBody,
  SessionCreatedBody,
} from "./event.ts";
import { serviceTime } from "./service_time.ts";

/** Click id of the test event; it links nothing. */
const testClickId = "test_click_id";

const utf8 = new TextEncoder();
const tolerantUtf8 = new TextDecoder();

/** What every minted event needs besides its fact. */
export interface MintOptions {
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Sixteen fresh random bytes; see {@linkcode NewEvent.salt}. */
  readonly salt: Uint8Array;
}

/** A reading of the Data API, to be minted. */
export interface ReadingOptions extends MintOptions {
  /** Exact JSON text of the one order or user, as the service sent it. */
  readonly source: string;
  /** The answer's `Date`, else our clock when asking; UTC ISO 8601. */
  readonly readAt: string;
}

/**
 * The event of a delivery, whatever its body says.
 *
 * Columns are derived from any JSON object, recognised or not; anything else
 * is quarantined: `type` and all links are null. Nothing is ever refused.
 *
 * @param delivery What arrived.
 * @param salt Sixteen fresh random bytes.
 *
 * @example Mint a delivery
 * ```ts ignore
 * const event = webhookEvent(delivery, crypto.getRandomValues(new Uint8Array(16)));
 * ```
 */
export function webhookEvent(delivery: Delivery, salt: Uint8Array): NewEvent {
  return {
    eventId: delivery.id,
    kind: "webhook",
    ...webhookColumns(delivery.body),
    occurredAt: null,
    recordedAt: delivery.receivedAt,
    readAt: null,
    body: delivery.body,
    digest: digestOfBytes(delivery.body),
    salt,
  };
}

/** Columns that can be derived again from a body at any time. */
export type DerivedColumns = Pick<
  NewEvent,
  "type" | "orderId" | "userId" | "clickId"
>;

/**
 * What a webhook body says about its type and whom it concerns.
 *
 * @param body The exact bytes.
 * @returns All null when the body is no JSON object.
 *
 * @example Look at a test event
 * ```ts ignore
 * webhookColumns(new TextEncoder().encode('{"type":"test"}')).type; // "test"
 * ```
 */
export function webhookColumns(body: Uint8Array): DerivedColumns {
  let parsed: unknown;
  try {
    parsed = JSON.parse(tolerantUtf8.decode(body));
  } catch {
    return { type: null, orderId: null, userId: null, clickId: null };
  }
  const root = fields(parsed);
  const clickId = columnText(root.click_id);
  return {
    type: columnText(root.type),
    orderId: columnText(fields(root.order).id),
    userId: columnText(fields(root.user).user_id) ?? columnText(root.user_id),
    clickId: clickId === testClickId ? null : clickId,
  };
}

/**
 * The event of an order as the orders endpoint showed it.
 *
 * @param reading The order's exact text, and when it was read.
 * @throws {SyntaxError} When `source` is not JSON.
 * @throws {TypeError} When `source` names no order.
 *
 * @example Mint a reading
 * ```ts ignore
 * orderSnapshot({ source: page.sources[0], readAt: page.readAt, recordedAt, salt });
 * ```
 */
export function orderSnapshot(reading: ReadingOptions): NewEvent {
  return readingEvent("order_snapshot", reading);
}

/**
 * The event of a user as the users endpoint showed it.
 *
 * @param reading The user's exact text, and when it was read.
 * @throws {SyntaxError} When `source` is not JSON.
 * @throws {TypeError} When `source` names no user.
 *
 * @example Mint a reading
 * ```ts ignore
 * userSnapshot({ source: page.sources[0], readAt: page.readAt, recordedAt, salt });
 * ```
 */
export function userSnapshot(reading: ReadingOptions): NewEvent {
  return readingEvent("user_snapshot", reading);
}

/**
 * The event "asked, walked to the end, and the order is not there".
 *
 * @param absence The order, and when the service was asked.
 *
 * @example Mint an absence
 * ```ts ignore
 * orderAbsent({ orderId: "01J…", readAt, recordedAt, salt });
 * ```
 */
export function orderAbsent(
  absence: MintOptions & { readonly orderId: string; readonly readAt: string },
): NewEvent {
  const body: OrderAbsentBody = { order_id: absence.orderId };
  return ourEvent("order_absent", absence, body, {
    entity: absence.orderId,
    readAt: absence.readAt,
    orderId: absence.orderId,
  });
}

/**
 * The event "asked, and for ten minutes the service has not agreed".
 *
 * @param contradiction The order, the claimed status, and `recordedAt` of the
 * last claim that this contradicts.
 *
 * @example Mint a contradiction
 * ```ts ignore
 * orderContradicted({ orderId: "01J…", status: "success", upTo, readAt, recordedAt, salt });
 * ```
 */
export function orderContradicted(
  contradiction: MintOptions & {
    readonly orderId: string;
    readonly status: string;
    readonly upTo: string;
    readonly readAt: string;
  },
): NewEvent {
  const body: OrderContradictedBody = {
    order_id: contradiction.orderId,
    status: contradiction.status,
    up_to: contradiction.upTo,
  };
  return ourEvent("order_contradicted", contradiction, body, {
    entity: contradiction.orderId,
    readAt: contradiction.readAt,
    orderId: contradiction.orderId,
  });
}

/**
 * The event of a session this partner made.
 *
 * @param created What was asked for, and what the service returned.
 *
 * @example Mint a session
 * ```ts ignore
 * sessionCreated({ session: { session_id: "…", flow_type: "simple" }, recordedAt, salt });
 * ```
 */
export function sessionCreated(
  created: MintOptions & { readonly session: SessionCreatedBody },
): NewEvent {
  const { session } = created;
  const clickId = columnText(session.click_id);
  return ourEvent("session_created", created, session, {
    entity: session.session_id,
    userId: columnText(session.user_id),
    clickId: clickId === testClickId ? null : clickId,
  });
}

/**
 * The event "stored, but not answered in time with 2xx".
 *
 * @param noticed The delivery and what its sender saw; `recordedAt` defaults
 * to when it was noticed.
 *
 * @example Mint a late answer
 * ```ts ignore
 * deliveryUnanswered({ unanswered: { id, noticedAt, answer: "late" }, salt });
 * ```
 */
export function deliveryUnanswered(
  noticed: {
    readonly unanswered: UnansweredDelivery;
    readonly recordedAt?: string;
    readonly salt: Uint8Array;
  },
): NewEvent {
  const { unanswered, recordedAt = unanswered.noticedAt, salt } = noticed;
  const body: DeliveryUnansweredBody = {
    event_id: unanswered.id,
    answer: unanswered.answer,
  };
  return ourEvent("delivery_unanswered", { recordedAt, salt }, body, {
    entity: unanswered.id,
  });
}

function readingEvent(
  kind: "order_snapshot" | "user_snapshot",
  reading: ReadingOptions,
): NewEvent {
  const value = fields(parseExact(reading.source));
  const userId = columnText(value.user_id);
  const orderId = kind === "order_snapshot" ? columnText(value.order_id) : null;
  const entity = kind === "order_snapshot" ? orderId : userId;
  if (entity === null) {
    const name = kind === "order_snapshot" ? "order_id" : "user_id";
    throw new TypeError(
      `Cannot record a reading without "${name}": ` +
        `the object has the fields ${JSON.stringify(Object.keys(value))}`,
    );
  }
  const clickId = kind === "order_snapshot" ? columnText(value.click_id) : null;
  const digest = digestOfReading(reading.source);
  return {
    eventId: factId(kind, entity, reading.readAt, digest),
    kind,
    type: null,
    orderId,
    userId,
    clickId: clickId === testClickId ? null : clickId,
    occurredAt: kind === "order_snapshot"
      ? serviceTime(value.changed_at) ?? serviceTime(value.created_at)
      : null,
    recordedAt: reading.recordedAt,
    readAt: reading.readAt,
    body: utf8.encode(reading.source),
    digest,
    salt: reading.salt,
  };
}

/** An event whose body is written by us, as plain JSON. */
function ourEvent(
  kind: EventKind,
  { recordedAt, salt }: MintOptions,
  value: object,
  about: {
    readonly entity: string;
    readonly readAt?: string;
    readonly orderId?: string;
    readonly userId?: string | null;
    readonly clickId?: string | null;
  },
): NewEvent {
  const source = JSON.stringify(value);
  const digest = digestOfReading(source);
  const readAt = about.readAt ?? null;
  return {
    eventId: factId(kind, about.entity, readAt, digest),
    kind,
    type: null,
    orderId: columnText(about.orderId),
    userId: about.userId ?? null,
    clickId: about.clickId ?? null,
    occurredAt: null,
    recordedAt,
    readAt,
    body: utf8.encode(source),
    digest,
    salt,
  };
}

/**
 * Id of a fact that was read or decided: the same fact gets the same id, so a
 * retry after a lost answer never doubles it.
 */
function factId(
  kind: EventKind,
  entity: string,
  readAt: string | null,
  digest: string,
): string {
  const parts = JSON.stringify([kind, entity.toWellFormed(), readAt, digest]);
  return createHash("sha256").update(parts).digest("hex");
}
