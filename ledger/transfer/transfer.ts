/** Writes a ledger as lines of JSON: who was erased, and every event by position. */
import { Buffer } from "node:buffer";
import { base64, hex } from "@scure/base";
import { encodeTime } from "ulid";
import type { RecordedEvent } from "../events/event.ts";
import {
  bytesOf,
  type Driver,
  LedgerError,
  readDeciding,
  type Statement,
  statement,
  write,
} from "../store/database.ts";
import {
  type AliasKind,
  type AliasRow,
  aliasRow,
  insertAliasRow,
  keyRow,
  readAliasRows,
  readKeys,
} from "../store/aliases.ts";
import {
  appendStatement,
  eventsOf,
  hexOf,
  nextEvents,
  type UnreadEvent,
} from "../store/events.ts";
import { isRecord, jsonRecord, messageOf } from "../../core/guards.ts";
import { underivedColumn } from "../events/record.ts";
import { EVENT_KINDS, type EventKind } from "../machines/machine.ts";
import { type Note, noteEvent } from "../recording/notes.ts";

/** First line of an export. */
interface ExportHeader {
  readonly rampkit: "events";
  readonly version: 1;
  readonly environment: string;
}

/** An event as a line of an export: what is stored but the position. */
interface ExportedEvent
  extends Omit<RecordedEvent, "position" | "salt" | "body"> {
  /** Hex. */
  readonly salt: string;
  /** The exact bytes, base64. */
  readonly body: string;
}

/** Who was erased, by keyed hash. */
interface ExportedAlias {
  readonly erasure: "aliases";
  /** Hash as hex, kind, alias. */
  readonly row: readonly (string | number)[];
}

/** Last line of an export: without it the file was cut. */
interface ExportTrailer {
  /** Number of events before it. */
  readonly end: number;
}

/** A line of an export. */
export type ExportedLine =
  | ExportedEvent
  | ExportHeader
  | ExportedAlias
  | ExportTrailer;

/** Reads all events by position, a few at a time. */
export async function* allEvents(
  driver: Driver,
): AsyncGenerator<RecordedEvent> {
  for (let after = 0;;) {
    const next = nextEvents("?3", 500, 4 << 20, after);
    const events = eventsOf((await readDeciding(driver, [next]))[0]);
    yield* events;
    const last = events.at(-1);
    if (last === undefined) return;
    after = last.position;
  }
}

/** Writes a ledger as lines of JSON; by the number in the last a cut file is seen. */
export async function* exportEvents(
  driver: Driver,
  environment: string,
): AsyncGenerator<string> {
  yield JSON.stringify({ rampkit: "events", version: 1, environment });
  for (const [hash, kind, alias] of await readAliasRows(driver)) {
    const row = [hexOf(bytesOf(hash)), kind, alias];
    yield JSON.stringify({ erasure: "aliases", row });
  }
  let events = 0;
  for await (const event of allEvents(driver)) {
    yield exportedEvent(event);
    events++;
  }
  yield JSON.stringify({ end: events });
}

/** What follows from the body is written too, so that people can search for it. */
function exportedEvent(event: RecordedEvent): string {
  const { eventId, kind, type, orderId, userId, clickId } = event;
  const { occurredAt, recordedAt, readAt, digest, salt, body } = event;
  return JSON.stringify({
    ...{ eventId, kind, type, orderId, userId, clickId },
    ...{ occurredAt, recordedAt, readAt, digest },
    salt: hexOf(salt),
    body: Buffer.from(body).toString("base64"),
  });
}

/** How many events were imported, and how many were there already. */
export interface Import {
  /** Events appended. */
  readonly imported: number;
  /** Events that were there already. */
  readonly skipped: number;
}

/** Events and bytes of one batch. */
const BATCH_EVENTS = 500;
const BATCH_BYTES = 4 << 20;

/**
 * Appends the events of an export: subscriptions do not get their transitions, and
 * the poller is not asked to confirm them. What came before a wrong line stays, and
 * importing it again is safe.
 */
export async function importEvents(
  driver: Driver,
  environment: string,
  lines: AsyncIterable<string>,
): Promise<Import> {
  const [key = new Uint8Array()] = await readKeys(driver);
  const own = keyRow(key)[2];
  let [imported, skipped, bytes, former] = [0, 0, 0, 0];
  let events: UnreadEvent[] = [];
  let notes: UnreadEvent[] = [];
  let end: number | undefined;
  const flush = async () => {
    if (events.length + notes.length === 0) return;
    const results = await driver.batch([
      FROM_HERE,
      appendStatement(events),
      appendStatement(notes),
      TO_HERE,
    ], "write");
    const added = results[1]?.rowsAffected ?? 0;
    imported += added;
    skipped += events.length - added;
    [events, notes, bytes] = [[], [], 0];
  };
  const take = async (line: Line): Promise<boolean> => {
    if (typeof line.end === "number") end = line.end;
    else if (line.erasure !== undefined) {
      const row = erasureOf(line, key);
      const isOwn = row[1] === "key" && row[2] === own;
      const rows = isOwn ? [] : [insertAliasRow(row)];
      await write(driver, [...rows, MORE_ERASURES]);
    } else if (line.note !== undefined) {
      notes.push(noteEvent(noteOf(line.note)));
    } else if (line.kind === "case_changed") {
      notes.push(...formerNotes(line).map(noteEvent));
      former++;
    } else {
      const event = eventOf(line);
      events.push(event);
      bytes += event.body.byteLength;
    }
    const waiting = events.length + notes.length;
    if (waiting >= BATCH_EVENTS || bytes >= BATCH_BYTES) await flush();
    return end !== undefined;
  };
  try {
    await takeLines(lines, { environment, header, take });
  } finally {
    await flush();
  }
  const read = imported + skipped + former;
  if (end !== read) {
    throw new TypeError(
      end === undefined
        ? `Cannot import all: the file is cut after ${read} events; what it ` +
          "holds is imported, and importing a whole file continues from there"
        : `Cannot import all: the file holds ${read} events and states ${end}`,
    );
  }
  return { imported, skipped };
}

