import { factId } from "../events/derive.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import {
  countEventsUpTo,
  selectEventAt,
  selectEventWithId,
  selectHead,
  selectNthPosition,
  selectPositionsOfKind,
} from "../store/tables/events/events.ts";
import { readItems } from "./items_file.ts";
import { fileText, type MonthClose, readMonthClose } from "./month_close.ts";
import { printable } from "../../core/printable.ts";
import type { BookBy, Money, MonthRow } from "./month_row.ts";

/** Reads the closed months one by one, in their order. */
export async function* listMonths(driver: Driver): AsyncGenerator<MonthClose> {
  // By position they are in order in the ledger that closed them; events that
  // were imported may come in any.
  const positions = new Map<string, number>();
  for (const position of await readMonthPositions(driver)) {
    const close = await readMonthAt(driver, position);
    if (close !== null) positions.set(close.month, close.position);
  }
  for (const month of [...positions.keys()].sort()) {
    const position = positions.get(month) ?? 0;
    const close = await readMonthAt(driver, position);
    if (close !== null) yield close;
  }
}

/** Reads the positions of the closed months; a month keeps its position. */
export async function readMonthPositions(driver: Driver): Promise<number[]> {
  const [found] = await driver.batch(
    [selectPositionsOfKind("month_closed")],
    "read",
  );
  return found?.rows.map(([position]) => position as number) ?? [];
}

/** Reads the closed month at a position; null when none is there. */
export function readMonthAt(
  driver: Driver,
  position: number,
): Promise<MonthClose | null> {
  return readOne(driver, selectEventAt(position));
}

/** Reads one closed month; null when it is not closed. */
export function readMonth(
  driver: Driver,
  month: string,
): Promise<MonthClose | null> {
  const eventId = factId("month_closed", month, null, "");
  return readOne(driver, selectEventWithId(eventId));
}

async function readOne(
  driver: Driver,
  statement: Statement,
): Promise<MonthClose | null> {
  const [found] = await driver.batch([statement], "read");
  const row = found?.rows[0];
  return row === undefined ? null : readMonthClose(recordedEvent(row));
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
  driver: Driver,
  beforeMonth: string | null,
): Promise<StoredBooks> {
  const before = new BooksBefore();
  let firstMonth: string | null = null;
  let last: MonthClose | null = null;
  for await (const close of listMonths(driver)) {
    if (beforeMonth !== null && close.month >= beforeMonth) break;
    before.add(readItems(fileText(close, "items.csv")), close.position);
    firstMonth ??= close.month;
    last = close;
  }
  return { before, firstMonth, last };
}

/** The last event of a ledger, and how many there are. */
export async function readHead(
  driver: Driver,
): Promise<{ readonly position: number; readonly events: number }> {
  const [head] = await driver.batch([selectHead], "read");
  const [position, events] = (head?.rows[0] ?? []) as readonly number[];
  return { position: position ?? 0, events: events ?? 0 };
}

/**
 * Position of the last event that a closing knew: an import numbers events
 * anew.
 */
export async function readKnownPosition(
  driver: Driver,
  { asOf }: MonthClose,
): Promise<number> {
  const [upTo, nth] = await driver.batch([
    countEventsUpTo(asOf.position),
    selectNthPosition(asOf.events),
  ], "read");
  return upTo?.rows[0]?.[0] === asOf.events
    ? asOf.position
    : (nth?.rows[0]?.[0] as number | undefined) ?? asOf.position;
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
