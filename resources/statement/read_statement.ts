import { CsvError, parse } from "csv-parse/sync";
// @ts-types="@types/big.js"
import Big from "big.js";
import { isDecimal } from "../../core/decimal.ts";
import { printable } from "../../core/printable.ts";
import type { MatchRow } from "./match_statement.ts";
import type { ReadStatementMap } from "./statement_map.ts";

/** A row of a statement. */
export interface StatementRow extends MatchRow {
  /** Line of the file on which it ends, from 1. */
  readonly line: number;
  /** What in it cannot be read; such a row matches nothing. */
  readonly unreadable: string | null;
}

/** A statement that cannot be read; the message says where and why. */
export class StatementError extends Error {
  /** Literal name of the class. */
  override readonly name = "StatementError";
}

/** Most rows of a statement. */
const MOST_ROWS = 1_000_000;

/** Longest text of an id that is compared. */
const LONGEST_ID = 256;

/**
 * Reads a statement: CSV with a heading line, in the columns of a mapping. Rows
 * without anything in these columns are left out, such as the empty ones at the
 * end of a bank's file.
 *
 * @param text The file's text.
 * @param map The mapping.
 * @param localDay Day of a moment in the time zone of the books.
 * @throws {StatementError} When it is not CSV, or has no column of a title.
 */
export function readStatement(
  text: string,
  map: ReadStatementMap,
  localDay: (time: string) => string,
): StatementRow[] {
  const [heading, ...records] = recordsOf(text, map.delimiter);
  if (heading === undefined) {
    throw new StatementError(
      "Wrong statement: it has no line; is it the file?",
    );
  }
  const titles = heading.record.map((title) => title.trim());
  const at = Object.fromEntries(
    Object.entries(map.columns).map(([name, title]) => [
      name,
      columnOf(titles, title),
    ]),
  );
  return records.flatMap(({ record, line }) => {
    const cell = (name: keyof MatchRow) => {
      const index = at[name];
      return (index === undefined ? "" : record[index] ?? "").trim();
    };
    const said = Object.keys(at).some((name) =>
      cell(name as keyof MatchRow) !== ""
    );
    return said ? [rowOf(cell, line, map, localDay)] : [];
  });
}

/**
 * The text of a statement's file: UTF-8, or what many banks write, Windows-1252.
 */
