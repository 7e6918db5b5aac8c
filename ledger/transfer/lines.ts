/** The lines of an export, those of earlier versions included, as they are read. */
import { Buffer } from "node:buffer";
import { base64, hex } from "@scure/base";
import { encodeTime } from "ulid";
import { isRecord } from "../../core/guards.ts";
import { derive, underivedColumn } from "../events/record.ts";
import type { NewEvent, RecordedEvent } from "../events/event.ts";
import { EVENT_KINDS, type EventKind } from "../machines/event_kind.ts";
import { type AliasRow, aliasRow, keyRow } from "../store/aliases.ts";
import { type Note, NOTE_ACTIONS, NOTED_ENTITIES } from "../recording/notes.ts";

/** An event that can be appended; nothing of it is missing. */
export type ImportedEvent = NewEvent & { readonly body: Uint8Array };

const TEXTS = [
  ...["type", "orderId", "userId", "clickId", "occurredAt", "digest"],
] as const;

/**
 * Reads the line of an event, and checks that its columns follow from its body.
 *
 * @throws {SyntaxError} When it is not a JSON object or lacks a field.
 * @throws {Error} When salt or body is not hex or base64.
 * @throws {TypeError} When a column contradicts the body.
 */
export function importedEvent(line: string): ImportedEvent {
  const root: unknown = JSON.parse(line);
  if (!isRecord(root)) throw new SyntaxError("The line is not a JSON object");
  const text = (field: string): string | null => {
    const found = root[field];
    if (found === null || typeof found === "string") return found;
    throw new SyntaxError(`"${field}" is missing or not a text`);
  };
  const needed = (field: string): string => {
    const found = text(field);
    if (found === null) throw new SyntaxError(`"${field}" is null`);
    return found;
  };
  const kind = needed("kind");
  if (!Object.hasOwn(EVENT_KINDS, kind)) {
    throw new SyntaxError(`The kind ${JSON.stringify(kind)} is not known here`);
  }
  const columns = Object.fromEntries(
    TEXTS.map((field) => [field, text(field)]),
  ) as Pick<RecordedEvent, (typeof TEXTS)[number]>;
  const stored = text("body");
  const salt = text("salt");
  const event = {
    ...columns,
    eventId: needed("eventId"),
    kind: kind as EventKind,
    recordedAt: needed("recordedAt"),
    readAt: text("readAt"),
  };
  if (stored === null) {
    // An earlier version left nothing of a body that was erased.
    const part = needed("erased");
    if (part !== "body" && part !== "identity") {
      throw new SyntaxError(
        `"erased" is ${JSON.stringify(part)}, no part of one`,
      );
    }
    const body = whatWasLeft(event);
    return {
      ...event,
      digest: digestOf(event.kind, body),
      body,
      salt: NO_SALT,
    };
  }
  const body = base64.decode(stored);
  if (salt === null) throw new SyntaxError('"salt" is null');
  checkDerived({ ...event, body, salt: hex.decode(salt) });
  return {
    ...event,
    digest: columns.digest ?? "",
    body,
    salt: hex.decode(salt),
  };
}

const NO_SALT = new Uint8Array(16);

/** What the columns of an erased event say, as a body; of most kinds nothing. */
function whatWasLeft(
  { kind, type, orderId, userId, clickId }: Pick<
    RecordedEvent,
    "kind" | "type" | "orderId" | "userId" | "clickId"
  >,
): Uint8Array {
  if (kind !== "webhook") return new Uint8Array();
  return new TextEncoder().encode(JSON.stringify({
    ...type !== null && { type },
    ...userId !== null && { user: { user_id: userId } },
    ...clickId !== null && { click_id: clickId },
    ...orderId !== null && { order: { id: orderId } },
  }));
}

function digestOf(kind: EventKind, body: Uint8Array): string {
  return body.length === 0 ? "" : derive(kind, body).columns.digest;
}

/** Checks the columns against the body; of an erased one nothing can be checked. */
function checkDerived(
  event: Omit<RecordedEvent, "position"> & { readonly body: Uint8Array },
): void {
  if (event.body.length === 0 && event.kind !== "webhook") return;
  const wrong = underivedColumn(event, event.body);
  if (wrong === null) return;
  const { field, stored, derived } = wrong;
  const said = field === "eventId"
    ? "what it is the id of gives"
    : "the body says";
  throw new TypeError(
    `"${field}" is ${JSON.stringify(stored)}, and ${said} ` +
      JSON.stringify(derived),
  );
}

/** The number of events that the last line states; null of another line. */
export function exportEnd(line: string): number | null {
  const found = /^\{\s*"end"\s*:\s*(\d+)\s*\}$/.exec(line.trim());
  return found?.[1] === undefined ? null : Number(found[1]);
}

/**
 * Reads a line with a note that stood beside the events, as earlier versions had them.
 *
 * @throws {SyntaxError} When the note lacks a field.
 */
