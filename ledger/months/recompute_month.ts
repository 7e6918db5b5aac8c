import { itemsFile, readItems } from "./items_file.ts";
import { localDay } from "./local_day.ts";
import { fileText, type MonthClose } from "./month_close.ts";
import {
  type MonthsParts,
  type MonthWork,
  workOutMonth,
} from "./month_books.ts";
import type { MonthRow, MonthRowKind } from "./month_row.ts";
import { monthSummary, summaryFile } from "./month_summary.ts";
import { listMonths, readBooks, readKnownPosition } from "./stored_months.ts";
import { diffStates } from "../projection/state_changes.ts";

/** A row that corrects a closed month. */
export interface MonthChange extends MonthRow {
  /** Closed month whose books hold the correction; null while none does. */
  readonly bookedIn: string | null;
}

/** A closed month, compared with what the ledger says now. */
export interface MonthRecomputation {
  /** The month as it was closed. */
  readonly stored: MonthClose;
  /** Where a new computation from the same events differs. */
  readonly differences: readonly MonthDifference[];
  /** Orders of it whose events were erased, so that nothing can be computed. */
  readonly erased: readonly string[];
  /** What became known of its orders since, on the day of `day`. */
  readonly changes: readonly MonthChange[];
}

/** Computes a closed month again; see {@linkcode Months.recompute}. */
export async function recomputeMonth(
  parts: MonthsParts,
  stored: MonthClose,
  work: MonthWork,
): Promise<MonthRecomputation> {
  const { store } = parts;
  const { month, timeZone, timeZoneVersion, bookBy, asOf, foldVersion } =
    stored;
  const day = localDay(timeZone);
  const { before, firstMonth } = await readBooks(store, month);
  const closing = { month, bookBy, day, firstMonth: firstMonth ?? month };
  const then = await workOutMonth(parts, {
    ...work,
    position: await readKnownPosition(store, stored),
    closing,
    before,
  });
  const items = fileText(stored, "items.csv");
  const erased = new Set(
    [...readItems(items)].map(({ orderId }) => orderId)
      .filter((orderId) => then.erased.has(orderId)),
  );
  // Written and read back, so that both sides went through the same file.
  const differences = diffRows(
    readItems(items),
    readItems(itemsFile(then.rows)),
  ).filter(({ orderId }) => orderId === null || !erased.has(orderId));
  if (differences.length === 0 && erased.size === 0) {
    const summary = monthSummary({
      month,
      timeZone,
      timeZoneVersion,
      bookBy,
      asOf,
      foldVersion,
    }, then);
    differences.push(
      ...diffSummaries(fileText(stored, "summary.json"), summaryFile(summary)),
    );
  }
  before.add(readItems(items), stored.position);
  const now = await workOutMonth(parts, {
    ...work,
    position: (await store.head()).position,
    closing: { ...closing, month: AFTER_ALL },
    before,
  });
  const booked = await correctedIn(parts, month);
  const changes = now.rows.filter(({ ofMonth }) => ofMonth === month).map(
    (row) => ({
      ...row,
      day: day(row.knownAt),
      bookedIn: booked.get(row.orderId) ?? null,
    }),
  );
  return { stored, differences, erased: [...erased], changes };
}

/** Later than any month, so that everything that corrects one is in it. */
const AFTER_ALL = "9999-12";

/** Closed months after a month that correct it, by order. */
async function correctedIn(
  { store }: MonthsParts,
  month: string,
): Promise<ReadonlyMap<string, string>> {
  const corrected = new Map<string, string>();
  for await (const close of listMonths(store)) {
    if (close.month <= month) continue;
    for (const row of readItems(fileText(close, "items.csv"))) {
      if (row.ofMonth !== month || corrected.has(row.orderId)) continue;
      corrected.set(row.orderId, close.month);
    }
  }
  return corrected;
}

/** One field in which a stored month and its computation differ. */
export interface MonthDifference {
  /** The order; null for a field of the summary. */
  readonly orderId: string | null;
  /** Kind of the row; null for a field of the summary. */
  readonly kind: MonthRowKind | null;
  /** The field, dotted inside objects; `row` where one side has no such row. */
  readonly field: string;
  /** The stored value, for a row its day; null without one. */
  readonly stored: string | null;
  /** The computed value; likewise. */
  readonly computed: string | null;
}

/**
 * Compares the rows of a month as stored and as computed.
 *
 * @param stored Rows as stored.
 * @param computed Rows as computed, written and read back like those stored.
 */
function diffRows(
  stored: Iterable<MonthRow>,
  computed: Iterable<MonthRow>,
): MonthDifference[] {
  const rest = new Map<string, MonthRow>();
  for (const row of computed) rest.set(keyOf(row), row);
  const found: MonthDifference[] = [];
  for (const row of stored) {
    const other = rest.get(keyOf(row));
    rest.delete(keyOf(row));
    found.push(...differences(row, other));
  }
  for (const row of rest.values()) found.push(...differences(undefined, row));
  return found;
}

function keyOf({ orderId, kind }: MonthRow): string {
  return JSON.stringify([orderId, kind]);
}

function differences(
  stored: MonthRow | undefined,
  computed: MonthRow | undefined,
): MonthDifference[] {
  const row = stored ?? computed;
  if (row === undefined) return [];
  const { orderId, kind } = row;
  if (stored === undefined || computed === undefined) {
    return [{
      orderId,
      kind,
      field: "row",
      stored: stored?.day ?? null,
      computed: computed?.day ?? null,
    }];
  }
  return diffStates(JSON.stringify(stored), JSON.stringify(computed)).map(
    ({ field, before, after }) => ({
      orderId,
      kind,
      field,
      stored: before,
      computed: after,
    }),
  );
}

/** Compares the summaries of a month, except for versions of code and data. */
function diffSummaries(
  stored: string,
  computed: string,
): MonthDifference[] {
  return diffStates(stored, computed)
    .filter(({ field }) => !VERSIONS.has(field))
    .map(({ field, before, after }) => ({
      orderId: null,
      kind: null,
      field,
      stored: before,
      computed: after,
    }));
}

const VERSIONS: ReadonlySet<string> = new Set([
  "timeZoneVersion",
  "foldVersion",
  "asOf.position",
]);
