import { ORDERS_BY_HAND } from "./hand_watch.ts";
import type { Transition } from "../../../ledger/mod.ts";
import type { Driver } from "../../../ledger/for_sync.ts";
import {
  EVENTS,
  orderFoldSql,
  orderStateSql,
  readOrderState,
  readStamp,
  type RecordedEvent,
  recordedEvent,
  type SqlValue,
  transitionOf,
  TRANSITIONS,
  userTextsSql,
} from "../../../ledger/testing/mod.ts";
import type { ExpectedRow } from "./shadow.ts";

/** Everything that is looked at, as of one moment. */
export interface Snapshot {
  /** Identity of the ledger. */
  readonly ledgerId: string;
  /** Position of the live read models; 0 before the first. */
  readonly position: number;
  /** Version of the fold that made them; 0 before the first. */
  readonly foldVersion: number;
  /** Events in all. */
  readonly count: number;
  /** Events after those seen before. */
  readonly events: readonly RecordedEvent[];
  readonly orders: readonly Row[];
  readonly users: readonly Row[];
  /** Links of the chain after those seen before: position, two hashes. */
  readonly links: readonly (readonly SqlValue[])[];
  /** Position, events and hash of the chain's head. */
  readonly head: readonly SqlValue[] | undefined;
  /** Orders that a person delivered or refunded. */
  readonly byHand: ReadonlySet<string>;
  /** Transitions after those seen before. */
  readonly transitions: readonly Transition[];
}

/** A row of a read model. */
export interface Row extends ExpectedRow {
  readonly id: string;
  readonly status: string;
  readonly trust: string;
}

/** Nothing was seen before. */
export const UNSEEN: Seen = { events: 0, links: 0, transitions: 0 };

/** What was seen before. */
export interface Seen {
  /** Position of the last event. */
  readonly events: number;
  /** Position of the last link. */
  readonly links: number;
  /** Place of the last transition. */
  readonly transitions: number;
}

const live = "(SELECT generation FROM projections WHERE name = 'live')";

/**
 * Looks at the database from outside, all in one batch, so that nobody comes
 * between.
 *
 * @param store The database, without faults.
 * @param seen What was seen before.
 * @returns Null before its tables are there.
 */
export async function readSnapshot(
  store: Driver,
  seen: Seen,
): Promise<Snapshot | null> {
  const made = await readStamp(store);
  if (made === null) return null;
  const [stamp, at, count, events, orders, users, links, head, keys, byHand] =
    (await store.batch([
      query("SELECT ledger_id FROM rampkit"),
      query(`SELECT position, fold_version FROM projections
        WHERE name = 'live'`),
      query("SELECT count(*) FROM events"),
      query(
        `SELECT ${EVENTS.list()} FROM events WHERE position > ?
          ORDER BY position`,
        seen.events,
      ),
      query(`SELECT order_id, status, trust, ${orderStateSql()}, activity,
          ${orderFoldSql()}
        FROM orders WHERE generation = ${live}`),
      query(`SELECT user_id, status, trust, ${userTextsSql().state}, activity,
          ${userTextsSql().fold}
        FROM users WHERE generation = ${live}`),
      query(
        `SELECT position, commitment, hash FROM chain WHERE position > ?
          ORDER BY position`,
        seen.links,
      ),
      query("SELECT position, events, hash FROM chain_checkpoint"),
      query(
        `SELECT ${TRANSITIONS.list()} FROM transitions
          WHERE seq > ? ORDER BY seq`,
        seen.transitions,
      ),
      query(ORDERS_BY_HAND),
    ], "read")).map(({ rows }) => rows);
  return {
    ledgerId: String(stamp?.[0]?.[0]),
    position: Number(at?.[0]?.[0] ?? 0),
    foldVersion: Number(at?.[0]?.[1] ?? 0),
    count: Number(count?.[0]?.[0] ?? 0),
    events: events?.map(recordedEvent) ?? [],
    orders: orders?.map(rowOf).map((row) => ({
      ...row,
      state: JSON.stringify(readOrderState(row.state)),
    })) ?? [],
    users: users?.map(rowOf) ?? [],
    links: links ?? [],
    head: head?.[0],
    byHand: new Set(byHand?.map(([id]) => String(id))),
    transitions: keys?.map(transitionOf) ?? [],
  };
}

function query(sql: string, ...args: readonly SqlValue[]) {
  return { sql, args };
}

function rowOf(row: readonly SqlValue[]): Row {
  const [id, status, trust, state, activity, fold] = row.map(String);
  return {
    id: id ?? "",
    status: status ?? "",
    trust: trust ?? "",
    state: state ?? "",
    activity: activity ?? "",
    fold: fold ?? "",
  };
}
