// @ts-types="@types/big.js"
import Big from "big.js";

/** Ids by which a row is matched, the surest first. */
const MATCH_IDS = ["orderId", "externalOrderId", "txId"] as const;

/** What a row of either side says; null means not stated. */
export interface MatchRow {
  /** Order id of the service. */
  readonly orderId: string | null;
  /** The partner's own id of the order. */
  readonly externalOrderId: string | null;
  /** Hash of the transaction. */
  readonly txId: string | null;
  /** The amount, a plain decimal. */
  readonly amount: string | null;
  /** Its currency or asset, upper case. */
  readonly currency: string | null;
  /** The day, `2026-11-20`. */
  readonly day: string | null;
}

/** How two rows were matched. */
export type MatchedBy = (typeof MATCH_IDS)[number] | "amount";

/** Two matching rows, or one that is alone. */
export interface Pair<There, Here> {
  /** The row of the statement; null where it has none. */
  readonly there: There | null;
  /** The row of the books; null where they have none. */
  readonly here: Here | null;
  /** How they were matched; null for a row that is alone. */
  readonly by: MatchedBy | null;
  /**
   * Whether another row would have fitted as well: those of one amount,
   * currency and day cannot be distinguished without an id.
   */
  readonly isOneOfSeveral: boolean;
}

/**
 * Matches the rows of a statement with those of the books, each with one at
 * most: by order id, then by external id, then by transaction, and the rest by
 * amount, currency and day. The surest id that both name decides: two rows
 * never match if it differs. If an id has several rows on a side, those of one
 * amount and the nearest day match.
 *
 * @param there Rows of the statement, in its order.
 * @param here Rows of the books.
 * @param most By how many days rows without a common id may be off.
 * @returns Each row of either side once: the statement's in their order, then
 * those that only the books have.
 */
export function matchRows<There extends MatchRow, Here extends MatchRow>(
  there: readonly There[],
  here: readonly Here[],
  most: number,
): Pair<There, Here>[] {
  const left = { there: new Set(there), here: new Set(here) };
  const found = new Map<There, Pair<There, Here>>();
  const pair = (a: There, b: Here, by: MatchedBy, isOneOfSeveral = false) => {
    left.there.delete(a);
    left.here.delete(b);
    found.set(a, { there: a, here: b, by, isOneOfSeveral });
  };
  for (const id of MATCH_IDS) {
    const groups = groupsOf(left, (row) => idKey(row, id));
    for (const { theirs, ours } of groups) {
      // The same money first, then whatever is left of the id.
      for (const isClose of [isSameMoney, () => true]) {
        for (const a of theirs.filter((row) => left.there.has(row))) {
          const b = nearest(
            a,
            ours.filter((row) =>
              left.here.has(row) && isClose(a, row) && !contradicts(a, row)
            ),
          );
          if (b !== undefined) pair(a, b, id);
        }
      }
    }
  }
  for (const { theirs, ours } of groupsOf(left, moneyKey)) {
    const theirDays = Map.groupBy(theirs, dayOf);
    const ourDays = Map.groupBy(ours, dayOf);
    // A row of the same day first, so that none is taken by one of another day.
    for (const within of most === 0 ? [0] : [0, most]) {
      for (const a of theirs) {
        if (!left.there.has(a)) continue;
        for (const days of daysWithin(a, ourDays, within)) {
          const near = days.flatMap((day) => ourDays.get(day) ?? []);
          const [b, other] = firstTwo(near, (row) => !contradicts(a, row));
          if (b === undefined) continue;
          const alike = theirDays.get(dayOf(a)) ?? [];
          const [, rival] = firstTwo(alike, (row) => !contradicts(row, b));
          pair(a, b, "amount", other !== undefined || rival !== undefined);
          remove(alike, a);
          remove(ourDays.get(dayOf(b)) ?? [], b);
          break;
        }
      }
    }
  }
  const alone = { by: null, isOneOfSeveral: false };
  return [
    ...there.map((row) =>
      found.get(row) ?? { there: row, here: null, ...alone }
    ),
    ...here.filter((row) => left.here.has(row))
      .map((row) => ({ there: null, here: row, ...alone })),
  ];
}

/** Rows of both sides that are left and have the same key. */
function groupsOf<There extends MatchRow, Here extends MatchRow>(
  left: { readonly there: Set<There>; readonly here: Set<Here> },
  keyOf: (row: MatchRow) => string | null,
): { readonly theirs: There[]; readonly ours: Here[] }[] {
  const ours = Map.groupBy(left.here, keyOf);
  const theirs = Map.groupBy(left.there, keyOf);
  return [...theirs].flatMap(([key, theirs]) =>
    key === null || !ours.has(key)
      ? []
      : [{ theirs, ours: ours.get(key) ?? [] }]
  );
}

/** A hash of a chain is the same in either case. */
function idKey(row: MatchRow, id: (typeof MATCH_IDS)[number]): string | null {
  const value = row[id];
  return id === "txId" && value !== null && /^0x/i.test(value)
    ? value.toLowerCase()
    : value;
}

function moneyKey({ amount, currency }: MatchRow): string | null {
  return amount === null || currency === null
    ? null
    : JSON.stringify([new Big(amount).toFixed(), currency]);
}

function isSameMoney(a: MatchRow, b: MatchRow): boolean {
  const key = moneyKey(a);
  return key !== null && key === moneyKey(b);
}

/** Whether the surest id that both name is not the same. */
function contradicts(a: MatchRow, b: MatchRow): boolean {
  const id = MATCH_IDS.find((id) => a[id] !== null && b[id] !== null);
  return id !== undefined && idKey(a, id) !== idKey(b, id);
}

/** At most two of the rows of which something is true. */
function firstTwo<Row>(
  rows: readonly Row[],
  isSo: (row: Row) => boolean,
): readonly Row[] {
  const found: Row[] = [];
  for (const row of rows) {
    if (isSo(row)) found.push(row);
    if (found.length === 2) break;
  }
  return found;
}

function remove<Row>(rows: Row[], row: Row): void {
  rows.splice(rows.indexOf(row), 1);
}

function dayOf({ day }: MatchRow): string {
  return day ?? "";
}

/**
 * Days on which a matching row may be, the nearest first; equally near days are
 * together.
 */
function daysWithin(
  { day }: MatchRow,
  days: ReadonlyMap<string, unknown>,
  most: number,
): string[][] {
  if (day === null) return [[...days.keys()]];
  const at = Date.parse(day);
  return Array.from({ length: most + 1 }, (_, apart) => {
    const around = apart === 0 ? [0] : [-apart, apart];
    const names = around.map((days) =>
      new Date(at + days * 86_400_000).toISOString().slice(0, 10)
    );
    return apart === 0 ? [...names, ""] : names;
  });
}

/** Days between two rows; those without a day are not apart. */
export function daysApart(a: MatchRow, b: MatchRow): number {
  return a.day === null || b.day === null
    ? 0
    : Math.abs(Date.parse(a.day) - Date.parse(b.day)) / 86_400_000;
}

/** The first of those of the nearest day. */
function nearest<Row extends MatchRow>(
  to: MatchRow,
  rows: readonly Row[],
): Row | undefined {
  return rows.reduce<Row | undefined>(
    (best, row) =>
      best === undefined || daysApart(to, row) < daysApart(to, best)
        ? row
        : best,
    undefined,
  );
}
