import { Columns, plain } from "./columns.ts";
import type { ChainHead } from "../../hashes/anchored_head.ts";
import type { ErasedPart } from "../../hashes/commitment.ts";
import type { ResultSet, Statement } from "../driver/driver.ts";
import { expectNoRow, expectRow } from "../driver/expect_row.ts";

/**
 * The evidence: a link for each event, how far the chain reaches, and which
 * part of an event was erased and what stands for it.
 */
export const chainSchema: readonly string[] = [
  `CREATE TABLE chain (
    position INTEGER PRIMARY KEY,
    commitment BLOB NOT NULL,
    hash BLOB NOT NULL
  ) STRICT`,
  `CREATE TABLE chain_checkpoint (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    position INTEGER NOT NULL,
    events INTEGER NOT NULL,
    hash TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE erasures (
    position INTEGER PRIMARY KEY,
    part TEXT NOT NULL CHECK (part IN ('body', 'identity')),
    commitment BLOB NOT NULL
  ) STRICT`,
];

const HEAD = new Columns<ChainHead>({
  position: ["position", plain()],
  events: ["events", plain()],
  hash: ["hash", plain()],
});

/** Selects how far the chain reaches; {@linkcode headOf} reads it. */
export const selectHead: Statement = {
  sql: `SELECT ${HEAD.list()} FROM chain_checkpoint`,
  args: [],
};

/** Reads the answer of {@linkcode selectHead}; null before the first link. */
export function headOf(result: ResultSet | undefined): ChainHead | null {
  const row = result?.rows[0];
  return row === undefined ? null : HEAD.read(row);
}

/**
 * Moves the head. The batch fails with `conflict` when another process has
 * moved it.
 *
 * @param from Position of the head as read; 0 before the first link.
 * @param head The new head.
 */
export function moveHead(from: number, head: ChainHead): Statement[] {
  return [
    from === 0
      ? expectNoRow("chain_checkpoint", { id: 1 })
      : expectRow("chain_checkpoint", { id: 1, position: from }),
    {
      sql: `INSERT INTO chain_checkpoint (id, ${HEAD.list()})
        VALUES (1, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
          position = excluded.position, events = excluded.events,
          hash = excluded.hash`,
      args: HEAD.write(head),
    },
  ];
}

/**
 * Stores links.
 *
 * @param positions Positions of the events.
 * @param links Commitment and hash of each, 32 bytes and 32 bytes.
 */
export function insertLinks(
  positions: readonly number[],
  links: Uint8Array,
): Statement {
  return {
    sql: "INSERT INTO chain (position, commitment, hash) " +
      "SELECT value, substr(?1, key * 64 + 1, 32), " +
      "substr(?1, key * 64 + 33, 32) FROM json_each(?2)",
    args: [links, JSON.stringify(positions)],
  };
}

/** Selects the hash of the link at a position. */
export function selectLinkHash(position: number): Statement {
  return { sql: "SELECT hash FROM chain WHERE position = ?", args: [position] };
}

/** Selects the position of the link with a commitment. */
export function selectPositionOf(commitment: Uint8Array): Statement {
  return {
    sql: "SELECT position FROM chain WHERE commitment = ?",
    args: [commitment],
  };
}

/** Erases body, digest and salt of an event, and stores what stands for them. */
export function eraseBodyAt(
  position: number,
  commitment: Uint8Array,
): Statement[] {
  return [{
    sql: "INSERT INTO erasures (position, part, commitment) " +
      "VALUES (?, 'body', ?) ON CONFLICT DO NOTHING",
    args: [position, commitment],
  }, {
    sql: "UPDATE events SET body = NULL, digest = NULL, salt = NULL " +
      "WHERE position = ?",
    args: [position],
  }];
}

/** Stores what stands for the erased part of an event that was imported. */
export function insertErasure(
  eventId: string,
  part: ErasedPart | null,
  commitment: Uint8Array | null,
): Statement {
  return {
    sql: `INSERT INTO erasures (position, part, commitment)
      SELECT position, ?, ? FROM events WHERE event_id = ? AND body IS NULL
      ON CONFLICT DO NOTHING`,
    args: [part, commitment, eventId],
  };
}
