/** What people noted about orders, users, deliveries and subscriptions: events that fold into nothing. */
import { monotonicFactory } from "ulid";
import { isRecord } from "../../core/guards.ts";
import { isCalendarDate } from "../../core/time/service_time.ts";
import type { NewEvent } from "../events/event.ts";
import { record } from "../events/record.ts";
import {
  type Driver,
  LedgerError,
  listed,
  statement,
  write,
} from "../store/database.ts";
import { readErasedOrders } from "../store/aliases.ts";
import {
  appendStatement,
  selectEvents,
  stampLive,
  timeOf,
  type UnreadEvent,
} from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";

export const NOTED_ENTITIES = [
  "order",
  "user",
  "delivery",
  "subscription",
] as const;

export const NOTE_ACTIONS = ["note", "acknowledge", "reopen"] as const;

/** What a person noted about something that waits. */
export interface Note {
  /** Its own identifier: a ULID, so that notes sort by time. */
  readonly id: string;
  /** What kind of thing it is about. */
  readonly entity: (typeof NOTED_ENTITIES)[number];
  /** Which one. */
  readonly entityId: string;
  /**
   * - `note`: says something.
   * - `acknowledge`: somebody deals with the reasons.
   * - `reopen`: it waits again for the reasons.
   */
  readonly action: (typeof NOTE_ACTIONS)[number];
  /** Why it waited when this was noted. */
  readonly reasons: readonly string[];
  /** What was noted; may be empty where it acknowledges or opens again. */
  readonly text: string;
  /** Who noted it. */
  readonly author: string;
  /** When, UTC ISO 8601. */
  readonly notedAt: string;
}

/** In characters. */
export const LONGEST_NOTE = 2000;

/** Notes of one millisecond keep their order. */
const mintId = monotonicFactory();

/** Stores a note; null where its order is of an erased person. */
export async function addNote(
  driver: Driver,
  note: Omit<Note, "id" | "notedAt">,
  nowMs: number,
): Promise<Note | null> {
  const notedAt = new Date(nowMs).toISOString();
  const stored: Note = { ...note, id: mintId(nowMs), notedAt };
  if (note.entity === "order") {
    const erased = await readErasedOrders(driver, [note.entityId]);
    if (erased.size > 0) return null;
  }
  await write(driver, [appendStatement([noteEvent(stored)])]);
  return stored;
}

export function noteEvent(
  { id, entity, entityId: entity_id, notedAt, ...said }: Note,
): NewEvent {
  const { action, reasons, text, author } = said;
  const body = { entity, entity_id, action, reasons, text, author };
  const salt = crypto.getRandomValues(new Uint8Array(16));
  return record("note", body, { eventId: id, recordedAt: notedAt, salt });
}

/** Reads the note of an event; null where it was erased. */
export function noteOf(
  { eventId, recordedAt, body }: UnreadEvent,
): Note | null {
  let said: unknown;
  try {
    said = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
  if (!isRecord(said) || typeof said.entity !== "string") return null;
  const { entity, entity_id, action, reasons, text, author } = said;
  return {
    id: eventId,
    entity: entity as Note["entity"],
    entityId: String(entity_id),
    action: action as Note["action"],
    reasons: Array.isArray(reasons) ? reasons.map(String) : [],
    text: String(text ?? ""),
    author: String(author ?? ""),
    notedAt: recordedAt,
  };
}

/** Reads the notes of some entities of one kind, by their ids. */
export async function readNotes(
  driver: Driver,
  entity: Note["entity"],
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly Note[]>> {
  if (ids.length === 0) return new Map();
  const found = await selectEvents(
    driver,
    `events AS e WHERE e.kind = 'note' AND e.${IS_RARE}
      AND json_valid(CAST(e.body AS TEXT))
      AND CAST(e.body AS TEXT) ->> '$.entity' = ?1
      AND CAST(e.body AS TEXT) ->> '$.entity_id' IN
        (SELECT value FROM json_each(?2)) ORDER BY e.id`,
    ...[entity, listed(ids)],
  );
  const notes = found.flatMap((event) => noteOf(event) ?? []);
  return Map.groupBy(notes, ({ entityId }) => entityId);
}

/**
 * Whether every reason to wait is acknowledged. An acknowledgement does not
 * cover reasons that came later.
 */
export function isAcknowledged(
  reasons: readonly string[],
  notes: readonly Note[],
): boolean {
  const dealtWith = new Set<string>();
  for (const { action, reasons: noted } of notes) {
    for (const reason of noted) {
      if (action === "acknowledge") dealtWith.add(reason);
      else if (action === "reopen") dealtWith.delete(reason);
    }
  }
  return reasons.length > 0 && reasons.every((reason) => dealtWith.has(reason));
}

/**
 * Stamps the time from which transitions are sent, unless the ledger has one. What had
 * happened before is historic: it is logged and booked, but not sent.
 *
 * @throws {TypeError} When `time` is not a time.
 * @throws {LedgerError} `failed` when the ledger has gone live at another time.
 */
export async function goLive(
  driver: Driver,
  time: string | undefined,
  now: number,
): Promise<string> {
  const wanted = time === undefined ? null : readTime(time);
  const [, found] = await write(driver, [
    stampLive(wanted ?? now),
    statement("SELECT live_from FROM ledger"),
  ]);
  const stamped = timeOf(found?.[0]?.[0]) ?? "";
  if (wanted === null || wanted === Date.parse(stamped)) return stamped;
  throw new LedgerError(
    "failed",
    `The ledger has gone live at ${stamped}, and not at ` +
      `${new Date(wanted).toISOString()}: leave the time out, or begin a ` +
      "new ledger",
  );
}

function readTime(time: string): number {
  const ms = Date.parse(time);
  const isTime = /^.{10}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/.test(time) &&
    isCalendarDate(time.slice(0, 10));
  if (isTime && !Number.isNaN(ms)) return ms;
  throw new TypeError(
    `Wrong goLive: ${JSON.stringify(time)} is not a time such as ` +
      "2026-11-20T17:00:00Z",
  );
}
