import type { RecordedEvent } from "../event/event.ts";
import type { ResultSet, SqlValue } from "../store/driver.ts";
import { eventColumns, recordedEvent } from "../store/event_row.ts";

/** An event, and what the chain has of it. */
export interface ChainedEvent {
  /** The event. */
  readonly event: RecordedEvent;
  /** Commitment of its body; null where there is none. */
  readonly commitment: Uint8Array | null;
  /** Hash of its link; null where there is none. */
  readonly hash: Uint8Array | null;
}

/** Columns that hold bytes, as places in `eventColumns` and after it. */
const blobs = [
  [10, "body"],
  [12, "salt"],
  [13, "commitment"],
  [14, "hash"],
] as const;

/**
 * SQL that hands many events over as one text and four BLOBs, because thousands
 * of small values cost more on their way between threads than everything else.
 * The text holds the columns, and of bytes the length.
 *
 * @param rows A SELECT of all columns of events, `commitment` and `hash`.
 */
export function packed(rows: string): string {
  const columns = eventColumns.replace("body", "length(body)")
    .replace("salt", "length(salt)");
  return `SELECT json_group_array(json_array(${columns}, length(commitment),
    length(hash))), ${
    blobs.map(([, name]) => `CAST(group_concat(${name}, '') AS BLOB)`)
      .join(", ")
  } FROM (${rows})`;
}

/**
 * Takes apart what {@linkcode packed} read.
 *
 * @param result The answer.
 * @returns The events by position.
 */
export function unpacked(result: ResultSet | undefined): ChainedEvent[] {
  const [columns, ...bytes] = result?.rows[0] ?? [];
  const rows: SqlValue[][] = JSON.parse(String(columns ?? "[]"));
  const ends = blobs.map(() => 0);
  return rows.map((row) => {
    blobs.forEach(([place], at) => {
      const length = row[place] as number | null;
      if (length === null || length === undefined) return;
      const from = ends[at] ?? 0;
      row[place] = (bytes[at] as Uint8Array | null)?.subarray(
        from,
        ends[at] = from + length,
      ) ?? new Uint8Array(0);
    });
    return {
      event: recordedEvent(row),
      commitment: row[13] as Uint8Array | null,
      hash: row[14] as Uint8Array | null,
    };
  }).sort((a, b) => a.event.position - b.event.position);
}
