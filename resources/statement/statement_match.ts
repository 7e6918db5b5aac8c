// @ts-types="@types/big.js"
import Big from "big.js";
import type { Ledger } from "../../ledger/mod.ts";
import {
  AmountSum,
  localDay,
  type MonthRow,
  type MonthRowKind,
  readOrderStates,
} from "../../ledger/for_resources.ts";
import type { MonthBooks } from "../months/month_books.ts";
import {
  daysApart,
  type MatchedBy,
  type MatchRow,
  matchRows,
  type Pair,
} from "./match_statement.ts";
import {
  readStatement,
  StatementError,
  type StatementRow,
} from "./read_statement.ts";
import type { AmountOf, ReadStatementMap } from "./statement_map.ts";

/** Result of a row. */
export type MatchResult =
  /** Both sides have it, and say the same. */
  | "matched"
  /** Both sides have it, and say something else. */
  | "differs"
  /** Only the statement has it. */
  | "only_there"
  /** Only the books have it. */
  | "only_here"
  /** Something in the statement's row cannot be read. */
  | "unreadable";

/** A field in which two matching rows differ. */
export interface RowFieldDifference {
  /** The field. */
  readonly field: keyof MatchRow;
  /** What the statement says. */
  readonly there: string;
  /** What the books say; null where that is not known. */
  readonly here: string | null;
  /**
   * For an amount, how much more the statement says; for a day, how many days
   * later; else null.
   */
  readonly by: string | null;
}

/** A row of the books, as a statement is matched with it. */
export interface BookedRow extends MatchRow {
  readonly orderId: string;
  /** Why it is in the month. */
  readonly kind: MonthRowKind;
}

/** A row of a statement, or of the books, and its result. */
export interface MatchedRow {
  /** The result. */
  readonly result: MatchResult;
  /** How both rows were matched; null for a row that is alone. */
  readonly by: MatchedBy | null;
  /** Whether another row of the same amount, currency and day fitted too. */
  readonly isOneOfSeveral: boolean;
  /**
   * Line of the statement; null of a row that only the books have.
   * @minimum 1
   */
  readonly line: number | null;
  /** What the statement says. */
  readonly there: MatchRow | null;
  /** What the books say. */
  readonly here: BookedRow | null;
  /** In what they differ. */
  readonly differences: readonly RowFieldDifference[];
  /** What cannot be read, with its text; null where all can. */
  readonly unreadable: string | null;
}

/** Sum of all rows with a known amount, of one currency or asset. */
export interface MatchSum {
  /** The currency or asset; null when not stated. */
  readonly currency: string | null;
  /** Exact sum of the statement; null where it has none of it. */
  readonly there: string | null;
  /** Exact sum of the books; null where they have none of it. */
  readonly here: string | null;
  /** How much more the statement says. */
  readonly difference: string;
}

/** A statement, matched with the books of a month. */
export interface StatementMatch {
  /** The month, `2026-11`. */
  readonly month: string;
  /** When it was closed, UTC ISO 8601; null while it is not. */
  readonly closedAt: string | null;
  /** Which amount of an order the statement is about. */
  readonly amountOf: AmountOf;
  /** Rows by result. */
  readonly counts: Readonly<Record<MatchResult, number>>;
  /** Sums by currency or asset. */
  readonly sums: readonly MatchSum[];
  /** Every row of either side once: the statement's in their order first. */
  readonly rows: readonly MatchedRow[];
}

/** How many rows are left to be looked at by a person. */
export function leftOf({ counts }: Pick<StatementMatch, "counts">): number {
  const { differs, only_there, only_here, unreadable } = counts;
  return differs + only_there + only_here + unreadable;
}

/** A statement as it was given. */
export interface GivenStatement {
  /** The text of its file. */
  readonly text: string;
  /** What its columns mean. */
  readonly map: ReadStatementMap;
}

/**
 * Matches a statement with the books of a month, each row with one at most.
 *
 * @throws {StatementError} When the statement cannot be read; it says where.
 * @throws {LedgerError} When the database fails.
 */
export async function matchStatement(
  ledger: Ledger,
  { close, summary, rows }: MonthBooks,
  { text, map }: GivenStatement,
): Promise<StatementMatch> {
  const there = readStatement(text, map, localDay(summary.timeZone));
  const here = await bookedRows(ledger, rows, map.amountOf);
  const readable = there.filter(({ unreadable }) => unreadable === null);
  const pairs = new Map<StatementRow | null, Pair<StatementRow, BookedRow>[]>();
  for (const pair of matchRows(readable, here, map.daysApart)) {
    pairs.set(pair.there, [...pairs.get(pair.there) ?? [], pair]);
  }
  const matched = [
    ...there.map((row) => {
      const [pair] = pairs.get(row) ?? [];
      return pair === undefined ? unreadableRow(row) : matchedRow(pair, map);
    }),
    ...(pairs.get(null) ?? []).map((pair) => matchedRow(pair, map)),
  ];
  const counts = {
    ...{ matched: 0, differs: 0, only_there: 0, only_here: 0, unreadable: 0 },
  };
  for (const { result } of matched) counts[result]++;
  return {
    month: summary.month,
    closedAt: close?.closedAt ?? null,
    amountOf: map.amountOf,
    counts,
    sums: sumsOf(there, here),
    rows: matched,
  };
}