export function importedNote(line: string): Note | null {
  if (!/^\{\s*"note"\s*:/.test(line)) return null;
  const { note } = JSON.parse(line) as { readonly note: unknown };
  const root = isRecord(note) ? note : {};
  const text = (field: string): string => {
    const found = root[field];
    if (typeof found === "string") return found;
    throw new SyntaxError(`"${field}" of the note is missing or not a text`);
  };
  const oneOf = <Value extends string>(
    field: string,
    known: readonly Value[],
  ): Value => {
    const found = known.find((value) => value === text(field));
    if (found !== undefined) return found;
    throw new SyntaxError(
      `"${field}" of the note is ${JSON.stringify(root[field])}; known are ` +
        known.join(", "),
    );
  };
  const { reasons } = root;
  if (
    !Array.isArray(reasons) ||
    !reasons.every((reason) => typeof reason === "string")
  ) throw new SyntaxError('"reasons" of the note is not a list of texts');
  return {
    id: text("id"),
    entity: oneOf("entity", NOTED_ENTITIES),
    entityId: text("entityId"),
    action: oneOf("action", NOTE_ACTIONS),
    reasons,
    text: text("text"),
    author: text("author"),
    notedAt: text("notedAt"),
  };
}

/** What a person did about an order, as earlier versions recorded it. */
const FORMER_DEEDS: Readonly<
  Record<string, readonly [Note["action"], string]>
> = {
  noted: ["note", ""],
  asked: ["acknowledge", "Asked the service"],
  refunded: ["acknowledge", "Refunded it"],
  delivered: ["acknowledge", "Delivered it"],
  written_off: ["acknowledge", "Wrote it off"],
  not_ours: ["acknowledge", "It is not ours"],
  reopened: ["reopen", "Opened it again"],
};

/**
 * Reads a line with an event `case_changed`, which earlier versions recorded, as the
 * note that it is now.
 *
 * @throws {SyntaxError} When the body lacks a field.
 * /
 */
export function formerNote(line: string): Note[] | null {
  if (!line.includes('"case_changed"')) return null;
  const root: Readonly<Record<string, unknown>> = Object(JSON.parse(line));
  if (root.kind !== "case_changed") return null;
  const { body, eventId, recordedAt } = root;
  if (body === null) return [];
  const said: Readonly<Record<string, unknown>> = Object(
    JSON.parse(Buffer.from(base64.decode(String(body))).toString()),
  );
  const { order_id: entityId, by: author, at: notedAt = recordedAt } = said;
  const [action, deed] = FORMER_DEEDS[String(said.change)] ?? [];
  if (
    action === undefined || typeof entityId !== "string" ||
    typeof author !== "string" || typeof notedAt !== "string"
  ) {
    throw new SyntaxError(
      'The body of "case_changed" lacks order_id, change, by or at',
    );
  }
  const { reference, since, note, reasons } = said;
  const parts = [
    deed,
    typeof reference === "string" && `reference ${reference}`,
    typeof since === "string" && `at ${since}`,
    note,
  ].filter((part) => typeof part === "string" && part !== "");
  return [{
    // Each time the same, and in the order of the time.
    id: encodeTime(Date.parse(notedAt), 10) +
      String(eventId).slice(0, 16).toUpperCase(),
    ...{ entity: "order", entityId, action },
    reasons: Array.isArray(reasons)
      ? reasons.filter((reason) => typeof reason === "string")
      : [],
    ...{ text: parts.join("; "), author, notedAt },
  }];
}

/** Rows about erasures that earlier versions exported, as aliases. */
const FORMER_ROWS: Readonly<
  Record<
    string,
    (row: readonly (string | number | null)[], key: Uint8Array) => AliasRow
  >
> = {
  aliases: ([hash, kind, alias]) => hashedRow(hash, kind, String(alias)),
  erasure_keys: ([key]) => keyRow(hex.decode(String(key))),
  erased_names: ([hash, kind, erasedAt, returnedAt]) =>
    hashedRow(hash, kind, JSON.stringify({ erasedAt, returnedAt })),
  erased_values: ([hash, is, length]) =>
    hashedRow(hash, "value", JSON.stringify({ is, length })),
  erased_orders: ([id, userId = null, clickId = null, erasedAt], key) => {
    const orderId = String(id);
    return aliasRow(key, "order", [orderId, {
      orderId,
      userId: userId === null ? null : String(userId),
      clickId: clickId === null ? null : String(clickId),
      erasedAt: String(erasedAt),
    }]);
  },
  erased_people: ([name, erasedAt, events, orders], key) =>
    aliasRow(key, "person", [String(name), {
      pseudonym: String(name),
      erasedAt: String(erasedAt),
      events: Number(events),
      orders: Number(orders),
    }]),
  returned_orders: ([id, knownAt], key) => {
    const orderId = String(id);
    return aliasRow(key, "returned", [orderId, {
      ...{ orderId, knownAt: String(knownAt) },
    }]);
  },
};

function hashedRow(hash: unknown, kind: unknown, alias: string): AliasRow {
  return [hex.decode(String(hash)), String(kind), alias];
}

/**
 * Reads a line about who was erased.
 *
 * @throws {SyntaxError} When it is not as it was written.
 * /
 */
export function importedErasure(
  line: string,
  key: Uint8Array,
): AliasRow | null {
  if (!line.startsWith('{"erasure":')) return null;
  const { erasure, row } = JSON.parse(line) as {
    readonly erasure: string;
    readonly row: unknown;
  };
  const read = Object.hasOwn(FORMER_ROWS, erasure) && FORMER_ROWS[erasure];
  if (read && Array.isArray(row)) return read(row, key);
  throw new SyntaxError(
    `"erasure" is ${JSON.stringify(erasure)}, which is not known here`,
  );
}
