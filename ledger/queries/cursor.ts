import { base64urlnopad } from "@scure/base";
import { wrongQuery } from "./query_values.ts";

/** Where a page ends: what rows are sorted by. */
export interface PageEnd {
  /** Time the row is sorted by. */
  readonly sortAt: string;
  /** Identifier of the row. */
  readonly id: string;
}

/**
 * Writes where a page ends as one opaque text.
 *
 * @param end Time and identifier of the last row.
 */
export function encodeCursor({ sortAt, id }: PageEnd): string {
  return base64urlnopad.encode(
    new TextEncoder().encode(JSON.stringify([sortAt, id])),
  );
}

/**
 * Reads what {@linkcode encodeCursor} wrote.
 *
 * @param cursor The text.
 * @throws {RangeError} When it is not a cursor.
 */
export function decodeCursor(cursor: string): PageEnd {
  try {
    const bytes = base64urlnopad.decode(cursor);
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (Array.isArray(value) && value.length === 2) {
      const [sortAt, id] = value;
      if (typeof sortAt === "string" && typeof id === "string") {
        return { sortAt, id };
      }
    }
  } catch {
    // The error below covers every text that is not a cursor.
  }
  throw wrongQuery("cursor", cursor, '"next" of an earlier page');
}