const LAST = "(SELECT coalesce(max(position), 0) FROM events)";

/** Where the batch begins; what was folded since the last one is forgotten. */
const FROM_HERE: Statement = statement(
  `INSERT INTO cursors
    SELECT 'imported', json_array(json_array(${LAST} + 1, ${LAST})), 0 WHERE true
    ON CONFLICT (name) DO UPDATE SET value = CASE
      WHEN value ->> '$[#-1][1]' <= (SELECT position FROM ledger)
        THEN excluded.value
      WHEN value ->> '$[#-1][1]' = ${LAST} THEN value
      ELSE json_insert(value, '$[#]', excluded.value -> '$[0]') END`,
);

/** Where it ends. Nothing else is appended between the two. */
const TO_HERE: Statement = statement(
  `UPDATE cursors SET value = json_replace(value, '$[#-1][1]', ${LAST})
    WHERE name = 'imported'`,
);

const MORE_ERASURES: Statement = statement(
  "UPDATE ledger SET erasures = erasures + 1, turn = turn + 1",
);

function header({ rampkit, version }: Line): void {
  if (rampkit === "events" && version === 1) return;
  throw new TypeError(
    rampkit === "ledger"
      ? "It was written with --move: import it with --move into an empty ledger"
      : "It is not the header that `ledger export` writes; webhook bodies are " +
        "taken by `webhook replay`, a copy of a ledger by `ledger restore`",
  );
}

/** A line as an object. */
export type Line = Readonly<Record<string, unknown>>;

/** Hands over the lines of a file. Says how many there were. */
export async function takeLines(
  lines: AsyncIterable<string>,
  { environment, header, take }: {
    readonly environment: string;
    /** Refuses what is none. */
    readonly header: (line: Line) => void;
    /** Takes another line; whether it was the last. */
    readonly take: (line: Line) => Promise<boolean>;
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
      const root = jsonRecord(line);
      if (!isBegun) {
        header(root ?? {});
        if (root?.environment !== environment) {
          throw new TypeError(
            "The file belongs to the environment " +
              `${JSON.stringify(root?.environment)}, and this one to ` +
              `${JSON.stringify(environment)}: take it into a ledger of its ` +
              "environment",
          );
        }
      } else if (root === null) {
        throw new SyntaxError("The line is not a JSON object");
      } else isWhole = await take(root);
      isBegun = true;
    } catch (cause) {
      if (cause instanceof LedgerError) throw cause;
      const reason = messageOf(cause);
      throw new TypeError(`Cannot import line ${number}: ${reason}`, { cause });
    }
  }
  return number;
}

/** Reads the fields of an object that have to be texts. */
function textsOf(root: Line, whose = "") {
  return (field: string): string => {
    const found = root[field];
    if (typeof found === "string") return found;
    throw new SyntaxError(`"${field}"${whose} is missing or not a text`);
  };
}

function eventOf(root: Line): UnreadEvent {
  const needed = textsOf(root);
  const text = (field: string) => root[field] === null ? null : needed(field);
  const kind = needed("kind");
  if (!Object.hasOwn(EVENT_KINDS, kind)) {
    throw new SyntaxError(`The kind ${JSON.stringify(kind)} is not known here`);
  }
  const event = {
    ...{ kind: kind as EventKind, type: text("type") },
    ...{ orderId: text("orderId"), userId: text("userId") },
    ...{ clickId: text("clickId"), occurredAt: text("occurredAt") },
    ...{ eventId: needed("eventId"), readAt: text("readAt") },
    ...{ recordedAt: needed("recordedAt"), digest: text("digest") ?? "" },
  };
  const { recordedAt } = event;
  if (Number.isNaN(Date.parse(recordedAt))) {
    throw new SyntaxError(
      `"recordedAt" is ${JSON.stringify(recordedAt)}, no time`,
    );
  }
  const stored = text("body");
  if (stored === null) {
    const body = whatWasLeft(event, needed("erased"));
    return { ...event, body, salt: new Uint8Array(16) };
  }
  const [body, salt] = [base64.decode(stored), hex.decode(needed("salt"))];
  const whole = { ...event, body, salt };
  // Of an erased body nothing can be checked.
  const wrong = body.length === 0 && kind !== "webhook"
    ? null
    : underivedColumn(whole, body);
  if (wrong === null) return whole;
  const said = wrong.field === "eventId"
    ? "what it is the id of gives"
    : "the body says";
  throw new TypeError(
    `"${wrong.field}" is ${JSON.stringify(wrong.stored)}, and ${said} ` +
      JSON.stringify(wrong.derived),
  );
}

