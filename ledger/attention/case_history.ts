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
import type { Note } from "../store/tables/notes.ts";
import { readNotes } from "./notes.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";

/** What a person did about an order, or noted of it. */
export interface CaseEntry extends CaseNote {
  /** When it was recorded, UTC ISO 8601 with milliseconds. */
  readonly at: string;
}

/**
 * Reads what people did about orders and noted of them, the oldest first.
 * Deliveries and refunds by hand are among it.
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
  /** The order. */
  readonly orderId: string;
  /** What was noted. */
  readonly text: string;
}

/** Of the latest notes that many are searched. */
const SEARCHED = 10_000;

/**
 * Finds orders by words of what people noted of them, and by references of
 * refunds.
 *
 * @param text Words that all have to be there, whatever their case.
 * @param limit Most orders.
 * @returns The note of each, the latest first.
 * @throws {LedgerError} When the database fails.
 */
export async function findNotes(
  driver: Driver,
  text: string,
  limit: number,
): Promise<FoundNote[]> {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return [];
  const [found] = await driver.batch([selectLatestNotes(SEARCHED)], "read");
  const notes = new Map<string, FoundNote>();
  for (const row of found?.rows ?? []) {
    const fact = readFact(recordedEvent(row));
    if (fact.kind !== "case_changed" || fact.orderId === null) continue;
    const said = fact.note.text ?? fact.note.reference ?? "";
    const lower = said.toLowerCase();
    if (!words.every((word) => lower.includes(word))) continue;
    const { orderId } = fact;
    if (!notes.has(orderId)) notes.set(orderId, { orderId, text: said });
    if (notes.size === limit) break;
  }
  return [...notes.values()];
}
