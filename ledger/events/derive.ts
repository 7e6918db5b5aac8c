import { createHash } from "node:crypto";
import { encodeTime } from "ulid";
import { parseExact } from "../../core/json/exact_json.ts";
import { isDeeperThan } from "../../core/json/json_depth.ts";
import { bodyValue } from "../../core/webhook_event/classify_body.ts";
import { idText, linking, objectOf } from "./fact_text.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { NewEvent, RecordedEvent } from "./event.ts";
import { readServiceTime } from "../../core/time/service_time.ts";
import canonicalize from "canonicalize";

const utf8 = new TextDecoder();

/** Columns that can be derived again from a body at any time. */
export type DerivedColumns = Pick<
  NewEvent,
  "type" | "orderId" | "userId" | "clickId" | "occurredAt" | "digest"
>;

/** What an event says, and of which entity. */
export interface DerivedFact {
  /** The columns. */
  readonly columns: DerivedColumns;
  /**
   * Id of the order, user, session, expectation, delivery or month of the fact; null when
   * the body names none, and for webhooks, whose ids are minted at receipt.
   */
  readonly entity: string | null;
}

/**
 * Derives everything that a body determines. A webhook may be anything and
 * never fails; a body that is not a JSON object has all links null.
 *
 * @param kind Kind of fact.
 * @param body The exact bytes.
 * @throws {SyntaxError} When a body other than a webhook's is not JSON.
 *
 * @example Derive the columns of a webhook
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const body = new TextEncoder().encode('{"type":"login","user_id":"01JUSER"}');
 * const { columns } = derive("webhook", body);
 * assert.deepEqual([columns.type, columns.userId], ["login", "01JUSER"]);
 * ```
 */
export function derive(kind: EventKind, body: Uint8Array): DerivedFact {
  if (kind === "webhook") {
    return { columns: webhookColumns(body, bodyValue(body)), entity: null };
  }
  const value = parseExact(utf8.decode(body));
  const root = fields(value);
  const columns: DerivedColumns = {
    type: null,
    orderId: null,
    userId: null,
    clickId: null,
    occurredAt: null,
    // A canonical form is made by recursion, which hostile nesting exhausts.
    digest: isDeeperThan(value) ? digestOfBytes(body) : digestOfValue(value),
  };
  const orderId = idText(root.order_id);
  const userId = sameText(root.user_id);
  switch (kind) {
    case "order_redacted":
    case "order_snapshot": {
      const clickId = linking(sameText(root.click_id));
      const occurredAt = isoTime(root.changed_at) ??
        isoTime(root.created_at);
      return {
        columns: { ...columns, orderId, userId, clickId, occurredAt },
        entity: orderId,
      };
    }
    case "user_snapshot":
      return { columns: { ...columns, userId }, entity: userId };
    case "order_absent":
    case "order_contradicted":
    case "chain_reading":
      return { columns: { ...columns, orderId }, entity: orderId };
    case "order_released": {
      const turn = idText(root.turn);
      const entity = orderId === null || turn === null
        ? orderId
        : `${orderId}\0${turn}`;
      return { columns: { ...columns, orderId }, entity };
    }
    case "session_created":
      return {
        columns: {
          ...columns,
          userId,
          clickId: linking(idText(root.click_id)),
        },
        entity: idText(root.session_id),
      };
    case "order_expected":
      return {
        columns: {
          ...columns,
          userId,
          clickId: linking(idText(root.click_id)),
        },
        entity: idText(root.expectation_id),
      };
    case "delivery_unanswered":
      return { columns, entity: idText(root.event_id) };
    case "witness_required":
      return { columns, entity: idText(root.since ?? root.until) };
    case "month_closed":
      return { columns, entity: idText(root.month) };
    case "note":
    case "person_erased":
      // Their ids are minted.
      return { columns, entity: null };
  }
}

/** Characters of a time in a ULID, and the latest time that they can hold. */
const timeLength = 10;
const latestMs = 2 ** 48 - 1;
/** Hex digits of the hash in the id of a reading: 128 bits. */
const readingDigits = 32;

