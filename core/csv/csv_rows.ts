import { TEXT_MARK } from "./csv_line.ts";

/**
 * Reads CSV that {@linkcode csvLine} wrote, line by line, without the marks
 * that keep a text a text.
 *
 * @param text The whole text.
 * @returns Its lines as cells; the first is the heading.
 *
 * @example Read back an id that looks like a number
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual([...csvRows("id,sum\r\n'727E28,0.10\r\n")], [
 *   ["id", "sum"],
 *   ["727E28", "0.10"],
 * ]);
 * ```
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
