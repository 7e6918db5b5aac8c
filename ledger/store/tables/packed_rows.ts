import type { SqlValue } from "../driver/driver.ts";
import { RepeatedRows } from "./repeated_rows.ts";

const utf8 = new TextEncoder();

/** One row: short columns, and long texts that do not go through JSON. */
export interface PackedRow {
  /** Short columns; no bytes among them. */
  readonly columns: readonly SqlValue[];
  /** Long texts. */
  readonly texts: readonly string[];
}

/**
 * Rows for one statement, as two arguments: `?1` is a BLOB of all long texts, and
 * `?2` the short columns as {@linkcode RepeatedRows} pass them, followed by an
 * offset and a length for each text.
 */
export class PackedRows {
  /** SQL of each short column of a row that `from` selects, in order. */
  readonly sql: readonly string[];
  /** SQL of the long texts, in order. */
  readonly texts: readonly string[];
  /** What a statement selects them from. */
  readonly from: string;
  readonly #shorts: RepeatedRows;

  /**
   * @param count How many short columns a row has.
   * @param texts How many long texts.
   * @param repeated Places of short columns that say the same in many rows.
   */
  constructor(count: number, texts: number, repeated: readonly number[]) {
    this.#shorts = new RepeatedRows(count + 2 * texts, repeated);
    const { sql } = this.#shorts;
    this.sql = sql.slice(0, count);
    this.texts = Array.from({ length: texts }, (_, text) => {
      const [at, bytes] = sql.slice(count + 2 * text);
      return `CAST(substr(?1, ${at}, ${bytes}) AS TEXT)`;
    });
    this.from = this.#shorts.from("?2");
  }

  /**
   * Packs rows.
   *
   * @param rows The rows.
   * @returns Arguments `?1` and `?2`.
   */
  pack(rows: readonly PackedRow[]): [SqlValue, SqlValue] {
    const whole = rows.flatMap(({ texts }) => texts).join("");
    // Never empty: libSQL takes an empty BLOB for NULL.
    let blob = new Uint8Array(Math.max(whole.length, 1));
    // One call for all of them. Where they are ASCII, as nearly always, each has
    // as many bytes as characters.
    const isAscii = utf8.encodeInto(whole, blob).read === whole.length;
    if (!isAscii) blob = utf8.encode(whole);
    let end = 0;
    const packed = rows.map(({ columns, texts }) => {
      const row = columns.slice();
      for (const text of texts) {
        const bytes = isAscii ? text.length : utf8.encode(text).length;
        row.push(end + 1, bytes);
        end += bytes;
      }
      return row;
    });
    return [blob, this.#shorts.pack(packed)];
  }
}

/** The long texts of an order or user, in their order. */
export const STATE_TEXTS = ["state", "activity", "fold"] as const;

/** What an upsert sets them to. */
export const excludedTexts: string = STATE_TEXTS.map((text) =>
  `${text} = excluded.${text}`
).join(", ");
