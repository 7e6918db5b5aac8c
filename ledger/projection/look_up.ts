import { decodeOrderFold, decodeUserFold } from "../fold/codec.ts";
import type { RecordedEvent } from "../event/event.ts";
import type { Fact, SessionFact } from "../fold/fact.ts";
import type { OrderFold } from "../fold/order_fold.ts";
import { CLICK_SESSIONS_KEPT, firstOrderAfter } from "../fold/sessions.ts";
import type { UserFold } from "../fold/user_fold.ts";
import type { Driver, ResultSet, Statement } from "../store/driver.ts";
import { eventColumns, recordedEvent } from "../store/event_row.ts";
import {
  type Checkpoint,
  checkpointsOf,
  type Lane,
  sameCheckpoint,
  selectCheckpoints,
} from "./checkpoint.ts";
import type { Known, WindowEvent } from "./fold_window.ts";
import { type Link, linkKey, orderLinks, sessionLinks } from "./links.ts";

/** What has to be looked up before a window can be folded. */
export interface Wanted {
  /** Orders whose folds are not known. */
  readonly orders: Set<string>;
  /** Users whose folds are not known. */
  readonly users: Set<string>;
  /** Links whose sessions are not known. */
  readonly sessionsOf: Map<string, Link>;
  /** Links whose orders are not known, and the earliest session of each. */
  readonly ordersOf: Map<string, Link & { readonly since: string }>;
}

/** {@linkcode Known} while it is gathered. */
export interface MutableKnown extends Known {
  readonly orders: Map<string, OrderFold>;
  readonly users: Map<string, UserFold>;
  readonly sessions: Map<string, SessionFact[]>;
  readonly linkedOrders: Map<string, string[]>;
}

/** What to look up. */
export interface LookUpOptions {
  /** `write` reads from the primary. */
  readonly mode: "read" | "write";
  /** Which states. */
  readonly lane: Lane;
  /** What is wanted. */
  readonly wanted: Wanted;
  /** Where it is put. */
  readonly known: MutableKnown;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
}

const selectOrdersById = `SELECT order_id, fold FROM orders
  WHERE generation = ?1 AND order_id IN (SELECT value FROM json_each(?2))`;

const selectUsersById = `SELECT user_id, fold FROM users
  WHERE generation = ?1 AND user_id IN (SELECT value FROM json_each(?2))`;

const sessionsOfLink = `session_links AS k WHERE k.generation = ?1
  AND k.kind = w.value ->> 0 AND k.link = w.value ->> 1`;

/**
 * Sessions of the links `w`: the earliest, as many as an order keeps, and of a
 * session id the latest saying. CROSS JOIN keeps SQLite from walking the larger
 * table first.
 */
const selectSessions = `SELECT l.kind, l.link, ${qualified("e")}
  FROM json_each(?2) AS w CROSS JOIN session_links AS l ON l.generation = ?1
    AND l.kind = w.value ->> 0 AND l.link = w.value ->> 1
    AND l.recorded_at <= coalesce((SELECT k.recorded_at FROM ${sessionsOfLink}
      ORDER BY k.recorded_at LIMIT 1 OFFSET ${CLICK_SESSIONS_KEPT - 1}), '~')
  CROSS JOIN events AS e ON e.position = l.position
  UNION ALL SELECT l.kind, l.link, ${qualified("e")}
  FROM json_each(?2) AS w CROSS JOIN session_links AS l ON l.generation = ?1
    AND l.kind = w.value ->> 0 AND l.link = w.value ->> 1
    AND l.recorded_at = (SELECT max(k.recorded_at) FROM ${sessionsOfLink})
  CROSS JOIN events AS e ON e.position = l.position
  WHERE w.value ->> 0 = 'session'`;

// A session concerns by its click id no order that was there long before it,
// and none at all after as many sessions as an order keeps.
const selectLinkedOrders =
  `SELECT l.kind, l.link, o.order_id, o.fold FROM json_each(?2) AS w
  CROSS JOIN order_links AS l ON l.generation = ?1
    AND l.kind = w.value ->> 0 AND l.link = w.value ->> 1
    AND l.began_by >= w.value ->> 3
  CROSS JOIN orders AS o ON o.generation = ?1 AND o.order_id = l.order_id
  WHERE w.value ->> 0 <> 'click' OR NOT EXISTS (
    SELECT 1 FROM ${sessionsOfLink} AND k.recorded_at < w.value ->> 2
    ORDER BY k.recorded_at LIMIT 1 OFFSET ${CLICK_SESSIONS_KEPT - 1})`;

