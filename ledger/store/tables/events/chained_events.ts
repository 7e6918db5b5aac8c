import type { RecordedEvent } from "../../../events/event.ts";
import type { Erased, ErasedPart } from "../../../hashes/commitment.ts";
import type { ResultSet, SqlValue, Statement } from "../../driver/driver.ts";
import { endOfWindow, EVENTS, recordedEvent } from "./event_rows.ts";

/** An event, and what the chain has of it. */
export interface ChainedEvent {
  /** The event. */
  readonly event: RecordedEvent;
  /** What stands for its erased part; null where nothing was erased. */
  readonly erased: Erased | null;
  /** Its commitment in the chain; null where it has no link. */
  readonly commitment: Uint8Array | null;
  /** Hash of its link; null where it has none. */
  readonly hash: Uint8Array | null;
}

/** Places of what stands after an event. */
const beside = {
  erased: EVENTS.count,
  commitment: EVENTS.count + 1,
  hash: EVENTS.count + 2,
  part: EVENTS.count + 3,
};

/** Columns that hold bytes, by their place. */
const blobs = [
  [EVENTS.at.body, "body"],
  [EVENTS.at.salt, "salt"],
  [beside.erased, "erased"],
  [beside.commitment, "commitment"],
  [beside.hash, "hash"],
] as const;

/** Most bytes of bodies read at once: a body may have a megabyte. */
const mostBytes = 1 << 20;

/** Lossy, so that a column that was made no text at all can be told of. */
const utf8 = new TextDecoder();

/**
 * Selects the events after a position; {@linkcode unpackEvents} reads them.
 *
 * @param after The position.
 * @param limit Most events; fewer where bodies are large.
 * @param links Whether links are read too, of events that have one.
 */
export function selectEventsAfter(
  after: number,
  limit: number,
  links: boolean,
): Statement {
  return { sql: links ? linkedSql : unlinkedSql, args: [after, limit] };
}

/**
 * Selects positions of links without an event, up to the last of the events that
 * {@linkcode selectEventsAfter} selects; where there is none, of all the others.
 */
export function selectOrphanLinks(after: number, limit: number): Statement {
  return { sql: orphansSql, args: [after, limit] };
}

/** Selects the events after the head of the chain, without links. */
export function selectUnchained(limit: number): Statement {
  return { sql: afterHeadSql, args: [limit] };
}

/**
 * Takes apart what {@linkcode selectEventsAfter} read.
 *
 * @param result The answer.
 * @returns The events by position.
 */
export function unpackEvents(result: ResultSet | undefined): ChainedEvent[] {
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
    const erased = row[beside.erased] as Uint8Array | null;
    return {
      event: recordedEvent(row),
      erased: erased === null
        ? null
        : { part: row[beside.part] as ErasedPart, commitment: erased },
      commitment: row[beside.commitment] as Uint8Array | null,
      hash: row[beside.hash] as Uint8Array | null,
    };
  }).sort((a, b) => a.event.position - b.event.position);
}

/**
 * SQL that hands many events over as six BLOBs, because thousands of small
 * values cost more on their way between threads than everything else. The first
 * is a text that holds the columns, and of bytes the length; as a text it would
 * end the process where it is not well formed.
 */
function packedEvents(after: string, limit: string, links: boolean): string {
  const end = endAfter(after, limit);
  const lengths = EVENTS.list(undefined, {
    body: "length(body)",
    salt: "length(salt)",
  });
  return `SELECT CAST(json_group_array(json_array(${lengths},
    length(erased), length(commitment), length(hash), part)) AS BLOB), ${
    blobs.map(([, name]) => `CAST(group_concat(${name}, '') AS BLOB)`)
      .join(", ")
  } FROM (SELECT events.*, erasures.part, erasures.commitment AS erased,
      ${
    links ? "chain.commitment, chain.hash" : "NULL AS commitment, NULL AS hash"
  }
    FROM events LEFT JOIN erasures USING (position)
    ${links ? "LEFT JOIN chain USING (position)" : ""}
    WHERE events.position > ${after} AND events.position <= ${end}
    ORDER BY events.position)`;
}

function endAfter(after: string, limit: string): string {
  return endOfWindow({
    where: `position > ${after}`,
    maxEvents: limit,
    maxBytes: String(mostBytes),
  });
}

const orphansSql = `SELECT position FROM chain
  WHERE position > ?1
    AND position <= coalesce(${
  endAfter("?1", "?2")
}, ${Number.MAX_SAFE_INTEGER})
    AND NOT EXISTS (SELECT 1 FROM events
      WHERE events.position = chain.position)
  ORDER BY position LIMIT ?2`;

const linkedSql = packedEvents("?1", "?2", true);
const unlinkedSql = packedEvents("?1", "?2", false);
const afterHeadSql = packedEvents(
  "coalesce((SELECT position FROM chain_checkpoint), 0)",
  "?1",
  false,
);