export function decodeStatement(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** A line of the file, with quotes and line breaks in them read. */
interface CsvRecord {
  readonly record: readonly string[];
  readonly line: number;
}

function recordsOf(text: string, delimiter: string): CsvRecord[] {
  try {
    // With one kind of line break lines are counted as editors count them.
    const read = parse(text.replace(/\r\n?/g, "\n"), {
      bom: true,
      delimiter,
      info: true,
      record_delimiter: "\n",
      relax_column_count: true,
      skip_empty_lines: true,
      to: MOST_ROWS + 2,
    }) as unknown as readonly {
      readonly record: readonly string[];
      readonly info: { readonly lines: number };
    }[];
    if (read.length > MOST_ROWS + 1) {
      throw new StatementError(
        `Wrong statement: it has more than ${MOST_ROWS} rows; split it`,
      );
    }
    return read.map(({ record, info }) => ({ record, line: info.lines }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = Number(error.lines) || 1;
    throw new StatementError(
      `Wrong statement: line ${line} is not CSV (${
        error.code.toLowerCase().replace(/^csv_/, "").replaceAll("_", " ")
      }); is the delimiter of the mapping that of the file?`,
    );
  }
}

function columnOf(titles: readonly string[], title: string): number {
  const at = titles.indexOf(title.trim());
  if (at < 0) {
    throw new StatementError(
      `Wrong statement: it has no column ${
        JSON.stringify(title)
      }; its columns ` +
        `are ${
          titles.map((one) => JSON.stringify(printable(one))).join(", ")
            .slice(0, 500)
        }`,
    );
  }
  if (titles.indexOf(title.trim(), at + 1) < 0) return at;
  throw new StatementError(
    `Wrong statement: it has several columns ${JSON.stringify(title)}`,
  );
}

function rowOf(
  cell: (name: keyof MatchRow) => string,
  line: number,
  map: ReadStatementMap,
  localDay: (time: string) => string,
): StatementRow {
  const unreadable: string[] = [];
  const read = <Value>(
    name: keyof MatchRow,
    reader: (text: string) => Value | null,
  ): Value | null => {
    const text = cell(name);
    if (text === "") return null;
    const value = reader(text);
    if (value === null) {
      unreadable.push(
        `${name} ${JSON.stringify(printable(text.slice(0, 60)))}`,
      );
    }
    return value;
  };
  const id = (text: string) =>
    text.length > LONGEST_ID ? null : text.replace(/^'/, "");
  return {
    line,
    orderId: read("orderId", id),
    externalOrderId: read("externalOrderId", id),
    txId: read("txId", id),
    amount: read("amount", (text) => statementAmount(text, map)),
    currency: (cell("currency") || map.currency)?.toUpperCase() ?? null,
    day: read("day", (text) => statementDay(text, map.dayFormat, localDay)),
    unreadable: unreadable.length === 0 ? null : unreadable.join(", "),
  };
}

/**
 * Reads an amount, with every digit: `1.234,50`, `-30.10`, `(30.10)`, `30.10-`.
 *
 * @returns A plain decimal; null when it is not an amount.
 */
export function statementAmount(
  text: string,
  { decimalMark, thousandsMark }: Pick<
    ReadStatementMap,
    "decimalMark" | "thousandsMark"
  >,
): string | null {
  const plain = text.replace(/[\u00a0\u202f]/g, " ").replaceAll("\u2212", "-")
    .replace(/^'/, "").trim();
  const [, open, sign, digits = "", after, close] =
    /^(\()?\s*([+-])?\s*([\d., ']+?)\s*(-)?(\))?$/.exec(plain) ?? [];
  if ((open === undefined) !== (close === undefined)) return null;
  const signs = [open, sign, after].filter((one) => one !== undefined);
  if (signs.length > 1) return null;
  const [whole = "", fraction, ...more] = digits.split(decimalMark);
  if (more.length > 0 || fraction === "") return null;
  const groups = thousandsMark === "" ? [whole] : whole.split(thousandsMark);
  // What stands between thousands stands between three digits, and nowhere else.
  const isGrouped = groups.length === 1 ||
    groups.every((group, at) =>
      at === 0 ? /^\d{1,3}$/.test(group) : /^\d{3}$/.test(group)
    );
  const value = groups.join("").replace(/^0+(?=\d)/, "") +
    (fraction === undefined ? "" : `.${fraction}`);
  if (!isGrouped || !isDecimal(value)) return null;
  const amount = new Big(value);
  const isNegative = signs.some((one) => one !== "+") && !amount.eq(0);
  return `${isNegative ? "-" : ""}${value}`;
}

/**
 * Reads a day.
 *
 * @returns `2026-11-20`; null when it is not a day.
 */
export function statementDay(
  text: string,
  format: string,
  localDay: (time: string) => string,
): string | null {
  const isMoment =
    /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?\s?(Z|[+-]\d{2}:?\d{2})$/
      .test(text);
  if (isMoment) {
    const at = Date.parse(text.replace(" ", "T").replace(/\s/, ""));
    return Number.isNaN(at) ? null : localDay(new Date(at).toISOString());
  }
  const pattern = format.replace(
    /[^YMD]+/g,
    (between) => between.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"),
  )
    .replace("YYYY", "(?<year>\\d{4})")
    .replace("MM", "(?<month>\\d{1,2})")
    .replace("DD", "(?<day>\\d{1,2})");
  const { year = "", month = "", day = "" } =
    new RegExp(`^${pattern}(?!\\d)`).exec(text)?.groups ?? {};
  const read = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  const time = Date.parse(`${read}T00:00:00Z`);
  // Of a day that does not exist the runtime makes another one.
  return Number.isNaN(time) ||
      new Date(time).toISOString().slice(0, 10) !== read
    ? null
    : read;
}
