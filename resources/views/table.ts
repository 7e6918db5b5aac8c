import { printable } from "../../core/printable.ts";
import { wrap } from "./text.ts";

/** One column of a table for people. */
export interface Column {
  /** Heading. */
  readonly title: string;
  /** Numbers align to the right. */
  readonly align?: "left" | "right";
  /**
   * Shown whole or not at all: a truncated identifier is useless, and a
   * truncated number is wrong.
   */
  readonly whole?: boolean;
  /**
   * Order in which columns may be left out on a narrow terminal, the highest
   * number first; a column without one stays.
   */
  readonly spare?: number;
}

/**
 * Draws rows as a table without frames. Where the terminal is too narrow, spare
 * columns go in which nothing stands, long texts lose their tail, then other
 * spare columns go, and a last line names those.
 */
export function drawTable(
  head: readonly Column[],
  rows: readonly (readonly string[])[],
  columns: number | null,
): string {
  const cells = rows.map((row) =>
    row.map((text, index) =>
      shorten(printable(text), head[index]?.whole ? LONGEST : LONGEST_TEXT)
    )
  );
  const natural = head.map(({ title }, index) =>
    cells.reduce(
      (most, row) => Math.max(most, row[index]?.length ?? 0),
      title.length,
    )
  );
  const isEmpty = (index: number) => cells.every((row) => row[index] === "");
  const { shown, widths } = fit(head, natural, columns, isEmpty);
  const titles = head.map(({ title }) => title);
  const lines = [titles, ...cells].map((row) =>
    shown.map((index) => {
      const width = widths[index] ?? 0;
      const text = shorten(row[index] ?? "", width);
      return head[index]?.align === "right"
        ? text.padStart(width)
        : text.padEnd(width);
    }).join(" ".repeat(GAP)).trimEnd()
  );
  // Of what is empty nothing is missing.
  const left = head.filter((_, index) =>
    !shown.includes(index) && !isEmpty(index)
  );
  if (left.length > 0) {
    const names = left.map(({ title }) => title).join(", ");
    lines.push("", wrap(`No room for: ${names}`, columns));
  }
  return lines.join("\n");
}

const GAP = 2;

/** Longer than any identifier or amount of the service, in characters. A forged
 * one may have a million, and would push every row that far apart. */
const LONGEST = 120;

/** The same for texts. */
const LONGEST_TEXT = 1000;

/** Least width of a text column, in characters. */
const NARROWEST = 12;

function fit(
  head: readonly Column[],
  natural: readonly number[],
  columns: number | null,
  isEmpty: (index: number) => boolean,
): { shown: number[]; widths: number[] } {
  const widths = [...natural];
  let shown = head.map((_, index) => index);
  const missing = () =>
    columns === null ? 0 : shown.reduce(
      (sum, index) => sum + (widths[index] ?? 0) + GAP,
      -GAP - columns,
    );
  if (missing() > 0) {
    shown = shown.filter((index) =>
      head[index]?.spare === undefined || !isEmpty(index)
    );
  }
  for (;;) {
    for (let least = missing(); least > 0; least--) {
      const widest = shown.filter((index) => !head[index]?.whole)
        .sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0];
      if (widest === undefined || (widths[widest] ?? 0) <= NARROWEST) break;
      widths[widest] = (widths[widest] ?? 0) - 1;
    }
    const [spare] = shown.filter((index) => head[index]?.spare !== undefined)
      .sort((a, b) => (head[b]?.spare ?? 0) - (head[a]?.spare ?? 0));
    if (missing() <= 0 || spare === undefined) return { shown, widths };
    shown = shown.filter((index) => index !== spare);
    // Columns that were narrowed for this column get their width back.
    for (const index of shown) widths[index] = natural[index] ?? 0;
  }
}

function shorten(text: string, width: number | undefined): string {
  if (width === undefined || text.length <= width) return text;
  return `${text.slice(0, Math.max(width - 1, 0))}…`;
}

/** A table in words: a head, and rows as wide as the head. */
export interface WordTable {
  /** The headings. */
  readonly head: readonly string[];
  /** The cells. */
  readonly rows: readonly (readonly string[])[];
}

/** A table as the formatter writes it: every column as wide as its cells. */
export function markdownTable({ head, rows }: WordTable): string[] {
  const widths = head.map((title, index) =>
    Math.max(3, title.length, ...rows.map((row) => row[index]?.length ?? 0))
  );
  const line = (cells: readonly string[]) =>
    `| ${
      cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(" | ")
    } |`;
  return [
    line(head),
    `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`,
    ...rows.map(line),
  ];
}
