// @ts-types="@types/big.js"
import Big from "big.js";
import { isDecimal } from "../decimal.ts";
import { printable } from "../text.ts";

/**
 * One cell: a text from outside, an amount, or a text of our own making such as
 * a time, which a spreadsheet may read as what it is. Where a file has an amount
 * twice, `exact` is it as a text that no spreadsheet adds up, and `rounded` the
 * number that it does.
 */
export type CsvCell =
  | string
  | { readonly amount: string }
  | { readonly exact: string }
  | { readonly rounded: string }
  | { readonly own: string };

/** How a file is written, for spreadsheets of other languages. */
export interface CsvForm {
  /** What stands before the decimals of a number. */
  readonly decimalMark: "." | ",";
  /** What stands between two cells. */
  readonly delimiter: "," | ";" | "\t";
}

/** As RFC 4180 has it. */
const USUAL_FORM: CsvForm = { decimalMark: ".", delimiter: "," };

/**
 * Writes one line of CSV (RFC 4180) that a spreadsheet shows as it is.
 *
 * Ids and references come from outside: controls and marks that turn round the
 * reading become `�`. A text that a spreadsheet would compute, or read as a
 * date or another number, gets an apostrophe in front; so does an amount of
 * more than 15 significant digits, because a spreadsheet drops the rest.
 */
export function csvLine(
  cells: readonly CsvCell[],
  form: CsvForm = USUAL_FORM,
): string {
  const texts = cells.map((cell) => cellText(cell, form));
  return `${texts.join(form.delimiter)}\r\n`;
}

function cellText(
  cell: CsvCell,
  { decimalMark, delimiter }: CsvForm,
): string {
  const number = (text: string) => {
    const marked = text.replace(".", decimalMark);
    // Between other marks a quoted number would be a text to some.
    return decimalMark === delimiter ? quoted(marked) : marked;
  };
  if (typeof cell === "string") return textCell(cell);
  if ("own" in cell) return quoted(cell.own);
  if ("rounded" in cell) return number(spreadsheetNumber(cell.rounded));
  if ("exact" in cell) return cell.exact === "" ? "" : markedText(cell.exact);
  if (!isDecimal(cell.amount)) return textCell(cell.amount);
  return significantDigits(cell.amount) <= MOST_DIGITS
    ? number(cell.amount)
    : markedText(cell.amount);
}

function textCell(text: string): string {
  return isChanged(text) ? markedText(text) : quoted(printable(text));
}

function markedText(text: string): string {
  return quoted(`${TEXT_MARK}${printable(text)}`);
}

function quoted(text: string): string {
  return /[",;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What stands before a text that is to stay one. */
const TEXT_MARK = "'";

/** Significant digits that a spreadsheet keeps of a number. */
const MOST_DIGITS = 15;

/** An amount as a spreadsheet keeps it; empty where it is none. */
function spreadsheetNumber(amount: string): string {
  if (!isDecimal(amount)) return "";
  // To even, so that many rounded amounts do not add up to too much.
  return new Big(amount).prec(MOST_DIGITS, Big.roundHalfEven).toFixed();
}

function significantDigits(decimal: string): number {
  const digits = decimal.replace(/[-.]/g, "").replace(/^0+/, "");
  return decimal.includes(".")
    ? digits.length
    : digits.replace(/0+$/, "").length;
}

/** Whether a spreadsheet would make something else of a text. */
function isChanged(text: string): boolean {
  if (text.startsWith(TEXT_MARK)) return true;
  if (FORMULA.test(text)) return !PLAIN_NUMBER.test(text);
  return CHANGED.some((pattern) => pattern.test(text.trim()));
}

/** How a text begins that some spreadsheet computes: with a sign, also in its
 * wide form, even after what it skips. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/u;

const PLAIN_NUMBER = /^-?\d{1,15}(\.\d+)?$/;

const MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?";

/** Texts that a spreadsheet reads as another number, a date or a time. */
const CHANGED: readonly RegExp[] = [
  /^\d*\.?\d+\.?e[+-]?\d+$/i,
  /^0\d+$/,
  /^\d{16,}$/,
  /^\d+(\.\d+)?%$/,
  /^\d{1,4}[-/.]\d{1,2}([-/.]\d{1,4})?$/,
  /^\d{1,2}:\d{2}/,
  /^\d{4}-\d{2}-\d{2}/,
  new RegExp(`^\\d{1,4}[-/. ]?${MONTH}([-/. ]?\\d{1,4})?$`, "i"),
  new RegExp(`^${MONTH}[-/. ]?\\d{1,4}$`, "i"),
];

/**
 * Reads CSV that {@linkcode csvLine} wrote, line by line, without the marks
 * that keep a text a text.
 */
export function* csvRows(text: string): Generator<string[]> {
  for (const line of text.split("\r\n")) {
    if (line !== "") yield cellsOf(line);
  }
}

/** No cell holds a line break, because the writer lets none through. */
function cellsOf(line: string): string[] {
  const cells = line.match(CELL) ?? [];
  return cells.map((cell) => {
    const text = cell.startsWith('"')
      ? cell.slice(1, -1).replaceAll('""', '"')
      : cell;
    return text.startsWith(TEXT_MARK) ? text.slice(TEXT_MARK.length) : text;
  });
}

/** A cell in quotes, or one without, behind a comma or at the beginning. */
const CELL = /(?<=^|,)(?:"(?:[^"]|"")*"|[^,]*)/g;
