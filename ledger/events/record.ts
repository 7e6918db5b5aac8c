import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { encodeTime } from "ulid";
import { parseExact } from "../../core/json/json.ts";
import { isDeeperThan } from "../../core/guards.ts";
import { readServiceTime } from "../../core/time/service_time.ts";
import { bodyValue } from "../../core/webhook_event/classify_body.ts";
import type { UnansweredDelivery } from "../../core/wire/objects.ts";
import type { EventKind } from "../machines/machine.ts";
import {
  type EventBodies,
  idText,
  linking,
  type NewEvent,
  objectOf,
  type RecordedEvent,
} from "./event.ts";

/** Columns that can be derived again from a body at any time. */
type DerivedColumns = Pick<
  NewEvent,
  "type" | "orderId" | "userId" | "clickId" | "occurredAt" | "digest"
>;

type Row = Readonly<Record<string, unknown>>;

/** What the body of an event says of its columns. */
interface Said extends Partial<DerivedColumns> {
  /** Null where the body names nothing; absent where the id of an event is minted. */
  readonly entity?: string | null | undefined;
}

type Rule = (row: Row) => Said;

const order: Rule = (row) => {
  const orderId = idText(row.order_id);
  return { orderId, entity: orderId };
};

/** The service's row of an order, or what is kept of one. */
const orderRow: Rule = (row) => ({
  ...order(row),
  userId: sameText(row.user_id),
  clickId: linking(sameText(row.click_id)),
  occurredAt: isoTime(row.changed_at) ?? isoTime(row.created_at),
});

const expected = (id: string): Rule => (row) => ({
  userId: sameText(row.user_id),
  clickId: linking(idText(row.click_id)),
  entity: idText(row[id]),
});

const RULES: Readonly<Record<Exclude<EventKind, "webhook">, Rule>> = {
  order_snapshot: orderRow,
  order_redacted: orderRow,
  user_snapshot: (row) => {
    const userId = sameText(row.user_id);
    return { userId, entity: userId };
  },
  order_absent: order,
  order_contradicted: order,
  chain_reading: order,
  order_released: (row) => {
    const [orderId, turn] = [idText(row.order_id), idText(row.turn)];
    const isTurn = orderId !== null && turn !== null;
    return { orderId, entity: isTurn ? `${orderId}\0${turn}` : orderId };
  },
  session_created: expected("session_id"),
  order_expected: expected("expectation_id"),
  delivery_unanswered: (row) => ({ entity: idText(row.event_id) }),
  witness_required: (row) => ({ entity: idText(row.since ?? row.until) }),
  month_closed: (row) => ({ entity: idText(row.month) }),
  note: () => ({}),
  person_erased: () => ({}),
};

/** When an event was learnt, and what blinds it. */
export interface RecordOptions {
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** When the service or the nodes were asked, UTC ISO 8601. @default {null} */
  readonly readAt?: string | null;
  /** Sixteen fresh random bytes. */
  readonly salt: Uint8Array;
  /** The id of an event whose body does not give it one: a delivery, a note. */
  readonly eventId?: string;
}

/**
 * The event that records a fact. What a webhook says is never refused: one that is
 * not a JSON object has no type and no links.
 *
 * @throws {SyntaxError} When a text is not JSON.
 * @throws {TypeError} When the body names nothing that it is about.
 */
export function record<Kind extends EventKind>(
  kind: Kind,
  body: EventBodies[Kind],
  { recordedAt, readAt = null, salt, eventId }: RecordOptions,
): NewEvent {
  const bytes = body instanceof Uint8Array ? body : new TextEncoder().encode(
    typeof body === "string" ? body : JSON.stringify(body),
  );
  const { columns, entity } = derive(kind, bytes);
  const id = eventId ??
    (entity && factId(kind, entity, readAt, columns.digest));
  if (!id) {
    throw new TypeError(
      `Cannot record ${kind}: the body names nothing that it is about: ` +
        utf8.decode(bytes).slice(0, 200),
    );
  }
  return {
    ...columns,
    eventId: id,
    kind,
    recordedAt,
    readAt,
    body: bytes,
    salt,
  };
}

/** What is recorded of a delivery that was not answered in time. */
export function unansweredBody(
  { id, answer }: UnansweredDelivery,
): EventBodies["delivery_unanswered"] {
  return { event_id: id, answer };
}

/**
 * Derives everything that a body determines.
 *
 * @throws {SyntaxError} When a body other than a webhook's is not JSON.
 */
