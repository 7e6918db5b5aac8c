import type { AssetTable } from "../../core/assets/environment.ts";
import type { NewEvent } from "../events/event.ts";
import type { BooksBefore, MonthStore } from "./stored_months.ts";
import {
  type Closing,
  decideRows,
  type Exclusion,
  EXCLUSIONS,
} from "./decide_rows.ts";
import { type MonthRow, ROW_KINDS } from "./month_row.ts";
import type { ExclusionCounts } from "./month_summary.ts";
import { orderBooks } from "./order_books.ts";

/** The computed books of a month. */
export interface MonthBooks {
  /** Its rows, by day and order. */
  readonly rows: readonly MonthRow[];
  /** Orders that are not booked, by reason. */
  readonly excluded: ExclusionCounts;
  /** Those of them that are `unclear`, sorted. */
  readonly unclear: readonly string[];
  /** Orders whose readings were erased, of any month. */
  readonly erased: ReadonlySet<string>;
}

/** What the books of a month are computed from. */
export interface MonthBooksOptions extends MonthWork {
  /** Position of the last event that counts. */
  readonly position: number;
  /** The month, and how it is closed. */
  readonly closing: Closing;
  /** What closed months before it have booked. */
  readonly before: BooksBefore;
}

/** Computes the books of a month from the events up to a position. */
export async function workOutMonth(
  { store, assets }: MonthsParts,
  { position, closing, before, signal, onProgress }: MonthBooksOptions,
): Promise<MonthBooks> {
  const rows: MonthRow[] = [];
  const erased = new Set<string>();
  const unclear: string[] = [];
  const excluded = Object.fromEntries(
    EXCLUSIONS.map((reason) => [reason, 0]),
  ) as Record<Exclusion, number>;
  let orders = 0;
  for await (const { orderId, facts } of store.ordersAt(position, signal)) {
    const order = orderBooks(orderId, facts, { assets });
    onProgress?.(++orders);
    if (order === null) continue;
    const decided = decideRows(order, before.of(orderId), closing);
    rows.push(...decided.rows);
    if (decided.excluded !== null) excluded[decided.excluded]++;
    if (decided.excluded === "unclear") unclear.push(orderId);
    if (order.isErased) erased.add(orderId);
  }
  return {
    rows: rows.sort(compareRows),
    excluded,
    unclear: unclear.sort(),
    erased,
  };
}

/** By day and order; a reversal before its restatement. */
function compareRows(a: MonthRow, b: MonthRow): number {
  if (a.day !== b.day) return a.day < b.day ? -1 : 1;
  if (a.orderId !== b.orderId) return a.orderId < b.orderId ? -1 : 1;
  return ROW_KINDS.indexOf(a.kind) - ROW_KINDS.indexOf(b.kind);
}

/** What {@linkcode Months} works with. */
export interface MonthsParts {
  /** Where the ledger's events are. */
  readonly store: MonthStore;
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
