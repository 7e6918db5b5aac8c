import type { AssetTable } from "../../core/assets/environment.ts";
import type { NewEvent, RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { Driver } from "../store/driver/driver.ts";
import { decideRows, type Exclusion, EXCLUSIONS } from "./decide_rows.ts";
import { localDay } from "./local_day.ts";
import { type MonthRow, ROW_KINDS } from "./month_row.ts";
import {
  type MonthSummary,
  type MonthTerms,
  sumMonth,
} from "./month_summary.ts";
import { orderBooks } from "./order_books.ts";
import { ordersAt, type StoredBooks } from "./stored_months.ts";

/** The computed books of a month. */
export interface MonthBooks {
  readonly summary: MonthSummary;
  /** Its rows, by day and order. */
  readonly rows: readonly MonthRow[];
  /** Orders whose readings were erased, of any month. */
  readonly erased: ReadonlySet<string>;
}

/** Computes the books of a month from what was known up to a position. */
export async function workOutMonth(
  { driver, assets, readFact }: MonthsParts,
  { month, timeZone, timeZoneVersion, bookBy, asOf, foldVersion }: MonthTerms,
  { before, firstMonth }: Pick<StoredBooks, "before" | "firstMonth">,
  { signal, onProgress, position = asOf.position }: MonthWork & {
    readonly position?: number;
  },
): Promise<MonthBooks> {
  const day = localDay(timeZone);
  const closing = { month, bookBy, day, firstMonth: firstMonth ?? month };
  const rows: MonthRow[] = [];
  const erased = new Set<string>();
  const unclear: string[] = [];
  const excluded = Object.fromEntries(
    EXCLUSIONS.map((reason) => [reason, 0]),
  ) as Record<Exclusion, number>;
  let count = 0;
  const orders = ordersAt(driver, { position, readFact, signal });
  for await (const { orderId, facts } of orders) {
    const order = orderBooks(orderId, facts, { assets });
    onProgress?.(++count);
    if (order === null) continue;
    const decided = decideRows(order, before.of(orderId), closing);
    rows.push(...decided.rows);
    if (decided.excluded !== null) excluded[decided.excluded]++;
    if (decided.excluded === "unclear") unclear.push(orderId);
    if (order.isErased) erased.add(orderId);
  }
  rows.sort(compareRows);
  const summary = {
    ...{ month, timeZone, timeZoneVersion, bookBy, asOf, foldVersion },
    ...sumMonth(rows),
    excluded,
    unclear: unclear.sort(),
  };
  return { summary, rows, erased };
}

/** By day and order; a reversal before its restatement. */
function compareRows(a: MonthRow, b: MonthRow): number {
  if (a.day !== b.day) return a.day < b.day ? -1 : 1;
  if (a.orderId !== b.orderId) return a.orderId < b.orderId ? -1 : 1;
  return ROW_KINDS.indexOf(a.kind) - ROW_KINDS.indexOf(b.kind);
}

/** What {@linkcode Months} works with. */
export interface MonthsParts {
  readonly driver: Driver;
  readonly readFact: (event: RecordedEvent) => Fact;
  /** Folds what waits: only what is folded is booked. */
  readonly folded: () => Promise<unknown>;
  /** Asset table that gives the precision of amounts. */
  readonly assets: AssetTable;
  /** The clock, in ms. */
  readonly now: () => number;
  /** Random bytes for salts. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** Version of the fold. */
  readonly foldVersion: number;
  /** Appends events; those stored already are skipped. */
  readonly append: (events: readonly NewEvent[]) => Promise<void>;
}

/** How to follow long work on a month. */
export interface MonthWork {
  /** Stops between two pages of orders. */
  readonly signal?: AbortSignal;
  /** Called with the number of orders read so far. */
  readonly onProgress?: (orders: number) => void;
}
