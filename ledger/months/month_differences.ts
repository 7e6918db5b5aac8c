import { diffStates } from "../refold/state_diff.ts";
import type { MonthRow, MonthRowKind } from "./month_row.ts";

/** One field in which a stored month and its computation differ. */
export interface MonthDifference {
  /** The order; null for a field of the summary. */
  readonly orderId: string | null;
  /** Kind of the row; null for a field of the summary. */
  readonly kind: MonthRowKind | null;
  /** The field, dotted inside objects; `row` where one side has no such row. */
  readonly field: string;
  /** What is stored; of a row its day. Null when nothing is. */
  readonly stored: string | null;
  /** What is computed; likewise. */
  readonly computed: string | null;
}

/**
 * Compares the rows of a month as stored and as computed.
 *
 * @param stored Rows as stored.
 * @param computed Rows as computed, written and read back like those stored.
 */
export function diffRows(
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

/** Compares the summaries of a month, but for versions of code and data. */
export function diffSummaries(
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
