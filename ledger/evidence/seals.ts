/** Evidence: a leaf an event, and a root for each batch that folds. */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { SqlValue, Statement } from "../store/driver/driver.ts";
import { bytesOf, type Rows } from "../store/database.ts";
import { type RawEvent, storedTime } from "../store/events.ts";

/** Bytes of each leaf that are stored: enough to say which event was altered. */
export const LEAF_BYTES = 8;

export interface Seal {
  readonly position: number;
  readonly events: number;
  readonly root: Uint8Array;
}

/** The hash over one event. The salt keeps a short body from being guessed. */
export function leafOf(event: RawEvent): Uint8Array {
  const { position, eventId, kind, recordedAt, readAt, salt, body } = event;
  const times = [storedTime(recordedAt), storedTime(readAt)];
  const head = JSON.stringify([position, eventId, kind, ...times]);
  return createHash("sha256").update(head).update(salt).update(body).digest();
}

export function firstSeal(ledgerId: string): Seal {
  const root = createHash("sha256").update(`rampkit/seal/1\n${ledgerId}`)
    .digest();
  return { position: 0, events: 0, root };
}

export function sealNext(
  before: Seal,
  events: readonly RawEvent[],
  leaves: readonly Uint8Array[] = events.map(leafOf),
): Seal & { readonly leaves: Uint8Array } {
  const last = events.at(-1)?.position ?? before.position;
  const count = before.events + events.length;
  const hash = createHash("sha256").update(before.root)
    .update(`${last} ${count}\n`);
  for (const leaf of leaves) hash.update(leaf);
  const short = leaves.map((leaf) => leaf.subarray(0, LEAF_BYTES));
  return {
    position: last,
    events: count,
    root: hash.digest(),
    leaves: Buffer.concat(short),
  };
}

/** Selects the last seal, and the id of the ledger for where there is none. */
export const selectLastSeal: Statement = {
  sql: `SELECT (SELECT id FROM ledger), s.last_position, s.events, s.root
    FROM (SELECT 1) LEFT JOIN (SELECT * FROM seals
      ORDER BY last_position DESC LIMIT 1) AS s`,
  args: [],
};

export function lastSealOf(rows: Rows | undefined): Seal {
  const [[id, position, events, root] = []] = rows ?? [];
  if (position === null || position === undefined) return firstSeal(String(id));
  return {
    position: Number(position),
    events: Number(events),
    root: bytesOf(root as SqlValue),
  };
}

export function insertSeal(
  { position, events, root, leaves }: ReturnType<typeof sealNext>,
): Statement {
  return {
    sql: "INSERT INTO seals VALUES (?, ?, ?, ?)",
    args: [position, events, root, leaves],
  };
}