function qualified(table: string): string {
  return eventColumns.split(", ").map((column) => `${table}.${column}`)
    .join(", ");
}

/** Tells what a window needs to know. */
export function wantedBy(
  events: readonly WindowEvent[],
  sessionsAbout: boolean,
): Wanted {
  const wanted: Wanted = {
    orders: new Set(),
    users: new Set(),
    sessionsOf: new Map(),
    ordersOf: new Map(),
  };
  for (const { fact } of events) {
    if (fact.orderId !== null) wanted.orders.add(fact.orderId);
    if (fact.userId !== null) wanted.users.add(fact.userId);
    if (sessionsAbout) {
      for (const link of orderLinks(fact)) {
        if (link.kind !== "external") {
          wanted.sessionsOf.set(linkKey(link), link);
        }
      }
    }
    if (fact.kind === "session_created") {
      for (const link of sessionLinks(fact)) {
        const key = linkKey(link);
        const other = wanted.ordersOf.get(key);
        // Of other links `began_by` is empty, and all orders are wanted.
        const since = link.kind === "click" ? fact.recordedAt : "";
        if (other === undefined || since < other.since) {
          wanted.ordersOf.set(key, { ...link, since });
        }
      }
    }
  }
  return wanted;
}

/**
 * Fills in what is wanted.
 *
 * @param driver The database.
 * @param at The checkpoint that everything else was read at.
 * @param options What is wanted, and where it goes.
 * @returns False when the checkpoint has moved meanwhile.
 */
export async function lookUp(
  driver: Driver,
  at: Checkpoint,
  { mode, lane, wanted, known, readFact }: LookUpOptions,
): Promise<boolean> {
  const statements: Statement[] = [selectCheckpoints];
  const readers: ((result: ResultSet | undefined) => void)[] = [];
  // What is asked for nothing still costs a plan, and for joins a walk.
  const ask = (
    sql: string,
    wanted: readonly unknown[],
    read: (result: ResultSet | undefined) => void,
  ) => {
    if (wanted.length === 0) return;
    statements.push({ sql, args: [at.generation, JSON.stringify(wanted)] });
    readers.push(read);
  };
  const { orders, users, sessionsOf, ordersOf } = wanted;
  ask(
    selectOrdersById,
    [...orders],
    (rows) => addFolds(known.orders, rows, decodeOrderFold),
  );
  ask(
    selectUsersById,
    [...users],
    (rows) => addFolds(known.users, rows, decodeUserFold),
  );
  ask(selectSessions, pairs(sessionsOf), (result) => {
    for (const row of result?.rows ?? []) {
      const fact = readFact(recordedEvent(row.slice(2)));
      if (fact.kind !== "session_created") continue;
      append(known.sessions, keyOfRow(row), fact);
    }
  });
  const linksOfSessions = [...ordersOf.values()].map((
    { kind, link, since },
  ) => [kind, link, since, since === "" ? "" : firstOrderAfter(since)]);
  ask(selectLinkedOrders, linksOfSessions, (result) => {
    for (const row of result?.rows ?? []) {
      const orderId = row[2] as string;
      append(known.linkedOrders, keyOfRow(row), orderId);
      if (!known.orders.has(orderId)) {
        known.orders.set(orderId, decodeOrderFold(row[3] as string));
      }
    }
  });
  if (readers.length === 0) return true;
  const [checkpoints, ...results] = await driver.batch(statements, mode);
  if (!sameCheckpoint(checkpointsOf(checkpoints)[lane], at)) return false;
  readers.forEach((read, place) => read(results[place]));
  return true;
}

function pairs(links: ReadonlyMap<string, Link>): [string, string][] {
  return [...links.values()].map(({ kind, link }) => [kind, link]);
}

/**
 * Decodes folds as stored.
 *
 * @param folds Where they are put.
 * @param result Rows of an id and a fold.
 * @param decode Decodes one.
 */
export function addFolds<Fold>(
  folds: Map<string, Fold>,
  result: ResultSet | undefined,
  decode: (text: string) => Fold,
): void {
  for (const [id, fold] of result?.rows ?? []) {
    folds.set(id as string, decode(fold as string));
  }
}

function append<Item>(
  lists: Map<string, Item[]>,
  key: string,
  item: Item,
): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function keyOfRow(row: ResultSet["rows"][number]): string {
  return linkKey({ kind: row[0] as Link["kind"], link: row[1] as string });
}
