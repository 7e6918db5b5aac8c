import { monotonicFactory } from "ulid";
import type { Driver } from "../store/driver/driver.ts";
import {
  insertNotes,
  type Note,
  notesOf,
  selectNotes,
  selectNotesAfter,
} from "../store/tables/notes.ts";

/** Notes of one millisecond keep their order. */
const mintId = monotonicFactory();

/** Notes read at once. */
const BATCH = 500;

/**
 * Stores a note, beside the events and never among them.
 *
 * @param nowMs The time, in milliseconds since the epoch.
 * @returns The note as it is stored.
 * @throws {LedgerError} When the database fails.
 */
export async function addNote(
  driver: Driver,
  note: Omit<Note, "id" | "notedAt">,
  nowMs: number,
): Promise<Note> {
  const notedAt = new Date(nowMs).toISOString();
  const stored: Note = { ...note, id: mintId(nowMs), notedAt };
  await driver.batch([insertNotes([stored])], "write");
  return stored;
}

/**
 * Reads the notes of some entities of one kind, by their ids.
 *
 * @returns The notes of each, the oldest first.
 * @throws {LedgerError} When the database fails.
 */
export async function readNotes(
  driver: Driver,
  entity: Note["entity"],
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly Note[]>> {
  if (ids.length === 0) return new Map();
  const [found] = await driver.batch([selectNotes(entity, ids)], "read");
  return Map.groupBy(notesOf(found), ({ entityId }) => entityId);
}

/** Walks over all notes, the oldest first. */
export async function* allNotes(driver: Driver): AsyncGenerator<Note> {
  for (let after = "";;) {
    const [found] = await driver.batch(
      [selectNotesAfter(after, BATCH)],
      "read",
    );
    const notes = notesOf(found);
    yield* notes;
    const last = notes.at(-1);
    if (last === undefined || notes.length < BATCH) return;
    after = last.id;
  }
}

/**
 * Whether every reason to wait is acknowledged. An acknowledgement does not
 * cover reasons that came later.
 *
 * @param reasons Why it waits now.
 * @param notes Its notes, the oldest first.
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
