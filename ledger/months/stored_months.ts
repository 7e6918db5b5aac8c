import { factId } from "../events/record.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { readItems } from "./items_file.ts";
import { fileText, type MonthClose, readMonthClose } from "./month_close.ts";
import { printable } from "../../core/printable.ts";
import type { BookBy, Money, MonthRow } from "./month_row.ts";

/** Events and orders, as the books read them. */
export interface MonthStore {
  /** Positions of the events of closed months. */
  positions(): Promise<number[]>;
  /** The event at a position. */
  at(position: number): Promise<RecordedEvent | null>;
  /** The event with an id. */
  withId(eventId: string): Promise<RecordedEvent | null>;
  /** The last event that counts, and how many there are up to it. */
  head(): Promise<{ readonly position: number; readonly events: number }>;
  /** How many events there are up to a position. */
  countTo(position: number): Promise<number>;
  /** Position of the n-th event, counted from one. */
  nth(events: number): Promise<number | null>;
  /** The facts of every order up to a position, by position; never none. */
  ordersAt(
    position: number,
    signal?: AbortSignal,
  ): AsyncIterable<
    { readonly orderId: string; readonly facts: readonly Fact[] }
  >;
}

/** Reads the closed months one by one, in their order. */
export async function* listMonths(
  store: MonthStore,
): AsyncGenerator<MonthClose> {
  // By position they are in order in the ledger that closed them; events that
  // were imported may come in any.
  const positions = new Map<string, number>();
  for (const position of await store.positions()) {
    const close = await readMonthAt(store, position);
    if (close !== null) positions.set(close.month, close.position);
  }
  for (const month of [...positions.keys()].sort()) {
    const position = positions.get(month) ?? 0;
    const close = await readMonthAt(store, position);
    if (close !== null) yield close;
  }
}

/** Reads the closed month at a position; null when none is there. */
export async function readMonthAt(
  store: Pick<MonthStore, "at">,
  position: number,
): Promise<MonthClose | null> {
  const event = await store.at(position);
  return event === null ? null : readMonthClose(event);
}

/** Reads one closed month; null when it is not closed. */
export async function readMonth(
  store: MonthStore,
  month: string,
): Promise<MonthClose | null> {
  const eventId = factId("month_closed", month, null, "");
  const event = await store.withId(eventId);
  return event === null ? null : readMonthClose(event);
}

/** What closed months have booked. */
export interface StoredBooks {
  /** By order. */
  readonly before: BooksBefore;
  /** The first closed month; null when there is none. */
  readonly firstMonth: string | null;
  /** The last of them; null when there is none. */
  readonly last: MonthClose | null;
}

/** Reads what closed months have booked: those before a month, or all. */
export async function readBooks(
  store: MonthStore,
  beforeMonth: string | null,
): Promise<StoredBooks> {
  const before = new BooksBefore();
  let firstMonth: string | null = null;
  let last: MonthClose | null = null;
  for await (const close of listMonths(store)) {
    if (beforeMonth !== null && close.month >= beforeMonth) break;
    before.add(readItems(fileText(close, "items.csv")), close.position);
    firstMonth ??= close.month;
    last = close;
  }
  return { before, firstMonth, last };
}

/**
 * Position of the last event that a closing knew: an import numbers events
 * anew.
 */
export async function readKnownPosition(
  store: MonthStore,
  { asOf }: MonthClose,
): Promise<number> {
  return await store.countTo(asOf.position) === asOf.events
    ? asOf.position
    : await store.nth(asOf.events) ?? asOf.position;
}

/** What closed months have booked of an order. */
export interface BookedBefore {
  /** What is booked; null once it was taken back. */
  readonly money: Money | null;
  /** Month of the order. */
  readonly ofMonth: string;
  /** Which time decided it. */
  readonly datedBy: BookBy;
  /** Position of the closing that booked it last. */
  readonly closedAt: number;
}

/** What closed months have booked, by order as its files write it. */
export class BooksBefore {
  readonly #orders = new Map<string, BookedBefore>();

  /** Adds the rows of a closed month; months come in their order. */
  add(rows: Iterable<MonthRow>, closedAt: number): void {
    // A restatement stands behind the reversal of the same order.
    for (const { orderId, kind, money, ofMonth, datedBy } of rows) {
      this.#orders.set(printable(orderId), {
        money: kind === "reversal" ? null : money,
        ofMonth,
        datedBy,
        closedAt,
      });
    }
  }

  /** What they have booked of an order; null when nothing. */
  of(orderId: string): BookedBefore | null {
    return this.#orders.get(printable(orderId)) ?? null;
  }
}