export function derive(
  kind: EventKind,
  body: Uint8Array,
): { readonly columns: DerivedColumns } & Pick<Said, "entity"> {
  if (kind === "webhook") {
    const root = objectOf(bodyValue(body)) ?? {};
    return {
      columns: {
        type: sameText(root.type),
        orderId: idText(objectOf(root.order)?.id),
        userId: idText(objectOf(root.user)?.user_id) ?? idText(root.user_id),
        clickId: linking(idText(root.click_id)),
        occurredAt: null,
        digest: digestOfBytes(body),
      },
    };
  }
  const value = parseExact(utf8.decode(body));
  const { entity, ...said } = RULES[kind](objectOf(value) ?? {});
  // A canonical form is made by recursion, which hostile nesting exhausts.
  const digest = isDeeperThan(value)
    ? digestOfBytes(body)
    : digestOfValue(value);
  return { columns: { ...NO_COLUMNS, ...said, digest }, entity };
}

const utf8 = new TextDecoder();
const NO_COLUMNS = {
  ...{ type: null, orderId: null, userId: null, clickId: null },
  occurredAt: null,
};

/** Characters of a time in a ULID, and the latest time that they can hold. */
const TIME_LENGTH = 10;
const LATEST_MS = 2 ** 48 - 1;
/** Hex digits of the hash in the id of a reading: 128 bits. */
const READING_DIGITS = 32;

/**
 * Id of a fact that was read or decided: the same fact gets the same id, so a retry
 * after a lost answer never doubles it. That of a reading begins with its time, as
 * ULIDs do, so that the index of ids grows at its end.
 */
export function factId(
  kind: EventKind,
  entity: string,
  readAt: string | null,
  digest: string,
): string {
  const parts = JSON.stringify(
    // A month is closed once, and each turn of a release by hand is taken once:
    // whatever a second one says, its id is taken.
    kind === "month_closed" || entity.includes("\0")
      ? [kind, entity]
      : [kind, entity, readAt, digest],
  );
  const hash = digestOfBytes(parts);
  const readAtMs = readAt === null ? NaN : Date.parse(readAt);
  // Nothing mints such a time, but an imported event may say anything.
  if (!(readAtMs >= 0 && readAtMs <= LATEST_MS)) return hash;
  return encodeTime(readAtMs, TIME_LENGTH) + hash.slice(0, READING_DIGITS);
}

/** A text with NUL in it is left out, so that it never names another entity. */
function sameText(value: unknown): string | null {
  return typeof value === "string" && value.includes("\0")
    ? null
    : idText(value);
}

/** A time of the service as UTC ISO 8601 with milliseconds. */
function isoTime(value: unknown): string | null {
  const timeMs = typeof value === "string" ? readServiceTime(value) : null;
  return timeMs === null ? null : new Date(timeMs).toISOString();
}

/** SHA-256 of the exact bytes received, in lower-case hex. */
export function digestOfBytes(body: Uint8Array | string): string {
  return createHash("sha256").update(body).digest("hex");
}

/**
 * SHA-256, in lower-case hex, of the canonical JSON (RFC 8785) of a value whose
 * numbers are exact decimal strings: order of fields, white space and escapes do
 * not count, and two amounts that differ in the 18th digit never collide.
 */
export function digestOfValue(value: unknown): string {
  return digestOfBytes(canonicalize(wellFormed(value)) ?? "");
}

/** A copy of `value` in which no string holds a lone surrogate. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value)) {
    copy[key.toWellFormed()] = wellFormed(item);
  }
  return copy;
}

/** How a body ends of which something was taken out. */
export const ERASED_MARK = '"erased":true}';

/** How the ids of facts begin whose content was erased. */
export const ERASED_ID = "erased:";

/** Whether something was taken out of an event. */
export function isMarkedErased(
  { kind, eventId, body }: Pick<NewEvent, "kind" | "eventId" | "body">,
): boolean {
  // The service may add such a field to its rows: only an erasure gives such an id.
  return (kind === "webhook" || kind === "note" ||
    eventId.startsWith(ERASED_ID)) &&
    utf8.decode(body.subarray(-ERASED_MARK.length)) === ERASED_MARK;
}

/**
 * Finds the first column of an event that does not follow from its body, or an id
 * that does not.
 *
 * @throws {SyntaxError} When a body other than a webhook's is not JSON.
 */
export function underivedColumn(
  event: Omit<RecordedEvent, "position">,
  body: Uint8Array,
): {
  readonly field: string;
  readonly stored: string | null;
  readonly derived: string | null;
} | null {
  const { columns, entity } = derive(event.kind, body);
  for (const [field, derived] of Object.entries(columns)) {
    const stored = event[field as keyof typeof columns];
    if (stored !== derived) return { field, stored, derived };
  }
  const stored = event.eventId;
  if (entity === undefined || stored.startsWith(ERASED_ID)) return null;
  const derived = entity &&
    factId(event.kind, entity, event.readAt, columns.digest);
  return stored === derived ? null : { field: "eventId", stored, derived };
}