/** An earlier version left nothing of a body that was erased, but of columns. */
function whatWasLeft(
  { kind, type, orderId, userId, clickId }: Omit<
    RecordedEvent,
    "position" | "body" | "salt"
  >,
  part: string,
): Uint8Array {
  if (part !== "body" && part !== "identity") {
    throw new SyntaxError(
      `"erased" is ${JSON.stringify(part)}, no part of one`,
    );
  }
  if (kind !== "webhook") return new Uint8Array();
  return new TextEncoder().encode(JSON.stringify({
    ...type !== null && { type },
    ...userId !== null && { user: { user_id: userId } },
    ...clickId !== null && { click_id: clickId },
    ...orderId !== null && { order: { id: orderId } },
  }));
}

/** A note that stood beside the events, as earlier versions had them. */
function noteOf(note: unknown): Note {
  const root = isRecord(note) ? note : {};
  const text = textsOf(root, " of the note");
  const names = ["id", "entity", "entityId", "action", "text", "author"];
  const texts = [...names, "notedAt"].map((name) => [name, text(name)]);
  const reasons = Array.isArray(root.reasons) ? root.reasons.map(String) : [];
  return { ...Object.fromEntries(texts), reasons };
}

/** What a person did about an order, as earlier versions recorded it. */
const FORMER_DEEDS = new Map<unknown, readonly [string, Note["action"]?]>([
  ["noted", ["", "note"]],
  ["asked", ["Asked the service"]],
  ["refunded", ["Refunded it"]],
  ["delivered", ["Delivered it"]],
  ["written_off", ["Wrote it off"]],
  ["not_ours", ["It is not ours"]],
  ["reopened", ["Opened it again", "reopen"]],
]);

/** The note that an event `case_changed` is now; none where its body was erased. */
function formerNotes({ body, eventId, recordedAt }: Line): Note[] {
  if (body === null) return [];
  const text = Buffer.from(base64.decode(String(body))).toString();
  const said: Line = jsonRecord(text) ?? {};
  const { order_id: entityId, by: author, at: notedAt = recordedAt } = said;
  const { change, reference, since, note, reasons } = said;
  const deed = FORMER_DEEDS.get(change);
  if (
    deed === undefined || typeof entityId !== "string" ||
    typeof author !== "string" || typeof notedAt !== "string"
  ) {
    throw new SyntaxError(
      'The body of "case_changed" lacks order_id, change, by or at',
    );
  }
  const [does, action = "acknowledge"] = deed;
  const parts = [
    does,
    reference && `reference ${reference}`,
    since && `at ${since}`,
    note,
  ].filter(Boolean);
  return [{
    // Each time the same, and in the order of the time.
    id: encodeTime(Date.parse(notedAt), 10) +
      String(eventId).slice(0, 16).toUpperCase(),
    ...{ entity: "order", entityId, action },
    reasons: Array.isArray(reasons) ? reasons.map(String) : [],
    ...{ text: parts.join("; "), author, notedAt },
  }];
}

/** What is kept of who was erased, by the tables of earlier versions: kind, columns. */
const FORMER_ROWS = new Map<unknown, readonly [AliasKind, ...string[]]>([
  ["erased_names", ["user", "hash", "kind", "erasedAt", "returnedAt"]],
  ["erased_values", ["value", "hash", "is", "length"]],
  ["erased_orders", ["order", "orderId", "userId", "clickId", "erasedAt"]],
  ["erased_people", ["person", "pseudonym", "erasedAt", "events", "orders"]],
  ["returned_orders", ["returned", "orderId", "knownAt"]],
]);

/** Who was erased, or what is known of them. */
function erasureOf({ erasure, row }: Line, key: Uint8Array): AliasRow {
  const cells = Array.isArray(row) ? row : [];
  const [first = "", kind = "", alias = ""] = cells.map(String);
  if (erasure === "aliases") {
    // One that is no JSON would stop every look at who was erased.
    if (jsonRecord(alias) !== null) return [hex.decode(first), kind, alias];
    throw new SyntaxError(
      "What is kept of who was erased is not a JSON object",
    );
  }
  if (erasure === "erasure_keys") return keyRow(hex.decode(first));
  const former = FORMER_ROWS.get(erasure);
  if (former === undefined || cells !== row) {
    throw new SyntaxError(
      `"erasure" is ${JSON.stringify(erasure)}, which is not known here`,
    );
  }
  const [formerKind, ...columns] = former;
  const { hash, kind: is = formerKind, ...kept } = Object.fromEntries(
    columns.map((column, at) => [column, cells[at]]),
  );
  return hash === undefined
    ? aliasRow(key, formerKind, [first, kept as never])
    : [hex.decode(first), String(is), JSON.stringify(kept)];
}
