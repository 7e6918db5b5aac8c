import type { CaseNote } from "../events/case_change.ts";
import { exactObject } from "../events/fact_text.ts";
import { filledText } from "../events/fact_text.ts";
import { readFact } from "../events/read_fact.ts";
import { compareTimes } from "../events/time.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { Driver } from "../store/driver/driver.ts";
import {
  selectCaseEvents,
  selectLatestNotes,
} from "../store/tables/events/case_events.ts";
import {
  type Note,
  notesOf,
  selectNewestNotes,
} from "../store/tables/notes.ts";
import { readNotes } from "./notes.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";

/** What a person did about an order, or a note on it. */
export interface CaseEntry extends CaseNote {
  /** When it was recorded, UTC ISO 8601 with milliseconds. */
  readonly at: string;
}

/**
 * Reads what people did about orders and their notes, oldest first, including
 * deliveries and refunds by hand.
 *
 * @param orderIds The orders.
 * @returns The history of each; without those about which nobody did anything.
 * @throws {LedgerError} When the database fails.
 */
export async function readCaseHistories(
  driver: Driver,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, readonly CaseEntry[]>> {
  if (orderIds.length === 0) return new Map();
  const [found] = await driver.batch([selectCaseEvents(orderIds)], "read");
  const events = (found?.rows ?? []).map((row) => recordedEvent(row));
  // What older versions noted of orders stands beside the events.
  const notes = await readNotes(driver, "order", orderIds);
  const histories = new Map<string, readonly CaseEntry[]>();
  for (const orderId of orderIds) {
    const own = [
      ...(notes.get(orderId) ?? []).flatMap(entryOfNote),
      ...entriesOf(events.filter((event) => event.orderId === orderId)),
    ];
    if (own.length > 0) {
      histories.set(orderId, own.sort((a, b) => compareTimes(a.at, b.at)));
    }
  }
  return histories;
}

function entryOfNote({ text, author: by, notedAt: at }: Note): CaseEntry[] {
  if (text === "") return [];
  return [{ done: "noted", by, text, reference: null, since: null, at }];
}

function entriesOf(events: readonly RecordedEvent[]): CaseEntry[] {
  const entries = events.flatMap((event): CaseEntry[] => {
    const fact = readFact(event);
    const at = event.recordedAt;
    if (fact.kind === "case_changed") return [{ ...fact.note, at }];
    if (fact.kind !== "order_released" || event.body === null) return [];
    const body = exactObject(event.body);
    const { outcome: done, reference } = fact.hand;
    const by = filledText(body?.by) ?? "";
    const text = filledText(body?.why);
    return [{ done, by, text, reference, since: null, at }];
  });
  // The refund of a case frees its purchase by a release by hand of that time.
  return entries.filter(({ done, reference, at }) =>
    done !== "refunded" || reference !== null ||
    !entries.some((other) =>
      other.done === "refunded" && other.reference !== null && other.at === at
    )
  );
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
 * Finds orders and users by words of their notes, and orders by references of
 * refunds.
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
  const [orders, users] = await driver.batch([
    selectLatestNotes(SEARCHED),
    selectNewestNotes("user", SEARCHED),
  ], "read");
  const notes = new Map<string, FoundNote>();
  const has = containing(text);
  const add = (note: FoundNote) => {
    const key = `${note.entity} ${note.id}`;
    if (has(note.text) && !notes.has(key)) notes.set(key, note);
  };
  for (const row of orders?.rows ?? []) {
    const fact = readFact(recordedEvent(row));
    if (fact.kind !== "case_changed" || fact.orderId === null) continue;
    const said = fact.note.text ?? fact.note.reference ?? "";
    add({ entity: "order", id: fact.orderId, text: said });
  }
  for (const { entityId, text: said } of notesOf(users)) {
    add({ entity: "user", id: entityId, text: said });
  }
  return [...notes.values()].slice(0, limit);
}

/**
 * Makes a test whether a text has all words of another, whatever their case.
 */
function containing(text: string): (said: string) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return (said) => {
    const lower = said.toLowerCase();
    return words.length > 0 && words.every((word) => lower.includes(word));
  };
}
