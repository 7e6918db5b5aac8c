/** The lines of an export, those of earlier versions included, as they are read. */
import { Buffer } from "node:buffer";
import { base64, hex } from "@scure/base";
import { encodeTime } from "ulid";
import { isRecord, messageOf } from "../../core/guards.ts";
import type { NewEvent } from "../events/event.ts";
import { derive, underivedColumn } from "../events/record.ts";
import { EVENT_KINDS, type EventKind } from "../machines/event_kind.ts";
import { type Note, NOTE_ACTIONS, NOTED_ENTITIES } from "../recording/notes.ts";
import {
  type AliasKind,
  type AliasRow,
  aliasRow,
  keyRow,
} from "../store/aliases.ts";
import { LedgerError } from "../store/driver/errors.ts";

/** A line as an object. */
export type Line = Readonly<Record<string, unknown>>;

/**
 * Hands over the lines of a file, the header apart, until `take` says that it was the
 * last, and calls `taken` after each. Says how many there were.
 */
export async function takeLines(
  lines: AsyncIterable<string>,
  { header, take, taken }: {
    readonly header: (line: Line) => void;
    readonly take: (line: Line) => Promise<boolean>;
    readonly taken?: () => Promise<void>;
  },
): Promise<number> {
  let number = 0;
  let isBegun = false;
  let isWhole = false;
  for await (const line of lines) {
    number++;
    if (line.trim() === "") continue;
    try {
      if (isWhole) throw new TypeError("Nothing may follow the last line");
      if (isBegun) isWhole = await take(objectOf(line));
      else header(headerOf(line));
      isBegun = true;
    } catch (cause) {
      if (cause instanceof LedgerError) throw cause;
      const reason = messageOf(cause);
      throw new TypeError(`Cannot import line ${number}: ${reason}`, { cause });
    }
    await taken?.();
  }
  return number;
}

function objectOf(line: string): Line {
  const root: unknown = JSON.parse(line);
  if (isRecord(root)) return root;
  throw new SyntaxError("The line is not a JSON object");
}

/** An empty object where it is none: who reads it says what it is no header of. */
function headerOf(line: string): Line {
  try {
    return objectOf(line);
  } catch {
    return {};
  }
}

/** What a line of an export gives. */
export interface Imported {
  readonly event?: NewEvent;
  readonly notes?: readonly Note[];
  /** Set where the notes were an event of an earlier version. */
  readonly wasEvent?: true;
  readonly erasure?: AliasRow;
  /** The number of events, as the last line states it. */
  readonly end?: number;
}

/** Reads a line that follows the header. */
export function importedLine(line: Line, key: Uint8Array): Imported {
  if (typeof line.end === "number") return { end: line.end };
  if (line.erasure !== undefined) return { erasure: erasureOf(line, key) };
  if (line.note !== undefined) return { notes: [noteOf(line.note)] };
  return line.kind === "case_changed"
    ? { notes: formerNotes(line), wasEvent: true }
    : { event: eventOf(line) };
}

/** Reads the fields of an object that have to be texts. */
function textsOf(root: Line, whose = "") {
  return (field: string): string => {
    const found = root[field];
    if (typeof found === "string") return found;
    throw new SyntaxError(
      whose === "" && found === null
        ? `"${field}" is null`
        : `"${field}"${whose} is missing or not a text`,
    );
  };
}

function eventOf(root: Line): NewEvent {
  const needed = textsOf(root);
  const text = (field: string) => root[field] === null ? null : needed(field);
  const kind = needed("kind");
  if (!Object.hasOwn(EVENT_KINDS, kind)) {
    throw new SyntaxError(`The kind ${JSON.stringify(kind)} is not known here`);
  }
  const columns = {
    ...{ kind: kind as EventKind, type: text("type") },
    ...{ orderId: text("orderId"), userId: text("userId") },
    ...{ clickId: text("clickId"), occurredAt: text("occurredAt") },
  };
  const event = {
    ...{ ...columns, eventId: needed("eventId"), readAt: text("readAt") },
    recordedAt: needed("recordedAt"),
  };
  const digest = text("digest") ?? "";
  const stored = text("body");
  if (stored === null) return { ...event, ...whatWasLeft(columns, needed) };
  const [body, salt] = [base64.decode(stored), hex.decode(needed("salt"))];
  const whole = { ...event, digest, body, salt };
  checkDerived(whole);
  return whole;
}

