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
