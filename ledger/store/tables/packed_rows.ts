import type { SqlValue } from "../driver/driver.ts";

const utf8 = new TextEncoder();

/** One row: short columns, and long texts that do not go through JSON. */
export interface PackedRow {
  /** Short columns, as `value ->> 0` and so on; no bytes among them. */
  readonly columns: readonly SqlValue[];
  /** Long texts; see {@linkcode packedText}. */
  readonly texts: readonly string[];
}

/**
 * Packs rows for one statement: a BLOB of all long texts, and a JSON array of
 * the short columns followed by an offset and a length for each text.
 *
 * @param rows The rows.
 * @returns Arguments `?1` and `?2`.
 */
export function packRows(rows: readonly PackedRow[]): [SqlValue, SqlValue] {
  // Never empty: libSQL takes an empty BLOB for NULL.
  let capacity = 1;
  for (const { texts } of rows) {
    for (const text of texts) capacity += text.length;
  }
  let blob = new Uint8Array(capacity);
  let end = 0;
  const packed = rows.map(({ columns, texts }) => {
    const row = columns.slice();
    for (const text of texts) {
      let { read, written } = utf8.encodeInto(text, blob.subarray(end));
      if (read < text.length) {
        const grown = new Uint8Array(blob.length + 3 * text.length);
        grown.set(blob.subarray(0, end));
        blob = grown;
        ({ read, written } = utf8.encodeInto(text, blob.subarray(end)));
      }
      row.push(end + 1, written);
      end += written;
    }
    return row;
  });
  return [blob.subarray(0, Math.max(end, 1)), JSON.stringify(packed)];
}

/**
 * SQL for the rows. The limit has no effect on the result: it stops SQLite from
 * building the JSON of a row again for each column.
 */
export const PACKED = "(SELECT value FROM json_each(?2) LIMIT -1)";

/**
 * SQL for one long text of a row of {@linkcode PACKED} `AS r`.
 *
 * @param columns How many short columns the row has.
 * @param text Which long text, from 0.
 */
export function packedText(columns: number, text: number): string {
  const at = columns + 2 * text;
  return `CAST(substr(?1, r.value ->> ${at}, r.value ->> ${at + 1}) AS TEXT)`;
}

/** The long texts of an order or user, in their order. */
export const STATE_TEXTS = ["state", "activity", "fold"] as const;

/**
 * SQL for them.
 *
 * @param columns How many short columns the row has.
 */
export function stateTexts(columns: number): string {
  return STATE_TEXTS.map((_, text) => packedText(columns, text)).join(", ");
}

/** What an upsert sets them to. */
export const excludedTexts: string = STATE_TEXTS.map((text) =>
  `${text} = excluded.${text}`
).join(", ");
