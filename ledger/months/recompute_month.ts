import { itemsFile, readItems } from "./month_files.ts";
import { localDay } from "./local_day.ts";
import { fileText, type MonthClose } from "./month_close.ts";
import {
  type MonthsParts,
  type MonthWork,
  workOutMonth,
} from "./month_books.ts";
import type { MonthRow, MonthRowKind } from "./month_row.ts";
import { summaryFile } from "./month_summary.ts";
import {
  listMonths,
  readBooks,
  readHead,
  readKnownPosition,
} from "./stored_months.ts";
import { diffStates } from "../projection/state_changes.ts";
import type { Driver } from "../store/driver/driver.ts";

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
  const { driver } = parts;
  const { month } = stored;
  const { before, firstMonth } = await readBooks(driver, month);
  const then = await workOutMonth(parts, stored, { before, firstMonth }, {
    ...work,
    position: await readKnownPosition(driver, stored),
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
    const sums = diffFields(
      { orderId: null, kind: null },
      fileText(stored, "summary.json"),
      summaryFile(then.summary),
    );
    differences.push(...sums.filter(({ field }) => !VERSIONS.has(field)));
  }
  before.add(stored);
  await parts.folded();
  const now = await workOutMonth(
    parts,
    { ...stored, month: AFTER_ALL, asOf: await readHead(driver) },
    { before, firstMonth: firstMonth ?? month },
    work,
  );
  const booked = await correctedIn(driver, month);
  const day = localDay(stored.timeZone);
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
  driver: Driver,
  month: string,
): Promise<ReadonlyMap<string, string>> {
  const corrected = new Map<string, string>();
  for await (const close of listMonths(driver)) {
    if (close.month <= month) continue;
    for (
      const { ofMonth, orderId } of readItems(fileText(close, "items.csv"))
    ) {
      if (ofMonth !== month || corrected.has(orderId)) continue;
      corrected.set(orderId, close.month);
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

/** Compares the rows of a month as stored and as computed. */
function diffRows(
  stored: Iterable<MonthRow>,
  computed: Iterable<MonthRow>,
): MonthDifference[] {
  const [before, after] = [byKey(stored), byKey(computed)];
  return [...new Map([...before, ...after])].flatMap(([key, row]) => {
    const [a, b] = [before.get(key), after.get(key)];
    if (a && b) return diffFields(row, JSON.stringify(a), JSON.stringify(b));
    const { orderId, kind } = row;
    const [stored, computed] = [a?.day ?? null, b?.day ?? null];
    return [{ orderId, kind, field: "row", stored, computed }];
  });
}

/** There is one row of an order and kind. */
function byKey(rows: Iterable<MonthRow>): Map<string, MonthRow> {
  return new Map(
    Array.from(rows, (row) => [JSON.stringify([row.orderId, row.kind]), row]),
  );
}

function diffFields(
  { orderId, kind }: Pick<MonthDifference, "orderId" | "kind">,
  stored: string,
  computed: string,
): MonthDifference[] {
  return diffStates(JSON.parse(stored), JSON.parse(computed)).map((
    { field, before, after },
  ) => ({
    ...{ orderId, kind, field, stored: before, computed: after },
  }));
}

/** Fields of a summary that tell of versions of code and data alone. */
const VERSIONS: ReadonlySet<string> = new Set([
  "timeZoneVersion",
  "foldVersion",
  "asOf.position",
]);