/** An earlier version left nothing of a body that was erased, but of columns. */
function whatWasLeft(
  { kind, type, orderId, userId, clickId }: Pick<
    NewEvent,
    "kind" | "type" | "orderId" | "userId" | "clickId"
  >,
  needed: (field: string) => string,
): Pick<NewEvent, "digest" | "body" | "salt"> {
  const part = needed("erased");
  if (part !== "body" && part !== "identity") {
    throw new SyntaxError(
      `"erased" is ${JSON.stringify(part)}, no part of one`,
    );
  }
  const salt = new Uint8Array(16);
  if (kind !== "webhook") return { digest: "", body: new Uint8Array(), salt };
  const body = new TextEncoder().encode(JSON.stringify({
    ...type !== null && { type },
    ...userId !== null && { user: { user_id: userId } },
    ...clickId !== null && { click_id: clickId },
    ...orderId !== null && { order: { id: orderId } },
  }));
  return { digest: derive(kind, body).columns.digest, body, salt };
}

/** Checks the columns against the body; of an erased one nothing can be checked. */
function checkDerived(
  event: Parameters<typeof underivedColumn>[0] & Pick<NewEvent, "body">,
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

/** A note that stood beside the events, as earlier versions had them. */
function noteOf(note: unknown): Note {
  const root = isRecord(note) ? note : {};
  const text = textsOf(root, " of the note");
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
    ...{ id: text("id"), entity: oneOf("entity", NOTED_ENTITIES) },
    ...{ entityId: text("entityId"), action: oneOf("action", NOTE_ACTIONS) },
    ...{ reasons, text: text("text"), author: text("author") },
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

/** The note that an event `case_changed` is now; none where its body was erased. */
function formerNotes({ body, eventId, recordedAt }: Line): Note[] {
  if (body === null) return [];
  const said: Line = Object(
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

/** What is kept of who was erased, by the tables of earlier versions: kind, columns. */
const FORMER_ROWS: Readonly<Record<string, readonly [AliasKind, ...string[]]>> =
  {
    erased_names: ["user", "hash", "kind", "erasedAt", "returnedAt"],
    erased_values: ["value", "hash", "is", "length"],
    erased_orders: ["order", "orderId", "userId", "clickId", "erasedAt"],
    erased_people: ["person", "pseudonym", "erasedAt", "events", "orders"],
    returned_orders: ["returned", "orderId", "knownAt"],
  };

/** Who was erased, or what is known of them. */
function erasureOf({ erasure, row }: Line, key: Uint8Array): AliasRow {
  const [first = "", kind = "", alias = ""] = Array.isArray(row)
    ? row.map(String)
    : [];
  if (erasure === "aliases") return [hex.decode(first), kind, alias];
  if (erasure === "erasure_keys") return keyRow(hex.decode(first));
  const former = Object.entries(FORMER_ROWS).find(([name]) => name === erasure);
  if (former === undefined || !Array.isArray(row)) {
    throw new SyntaxError(
      `"erasure" is ${JSON.stringify(erasure)}, which is not known here`,
    );
  }
  const [, [formerKind, ...columns]] = former;
  const { hash, kind: is = formerKind, ...kept } = Object.fromEntries(
    columns.map((column, at) => [column, row[at]]),
  );
  return hash === undefined
    ? aliasRow(key, formerKind, [first, kept as never])
    : [hex.decode(first), String(is), JSON.stringify(kept)];
}
