import { base64, hex } from "@scure/base";
import { encodeTime } from "ulid";
import { EVENT_KINDS, type EventKind } from "../machines/event_kind.ts";
import type { RecordedEvent } from "../events/event.ts";
import { underivedColumn } from "../events/derive.ts";
import type { Erased } from "../hashes/commitment.ts";
import {
  type Note,
  NOTE_ACTIONS,
  NOTED_ENTITIES,
} from "../store/tables/notes.ts";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import {
  ERASURE_TABLES,
  type ErasureTable,
  insertErasureRow,
  noteImportedErasures,
  selectErasureTable,
} from "../store/tables/erasure/erasures.ts";

/** First line of an export. */
export interface ExportHeader {
  /** Always `events`. */
  readonly rampkit: "events";
  /** Version of the format. */
  readonly version: 1;
  /** Environment of the ledger. */
  readonly environment: string;
}

/** An event as a line of an export: every column but the position. */
export interface ExportedEvent
  extends Pick<RecordedEvent, (typeof textFields)[number] | "digest"> {
  /** The salt, hex; null where the body was erased. */
  readonly salt: string | null;
  /** The exact bytes, base64; null where they were erased. */
  readonly body: string | null;
  /** What was erased; only without a body. */
  readonly erased?: string | null;
  /** What the chain commits to instead, hex; only without a body. */
  readonly commitment?: string | null;
}

/** Last line of an export: without it the file was cut. */
export interface ExportTrailer {
  /** Number of events before it. */
  readonly end: number;
}

/** An event to be stored with or without its body. */
export interface ImportedEvent extends Omit<RecordedEvent, "position"> {
  /** What stands for what was erased; null while the body is there. */
  readonly erased: Erased | null;
}

/** Columns whose text is exported as it is. */
const textFields = [
  "eventId",
  "kind",
  "type",
  "orderId",
  "userId",
  "clickId",
  "occurredAt",
  "recordedAt",
  "readAt",
] as const;

/**
 * Writes an event as one line of an export: every column but the position,
 * which belongs to the ledger, and the exact bytes in Base64.
 *
 * @param event The event.
 * @param erased What stands for what was erased of it.
 * @returns JSON with fixed key order, without a line break.
 */
export function exportedEvent(
  event: RecordedEvent,
  erased: Erased | null,
): string {
  const texts = Object.fromEntries(
    textFields.map((field) => [field, event[field]]),
  ) as Pick<ExportedEvent, (typeof textFields)[number]>;
  const line: ExportedEvent = {
    ...texts,
    digest: event.digest,
    salt: event.salt === null ? null : hex.encode(event.salt),
    body: event.body === null ? null : base64.encode(event.body),
    ...(event.body === null && {
      erased: erased?.part ?? null,
      commitment: erased === null ? null : hex.encode(erased.commitment),
    }),
  };
  return JSON.stringify(line);
}

/**
 * Reads a line that {@linkcode exportedEvent} wrote, and checks that its
 * columns follow from its body.
 *
 * @param line The line.
 * @throws {SyntaxError} When it is not a JSON object or lacks a field.
 * @throws {Error} When salt, body or commitment is not hex or base64.
 * @throws {TypeError} When a column contradicts the body.
 */
export function importedEvent(line: string): ImportedEvent {
  const value: unknown = JSON.parse(line);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SyntaxError("The line is not a JSON object");
  }
  const root = value as Readonly<Record<string, unknown>>;
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
  const body = text("body");
  const salt = text("salt");
  const event: ImportedEvent = {
    eventId: needed("eventId"),
    kind: kind as EventKind,
    type: text("type"),
    orderId: text("orderId"),
    userId: text("userId"),
    clickId: text("clickId"),
    occurredAt: text("occurredAt"),
    recordedAt: needed("recordedAt"),
    readAt: text("readAt"),
    digest: text("digest"),
    salt: salt === null ? null : hex.decode(salt),
    body: body === null ? null : base64.decode(body),
    erased: body === null
      ? {
        part: erasedPart(needed("erased")),
        commitment: hex.decode(needed("commitment")),
      }
      : null,
  };
  checkDerived(event);
  return event;
}

