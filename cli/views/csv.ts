import { printable } from "./printable.ts";

/** One CSV line (RFC 4180). Ids and references come from outside: controls and
 * marks that turn round the reading become `�`, and a text that a spreadsheet
 * would run as a formula gets an apostrophe in front. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(cell: string): string {
  const shown = printable(cell);
  const text = FORMULA.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell)
    ? `'${shown}`
    : shown;
  return /[",;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** How a cell begins that some spreadsheet computes: with a sign, also in its
 * wide form, even after what it skips. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/u;