/**
 * Id of a fact that was read or decided: the same fact gets the same id, so a
 * retry after a lost answer never doubles it.
 *
 * Readings are most of a ledger, so theirs begins with the time in the way of
 * ULIDs: the index of ids then grows at its end, and an append costs no more
 * when there are millions.
 *
 * @param kind Kind of fact.
 * @param entity What the fact is of.
 * @param readAt When it was read; null where nothing was.
 * @param digest Digest of its body.
 * @returns The time of a reading as ten characters and 32 lower-case hex
 * digits; 64 lower-case hex digits where nothing was read.
 *
 * @example Name a reading
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const readAt = "2026-01-01T00:00:00.000Z";
 * const id = factId("order_absent", "01JORDER", readAt, "00");
 * assert.equal(id, factId("order_absent", "01JORDER", readAt, "00"));
 * assert.match(id, /^01KDVDNA00[0-9a-f]{32}$/);
 * ```
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
  const hash = createHash("sha256").update(parts).digest("hex");
  const readAtMs = readAt === null ? NaN : Date.parse(readAt);
  // Nothing mints such a time, but an imported event may say anything.
  if (!(readAtMs >= 0 && readAtMs <= latestMs)) return hash;
  return encodeTime(readAtMs, timeLength) + hash.slice(0, readingDigits);
}

/**
 * Derives the columns of a webhook whose body was parsed before.
 *
 * @param body The exact bytes.
 * @param value What they are the JSON text of; undefined when they are not.
 */
export function webhookColumns(
  body: Uint8Array,
  value: unknown,
): DerivedColumns {
  const root = fields(value);
  return {
    type: idText(root.type),
    orderId: idText(fields(root.order).id),
    userId: idText(fields(root.user).user_id) ?? idText(root.user_id),
    clickId: linking(idText(root.click_id)),
    occurredAt: null,
    digest: digestOfBytes(body),
  };
}

/** A text with NUL in it is left out, so that it never names another entity. */
function sameText(value: unknown): string | null {
  return typeof value === "string" && value.includes("\0")
    ? null
    : idText(value);
}

/** A JSON object, or one without fields in place of anything else. */
function fields(value: unknown): Readonly<Record<string, unknown>> {
  return objectOf(value) ?? {};
}

/** A time of the service as UTC ISO 8601 with milliseconds. */
function isoTime(value: unknown): string | null {
  const timeMs = typeof value === "string" ? readServiceTime(value) : null;
  return timeMs === null ? null : new Date(timeMs).toISOString();
}

/**
 * Digest of a webhook: SHA-256 of the exact bytes received.
 *
 * @param body The bytes.
 * @returns 64 lower-case hex digits.
 *
 * @example Digest a body
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const digest = digestOfBytes(new TextEncoder().encode('{"type":"login"}'));
 * assert.match(digest, /^af72f1cc/);
 * ```
 */
export function digestOfBytes(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}

/**
 * Digest of a reading: SHA-256 of the canonical JSON (RFC 8785) of the value,
 * in which each number is its exact decimal string already and each string is
 * made well formed. So the order of fields, white space and escapes do not
 * count, and two amounts that differ in the 18th digit never collide.
 *
 * @param value What `parseExact` made of the service's text; not nested so
 * deeply that recursion fails.
 * @returns 64 lower-case hex digits.
 *
 * @example Two spellings of one value
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(
 *   digestOfValue({ a: "1", b: ["é"] }),
 *   digestOfValue({ b: ["\u00e9"], a: "1" }),
 * );
 * ```
 */
export function digestOfValue(value: unknown): string {
  const canonical = canonicalize(wellFormed(value)) ?? "";
  return createHash("sha256").update(canonical).digest("hex");
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

/** A column that does not follow from the body. */
export interface UnderivedColumn {
  /** The column. */
  readonly field: string;
  /** What it holds. */
  readonly stored: string | null;
  /** What the body says. */
  readonly derived: string | null;
}

/** Kinds whose ids follow from nothing. */
const MINTED: ReadonlySet<EventKind> = new Set([
  "webhook",
  "note",
  "person_erased",
]);

/** How a body ends of which something was taken out. */
export const ERASED_MARK = '"erased":true}';

/** Whether something was taken out of a body. */
export function isMarkedErased(body: Uint8Array): boolean {
  const end = body.subarray(-ERASED_MARK.length);
  return utf8.decode(end) === ERASED_MARK;
}

/** How the ids of facts begin whose content was erased. */
export const ERASED_ID = "erased:";

/**
 * Finds the first column of an event that does not follow from its body. The
 * id of a webhook delivery is given at receipt and follows from nothing.
 *
 * @param event The event.
 * @param body Its body.
 * @returns Null when all do.
 * @throws {SyntaxError} When a body other than a webhook's is not JSON.
 */
export function underivedColumn(
  event: Omit<RecordedEvent, "position">,
  body: Uint8Array,
): UnderivedColumn | null {
  const { columns, entity } = derive(event.kind, body);
  for (const [field, derived] of Object.entries(columns)) {
    const stored = event[field as keyof typeof columns];
    if (stored !== derived) return { field, stored, derived };
  }
  if (MINTED.has(event.kind) || event.eventId.startsWith(ERASED_ID)) {
    return null;
  }
  const stored = event.eventId;
  const derived = entity === null
    ? null
    : factId(event.kind, entity, event.readAt, columns.digest);
  return stored === derived ? null : { field: "eventId", stored, derived };
}