function erasedPart(part: string): Erased["part"] {
  if (part === "body" || part === "identity") return part;
  throw new SyntaxError(`"erased" is ${JSON.stringify(part)}, no part of one`);
}

/** Checks the columns against the body; without a body nothing can be checked. */
function checkDerived(event: ImportedEvent): void {
  if (event.body === null) return;
  if (event.salt === null) throw new SyntaxError('"salt" is null');
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

/**
 * Reads the last line of an export.
 *
 * @param line Any line.
 * @returns The number of events it states; null when it is another line.
 */
export function exportEnd(line: string): number | null {
  const found = /^\{\s*"end"\s*:\s*(\d+)\s*\}$/.exec(line.trim());
  return found?.[1] === undefined ? null : Number(found[1]);
}

/** A note as a line of an export. */
export interface ExportedNote {
  /** What somebody noted of an order or user. */
  readonly note: Note;
}

/** Writes a note as one line of an export. */
export function exportedNote(note: Note): string {
  const line: ExportedNote = { note };
  return JSON.stringify(line);
}

/**
 * Reads a line that {@linkcode exportedNote} wrote.
 *
 * @param line Any line.
 * @returns Null when it is another line.
 * @throws {SyntaxError} When the note lacks a field.
 */
export function importedNote(line: string): Note | null {
  if (!/^\{\s*"note"\s*:/.test(line)) return null;
  const { note } = JSON.parse(line) as { readonly note: unknown };
  const root = (typeof note === "object" ? note ?? {} : {}) as Readonly<
    Record<string, unknown>
  >;
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
 * Reads a line with an event `case_changed`, which earlier versions recorded, as
 * the note that it is now.
 *
 * @param line Any line.
 * @returns Null when it is another line; no note where the body was erased.
 * @throws {SyntaxError} When the body lacks a field.
 */
export function formerNote(line: string): Note[] | null {
  if (!line.includes('"case_changed"')) return null;
  const root: Readonly<Record<string, unknown>> = Object(JSON.parse(line));
  if (root.kind !== "case_changed") return null;
  const { body, eventId, recordedAt } = root;
  if (body === null) return [];
  const said: Readonly<Record<string, unknown>> = Object(
    JSON.parse(new TextDecoder().decode(base64.decode(String(body)))),
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

/** A row about an erasure, as a line of an export; bytes are hex. */
export interface ExportedErasure {
  /** Which table it is of. */
  readonly erasure: ErasureTable;
  /** Its columns. */
  readonly row: readonly (string | number | null)[];
}

/** How such a line begins. */
const BEGINNING = '{"erasure":';

/**
 * Writes who was erased, and what must not come back, as lines of an export:
 * the ledger that it is imported into knows it too.
 */
export async function* exportErasures(driver: Driver): AsyncGenerator<string> {
  const results = await driver.batch(
    ERASURE_TABLES.map(selectErasureTable),
    "read",
  );
  for (const [at, erasure] of ERASURE_TABLES.entries()) {
    for (const row of results[at]?.rows ?? []) {
      const line: ExportedErasure = { erasure, row: row.map(exported) };
      yield JSON.stringify(line);
    }
  }
}

function exported(value: SqlValue): string | number | null {
  return value instanceof Uint8Array ? hex.encode(value) : value as string;
}

/**
 * Reads a line that {@linkcode exportErasures} wrote.
 *
 * @param line Any line.
 * @returns The statements that store it; null when it is another line.
 * @throws {SyntaxError} When it is not as it was written.
 */
export function importedErasure(line: string): Statement[] | null {
  if (!line.startsWith(BEGINNING)) return null;
  const { erasure, row }: ExportedErasure = JSON.parse(line);
  if (!ERASURE_TABLES.includes(erasure) || !Array.isArray(row)) {
    throw new SyntaxError(
      `"erasure" is ${JSON.stringify(erasure)}, which is not known here`,
    );
  }
  return [insertErasureRow(erasure, row), ...noteImportedErasures];
}
