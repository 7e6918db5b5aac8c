import { Columns, json, plain } from "./columns.ts";
import type { ResultSet, Statement } from "../driver/driver.ts";

/** What a note can be about. */
export const NOTED_ENTITIES = [
  "order",
  "user",
  "delivery",
  "subscription",
] as const;

/** What a note can do. */
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

/**
 * What people noted about what waits for them. They are no events: nothing is
 * folded from them, and the chain does not cover them.
 */
export const notesSchema: readonly string[] = [
  `CREATE TABLE notes (
    note_id TEXT PRIMARY KEY,
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    action TEXT NOT NULL,
    reasons TEXT NOT NULL,
    text TEXT NOT NULL,
    author TEXT NOT NULL,
    noted_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX notes_by_entity ON notes(entity, entity_id, note_id)`,
];

const NOTES = new Columns<Note>({
  id: ["note_id", plain()],
  entity: ["entity", plain()],
  entityId: ["entity_id", plain()],
  action: ["action", plain()],
  reasons: ["reasons", json()],
  text: ["text", plain()],
  author: ["author", plain()],
  notedAt: ["noted_at", plain()],
});

/** Stores notes, each once. */
export function insertNotes(notes: readonly Note[]): Statement {
  const rows = notes.map((note) => NOTES.write(note));
  return {
    sql: `INSERT INTO notes (${NOTES.list()})
      SELECT ${NOTES.values} FROM json_each(?) WHERE true
      ON CONFLICT (note_id) DO NOTHING`,
    args: [JSON.stringify(rows)],
  };
}

/** Selects the notes of some entities of one kind, the oldest first. */
export function selectNotes(
  entity: Note["entity"],
  ids: readonly string[],
): Statement {
  return {
    sql: `SELECT ${NOTES.list()} FROM notes WHERE entity = ?1
      AND entity_id IN (SELECT value FROM json_each(?2)) ORDER BY note_id`,
    args: [entity, JSON.stringify(ids)],
  };
}

/** Selects notes after one of them, by their ids. */
export function selectNotesAfter(noteId: string, limit: number): Statement {
  return {
    sql: `SELECT ${NOTES.list()} FROM notes WHERE note_id > ?1
      ORDER BY note_id LIMIT ?2`,
    args: [noteId, limit],
  };
}

/** Selects the latest notes of one kind of entity, the latest first. */
export function selectNewestNotes(
  entity: Note["entity"],
  limit: number,
): Statement {
  return {
    sql: `SELECT ${NOTES.list()} FROM notes WHERE entity = ?1
      ORDER BY note_id DESC LIMIT ?2`,
    args: [entity, limit],
  };
}

/** Reads the notes of an answer. */
export function notesOf(result: ResultSet | undefined): Note[] {
  return result?.rows.map((row) => NOTES.read(row)) ?? [];
}