/** Rows whose orders are read at once. */
const PAGE = 500;

async function bookedRows(
  { driver }: Ledger,
  rows: readonly MonthRow[],
  amountOf: AmountOf,
): Promise<BookedRow[]> {
  const booked: BookedRow[] = [];
  for (let from = 0; from < rows.length; from += PAGE) {
    const page = rows.slice(from, from + PAGE);
    const ids = [...new Set(page.map(({ orderId }) => orderId))];
    const orders = await readOrderStates(driver, ids);
    for (const { orderId, kind, day, money } of page) {
      const order = orders.get(orderId);
      booked.push({
        kind,
        orderId,
        externalOrderId: order?.externalOrderId || null,
        txId: order?.txId || null,
        amount: money[amountOf],
        currency: amountOf === "currencyAmount"
          ? money.currency
          : amountOf === "cryptoAmount"
          ? money.commodity
          : "USD",
        day,
      });
    }
  }
  return booked;
}

function unreadableRow(row: StatementRow): MatchedRow {
  const { line, unreadable, ...there } = row;
  return {
    result: "unreadable",
    ...{ by: null, isOneOfSeveral: false, line, there, here: null },
    ...{ differences: [], unreadable },
  };
}

function matchedRow(
  { there, here, by, isOneOfSeveral }: Pair<StatementRow, BookedRow>,
  map: ReadStatementMap,
): MatchedRow {
  const { line, unreadable, ...said } = there ??
    { line: null, unreadable: null };
  const differences = there === null || here === null
    ? []
    : differencesOf(there, here, map.daysApart);
  return {
    result: there === null
      ? "only_here"
      : here === null
      ? "only_there"
      : differences.length > 0
      ? "differs"
      : "matched",
    by,
    isOneOfSeveral,
    line,
    there: there === null ? null : said as MatchRow,
    here,
    differences,
    unreadable,
  };
}

/** What the statement does not state does not count as a difference. */
function differencesOf(
  there: MatchRow,
  here: MatchRow,
  most: number,
): RowFieldDifference[] {
  const found: RowFieldDifference[] = [];
  const { amount, currency, day } = there;
  if (amount !== null) {
    const by = here.amount === null ? null : new Big(amount).minus(here.amount);
    if (by === null || !by.eq(0)) {
      found.push({
        field: "amount",
        there: amount,
        here: here.amount,
        by: by?.toFixed() ?? null,
      });
    }
  }
  if (amount !== null && currency !== null && currency !== here.currency) {
    found.push({
      field: "currency",
      there: currency,
      here: here.currency,
      by: null,
    });
  }
  if (day !== null && here.day !== null && daysApart(there, here) > most) {
    const by = (Date.parse(day) - Date.parse(here.day)) / 86_400_000;
    found.push({ field: "day", there: day, here: here.day, by: `${by}` });
  }
  for (const id of ["externalOrderId", "txId"] as const) {
    const [said, known] = [there[id], here[id]];
    if (said === null || known === null) continue;
    const isSame = id === "txId"
      ? said.toLowerCase() === known.toLowerCase()
      : said === known;
    if (!isSame) found.push({ field: id, there: said, here: known, by: null });
  }
  return found;
}

function sumsOf(
  there: readonly MatchRow[],
  here: readonly MatchRow[],
): MatchSum[] {
  const sums = new Map<string | null, { there: AmountSum; here: AmountSum }>();
  for (const [side, rows] of [["there", there], ["here", here]] as const) {
    for (const { amount, currency } of rows) {
      if (amount === null) continue;
      const sum = sums.get(currency) ??
        { there: new AmountSum(), here: new AmountSum() };
      sums.set(currency, sum);
      sum[side].add(amount, 1);
    }
  }
  return [...sums].map(([currency, sum]) => {
    const [known, ours] = [sum.there.known, sum.here.known];
    const difference = new Big(known ?? 0).minus(ours ?? 0).toFixed();
    return { currency, there: known, here: ours, difference };
  }).sort((a, b) => (a.currency ?? "") < (b.currency ?? "") ? -1 : 1);
}

/**
 * The month of a statement: that in which all of its days lie.
 *
 * @throws {StatementError} When they lie in none or in several.
 */
export function monthOfStatement(
  { text, map }: GivenStatement,
  timeZone: string,
): string {
  const days = readStatement(text, map, localDay(timeZone))
    .flatMap(({ day }) => day ?? []);
  const months = [...new Set(days.map((day) => day.slice(0, 7)))].sort();
  const [month] = months;
  if (month !== undefined && months.length === 1) return month;
  throw new StatementError(
    month === undefined
      ? "Wrong statement: no row has a day, so its month is not known; say which " +
        "month it is of"
      : `Wrong statement: its days lie in ${
        months.slice(0, 5).join(", ")
      }; say ` +
        "which month it is of",
  );
}
