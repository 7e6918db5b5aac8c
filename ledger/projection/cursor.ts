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
  return new TextEncoder().encode(JSON.stringify([sortAt, id]))
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/**
 * Reads what {@linkcode encodeCursor} wrote.
 *
 * @param cursor The text.
 * @throws {TypeError} When it is no cursor.
 */
export function decodeCursor(cursor: string): PageEnd {
  try {
    const bytes = Uint8Array.fromBase64(cursor, { alphabet: "base64url" });
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (Array.isArray(value) && value.length === 2) {
      const [sortAt, id] = value;
      if (typeof sortAt === "string" && typeof id === "string") {
        return { sortAt, id };
      }
    }
  } catch {
    // Told below, like any other text that is no cursor.
  }
  throw new TypeError(
    `Wrong cursor: ${JSON.stringify(cursor)} is not what "next" of a page said`,
  );
}

/**
 * Writes a time as rows are sorted by it.
 *
 * @param name What the time is, for the message.
 * @param time Any ISO 8601 time with a zone, or a date.
 * @throws {RangeError} When it is no time.
 */
export function queryTime(name: string, time: string): string {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) {
    throw new RangeError(
      `Wrong ${name}: ${
        JSON.stringify(time)
      } is no time; write it like 2026-11-20T09:00:00Z`,
    );
  }
  return new Date(ms).toISOString();
}

/**
 * Checks how many rows a page may have.
 *
 * @param limit From the query.
 * @throws {RangeError} Unless it is from 1 to 1000.
 */
export function pageSize(limit: number | undefined): number {
  const size = limit ?? 100;
  if (!Number.isInteger(size) || size < 1 || size > 1000) {
    throw new RangeError(`Wrong limit: ${size} is not from 1 to 1000`);
  }
  return size;
}
