import { monotonicFactory } from "ulid";
import type { Driver } from "../store/driver/driver.ts";
import {
  erasedOrders,
  selectErasedOrders,
} from "../store/tables/erasure/erased_orders.ts";
import {
  insertNotes,
  type Note,
  notesOf,
  selectNewestNotes,
  selectNotes,
  selectNotesAfter,
} from "../store/tables/notes.ts";

/** The most characters of a note. */
export const LONGEST_NOTE = 2000;

/** Notes of one millisecond keep their order. */
const mintId = monotonicFactory();

/** Notes read at once. */
const BATCH = 500;

/**
 * Stores a note, beside the events and never among them.
 *
 * @param nowMs The time, in milliseconds since the epoch.
 * @returns The note as it is stored; null where nothing may be noted of an
 * order, because its person was erased.
 * @throws {LedgerError} When the database fails.
 */
export async function addNote(
  driver: Driver,
  note: Omit<Note, "id" | "notedAt">,
  nowMs: number,
): Promise<Note | null> {
  const notedAt = new Date(nowMs).toISOString();
  const stored: Note = { ...note, id: mintId(nowMs), notedAt };
  const kept = await storeNotes(driver, [stored]);
  return kept[0] ?? null;
}

/**
 * Stores notes, each once. What people wrote of an order may name its person: of
 * an order whose person was erased nothing is stored.
 *
 * @returns Those that are stored.
 * @throws {LedgerError} When the database fails.
 */
export async function storeNotes(
  driver: Driver,
  notes: readonly Note[],
): Promise<readonly Note[]> {
  const orders = notes.filter(({ entity }) => entity === "order")
    .map(({ entityId }) => entityId);
  const [found] = orders.length === 0
    ? []
    : await driver.batch([selectErasedOrders(orders)], "write");
  const erased = erasedOrders(found);
  const kept = notes.filter(({ entity, entityId }) =>
    entity !== "order" || !erased.has(entityId)
  );
  if (kept.length > 0) await driver.batch([insertNotes(kept)], "write");
  return kept;
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

/** A note that was found by its words. */
export interface FoundNote {
  /** What it is about. */
  readonly entity: "order" | "user";
  /** Its id. */
  readonly id: string;
  /** The note. */
  readonly text: string;
}

/** Most of the latest notes that are searched. */
const SEARCHED = 10_000;

/**
 * Finds orders and users by words of their notes.
 *
 * @param text Words that all have to be there, whatever their case.
 * @param limit Most of them.
 * @returns The note of each: of orders before users, the latest first.
 * @throws {LedgerError} When the database fails.
 */
export async function findNotes(
  driver: Driver,
  text: string,
  limit: number,
): Promise<FoundNote[]> {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return [];
  const entities = ["order", "user"] as const;
  const read = await driver.batch(
    entities.map((entity) => selectNewestNotes(entity, SEARCHED)),
    "read",
  );
  const notes = new Map<string, FoundNote>();
  for (const [at, entity] of entities.entries()) {
    for (const { entityId: id, text: said } of notesOf(read[at])) {
      const key = `${entity} ${id}`;
      const lower = said.toLowerCase();
      if (notes.has(key) || !words.every((word) => lower.includes(word))) {
        continue;
      }
      notes.set(key, { entity, id, text: said });
    }
  }
  return [...notes.values()].slice(0, limit);
}
