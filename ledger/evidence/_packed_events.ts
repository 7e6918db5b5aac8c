import type { RecordedEvent } from "../event/event.ts";
import type { ResultSet, SqlValue } from "../store/driver.ts";
import { eventColumns, recordedEvent } from "../store/event_row.ts";
import { endOfWindow } from "../store/window_end.ts";

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

/** Most bytes of bodies read at once: a body may have a megabyte. */
const mostBytes = 4 << 20;

/** Lossy, so that a column that was made no text at all can be told of. */
const utf8 = new TextDecoder();

/** Which events {@linkcode packed} reads, each a piece of SQL. */
export interface PackedOptions {
  /** Position that they follow. */
  readonly after: string;
  /** Most events; fewer where bodies are large. */
  readonly limit: string;
  /** `commitment` and `hash` of an event. */
  readonly columns: string;
  /** What is joined for them. */
  readonly join?: string;
}

/**
 * SQL that hands many events over as five BLOBs, because thousands of small
 * values cost more on their way between threads than everything else. The first
 * is a text that holds the columns, and of bytes the length; as a text it would
 * end the process where it is not well formed.
 *
 * @param options Which events.
 */
export function packed(
  { after, limit, columns, join = "" }: PackedOptions,
): string {
  const end = endOfWindow({
    where: `position > ${after}`,
    maxEvents: limit,
    maxBytes: String(mostBytes),
  });
  const lengths = eventColumns.replace("body", "length(body)")
    .replace("salt", "length(salt)");
  return `SELECT CAST(json_group_array(json_array(${lengths},
    length(commitment), length(hash))) AS BLOB), ${
    blobs.map(([, name]) => `CAST(group_concat(${name}, '') AS BLOB)`)
      .join(", ")
  } FROM (SELECT events.*, ${columns} FROM events ${join}
    WHERE events.position > ${after} AND events.position <= ${end}
    ORDER BY events.position)`;
}

/**
 * Takes apart what {@linkcode packed} read.
 *
 * @param result The answer.
 * @returns The events by position.
 */
export function unpacked(result: ResultSet | undefined): ChainedEvent[] {
  const [columns, ...bytes] = result?.rows[0] ?? [];
  const rows: SqlValue[][] = columns === undefined
    ? []
    : JSON.parse(utf8.decode(columns as Uint8Array));
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
