import Table from "cli-table3";
import { printable } from "./printable.ts";

/** One column of a table for people. */
export interface Column {
  /** Heading. */
  readonly title: string;
  /** Numbers align to the right. */
  readonly align?: "left" | "right";
  /** Longest text shown, in characters; the rest becomes an ellipsis. */
  readonly maxWidth?: number;
}

/**
 * Draws rows as a table without frames. Rows wider than the terminal lose the
 * tail of their longest cells, never whole columns.
 *
 * @param columns Width of the terminal; null leaves rows as wide as they are.
 */
export function drawTable(
  head: readonly Column[],
  rows: readonly (readonly string[])[],
  columns: number | null,
): string {
  const cells = rows.map((row) =>
    row.map((cell, index) => shorten(printable(cell), head[index]?.maxWidth))
  );
  const widths = fit(
    head.map((column, index) =>
      Math.max(
        column.title.length,
        ...cells.map((row) => row[index]?.length ?? 0),
      )
    ),
    columns,
  );
  const table = new Table({
    head: head.map((column) => column.title),
    colAligns: head.map((column) => column.align ?? "left"),
    colWidths: widths.map((width) => width + GAP),
    chars: NO_FRAME,
    style: { head: [], border: [], "padding-left": 0, "padding-right": GAP },
  });
  for (const row of cells) {
    table.push(row.map((cell, index) => shorten(cell, widths[index])));
  }
  return table.toString().split("\n").map((line) => line.trimEnd()).join("\n");
}

const GAP = 2;

const NO_FRAME = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "",
};

/** Narrowest a column is pressed to, in characters. */
const NARROWEST = 8;

function fit(widths: number[], columns: number | null): number[] {
  if (columns === null) return widths;
  const fitted = [...widths];
  const total = () => fitted.reduce((sum, width) => sum + width + GAP, -GAP);
  while (total() > columns) {
    const widest = fitted.indexOf(Math.max(...fitted));
    const width = fitted[widest] ?? 0;
    if (width <= NARROWEST) break;
    fitted[widest] = width - 1;
  }
  return fitted;
}

function shorten(text: string, maxWidth: number | undefined): string {
  if (maxWidth === undefined || text.length <= maxWidth) return text;
  return `${text.slice(0, Math.max(maxWidth - 1, 0))}…`;
}
