import type { Transition } from "../../../ledger/mod.ts";
import { type Driver, orderState } from "../../../ledger/for_sync.ts";
import {
  EVENT_COLUMNS,
  eventsOf,
  guardOf,
  LookupHash,
  type OrderFold,
  readStamp,
  type RecordedEvent,
  type Row as StoredRow,
  selectGuard,
  type SqlValue,
  transitionOf,
  TRANSITIONS,
  unpackOrder,
  unpackUser,
  type UserFold,
  userState,
} from "../../../ledger/testing/mod.ts";
import { handsOf, ORDERS_BY_HAND } from "./hand_watch.ts";

/** Everything that is looked at, as of one moment. */
export interface Snapshot {
  /** Identity of the ledger. */
  readonly ledgerId: string;
  /** Position of the last event that is folded; 0 before the first. */
  readonly position: number;
  /** Version of the fold that made the states. */
  readonly foldVersion: number;
  /** Events in all. */
  readonly count: number;
  /** Events after those seen before. */
  readonly events: readonly RecordedEvent[];
  /** Events that were to be erased, as they stand. */
  readonly erased: readonly RecordedEvent[];
  readonly orders: readonly Row<OrderFold>[];
  readonly users: readonly Row<UserFold>[];
  /** What the columns hash texts by. */
  readonly hash: LookupHash;
  /** Seals after those seen before: position, events, root, leaves. */
  readonly seals: readonly (readonly SqlValue[])[];
  /** Orders that a person delivered or refunded. */
  readonly byHand: ReadonlySet<string>;
  /** Transitions after those seen before. */
  readonly transitions: readonly Transition[];
}

/** A row of a read model. */
export interface Row<Fold> {
  readonly id: string;
  readonly status: string;
  readonly trust: string;
  /** What readers are shown, as JSON. */
  readonly state: string;
  /** The document of the fold. */
  readonly document: string;
  readonly stored: StoredRow<Fold>;
  /** What lists filter by, by name. */
  readonly columns: Readonly<Record<string, SqlValue>>;
}

/** Nothing was seen before. */
export const UNSEEN: Seen = { events: 0, seals: 0, transitions: 0 };

/** What was seen before. */
export interface Seen {
  /** Position of the last event. */
  readonly events: number;
  /** Position of the last seal. */
  readonly seals: number;
  /** Place of the last transition. */
  readonly transitions: number;
  /** Ids of the events that were to be erased. */
  readonly erased?: Iterable<string>;
}

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
  const stamp = await readStamp(store);
  if (stamp === null) return null;
  const results = await store.batch([
    selectGuard,
    query("SELECT count(*) FROM events"),
    query(
      `SELECT ${EVENT_COLUMNS} FROM events AS e WHERE e.position > ?
        ORDER BY e.position`,
      seen.events,
    ),
    query(
      `SELECT ${EVENT_COLUMNS} FROM events AS e
        WHERE e.id IN (SELECT value FROM json_each(?))`,
      JSON.stringify([...seen.erased ?? []]),
    ),
    query("SELECT * FROM orders"),
    query("SELECT * FROM users"),
    query(
      `SELECT last_position, events, root, leaves FROM seals
        WHERE last_position > ? ORDER BY last_position`,
      seen.seals,
    ),
    query(
      `SELECT ${TRANSITIONS} WHERE t.seq > ? ORDER BY t.seq`,
      seen.transitions,
    ),
    query(ORDERS_BY_HAND),
  ], "read");
  const found = results.map(({ rows }) => rows);
  const [guarding, count, events, erased, , , seals, told, hands] = found;
  const [orders, users] = results.slice(4, 6).map(({ columns, rows }) =>
    rows.map((row) => namedBy(columns, row))
  );
  const guard = guardOf(guarding);
  return {
    ledgerId: stamp.ledgerId,
    position: guard.position,
    foldVersion: guard.foldVersion,
    count: Number(count?.[0]?.[0] ?? 0),
    events: eventsOf(events),
    erased: eventsOf(erased),
    orders: orders?.map((columns) => {
      const fold = unpackOrder(String(columns.id), String(columns.fold));
      const state = orderState(fold, { assets: "sandbox" });
      return rowOf(columns, { fold, state });
    }) ?? [],
    users: users?.map((columns) => {
      const fold = unpackUser(String(columns.id), String(columns.fold));
      return rowOf(columns, { fold, state: userState(fold) });
    }) ?? [],
    hash: new LookupHash(guard.key),
    seals: seals ?? [],
    byHand: handsOf(hands ?? []),
    transitions: told?.map(transitionOf) ?? [],
  };
}

function query(sql: string, ...args: readonly SqlValue[]) {
  return { sql, args };
}

function namedBy(
  names: readonly string[],
  row: readonly SqlValue[],
): Row<unknown>["columns"] {
  return Object.fromEntries(names.map((name, at) => [name, row[at] ?? null]));
}

function rowOf<Fold>(
  columns: Row<Fold>["columns"],
  { fold, state }: { readonly fold: Fold; readonly state: object },
): Row<Fold> {
  return {
    id: String(columns.id),
    status: String(columns.status),
    trust: String(columns.trust),
    state: JSON.stringify(state),
    document: String(columns.fold),
    stored: {
      no: Number(columns.no),
      historic: Number(columns.historic),
      told: JSON.parse(String(columns.told)),
      fold,
    },
    columns,
  };
}
