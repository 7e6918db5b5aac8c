/** States that no subscription received, and how a person has them told after all. */
import { matching } from "../machines/pattern.ts";
import {
  type Entity,
  type MachineName,
  type NewTransition,
  parseTransitionKey,
  transitionKey,
  type TransitionName,
} from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { otherFinals } from "../orders/order_status.ts";
import {
  orderRows,
  type Row,
  selectRows,
  type Told,
  userRows,
} from "../projection/rows.ts";
import { guardOf, moveGuard, selectGuard } from "../projection/guard.ts";
import {
  codeOf,
  HISTORIC,
  insertOutbox,
  LIVE,
  logStatements,
  selectSubscribers,
  subscribersOf,
  tell,
  transitionOf,
  TRANSITIONS,
  WITHHELD,
} from "../projection/log.ts";
import { orderMachines, userMachines } from "../projection/step.ts";
import { addRelease } from "../releases/order_release.ts";
import {
  type Driver,
  expectRow,
  listed,
  read,
  readDeciding,
  retryLostRaces,
  type Statement,
} from "../store/database.ts";
import type { UserFold } from "../users/user_state.ts";

/** A state that no subscription received. */
export interface Unfired {
  /** What to pass to {@linkcode Subscriptions.fire}. */
  readonly key: string;
  /** Whether it is an order or a user. */
  readonly entity: Entity;
  /** The machine that moved. */
  readonly machine: MachineName;
  /** Order or user identifier. */
  readonly id: string;
  /** Who says so: `claimed` or `confirmed`; of a release `release`. */
  readonly trust: string;
  /** The status, or what became of the release. */
  readonly status: string;
  /** Which entry into this status it is, from 1. */
  readonly entry: number;
}

/** Rows of one read, when all are looked through. */
const PAGE = 1000;

const isSilent = `t.flags & ${LIVE} = 0 AND t.flags & ${HISTORIC} = 0`;

/** @param imported Whether to list what an import brought. */
export async function listUnfired(
  driver: Driver,
  imported: boolean,
  limit: number,
): Promise<Unfired[]> {
  const ofOrders = await read(driver, [
    {
      sql: `SELECT 'release', o.id, 'release',
          CASE t.code WHEN 'release.restored' THEN 'yes' ELSE substr(t.code, 9) END,
          CASE t.code WHEN 'release.restored' THEN 1 ELSE t.entry END
        FROM log AS t JOIN orders AS o ON o.no = t.no
        WHERE t.flags > 1 AND t.flags & ${WITHHELD} > 0 AND t.flags & ${LIVE} = 0
          AND NOT EXISTS (SELECT 1 FROM log AS l WHERE l.no = t.no
            AND l.code GLOB 'release.*' AND l.seq > t.seq)
        ORDER BY t.seq LIMIT ?`,
      args: [limit],
    },
    {
      sql: `SELECT 'order', o.id, o.trust, o.status, 1 FROM orders AS o
        LEFT JOIN log AS t ON t.no = o.no AND t.entry = 1
          AND t.code = o.trust || '.' || o.status
        WHERE t.seq IS NULL OR (?2 AND ${isSilent})
        ORDER BY o.id LIMIT ?1`,
      args: [limit, imported ? 1 : 0],
    },
  ]);
  return [
    ...ofOrders.flat().map(([machine, id, trust, status, entry]) =>
      unfired({
        ...{ entity: "order", machine: machine as MachineName, id: String(id) },
        ...{ trust: String(trust), status: String(status) },
        entry: Number(entry),
      })
    ),
    ...await unfiredUsers(driver, imported, limit),
  ];
}

function unfired(
  { entity, machine, id, trust, status, entry }: TransitionName,
): Unfired {
  const state = { entity, machine, id, trust, status, entry };
  return { key: transitionKey(state), ...state };
}

async function unfiredUsers(
  driver: Driver,
  imported: boolean,
  limit: number,
): Promise<Unfired[]> {
  const all: Unfired[] = [];
  for (let after = ""; all.length < limit;) {
    const [rows] = await read(driver, [
      selectRows("users", "r.id > ? ORDER BY r.id LIMIT ?", after, PAGE),
    ]);
    const users = userRows(rows);
    const [told = []] = !imported ? [] : await read(driver, [{
      sql: `SELECT no || ' ' || code || ' ' || entry FROM log AS t
        WHERE no IN (SELECT value FROM json_each(?)) AND ${isSilent}`,
      args: [listed([...users.values()].map(({ no }) => no))],
    }]);
    const silent = new Set(told.map(([key]) => key));
    for (const [id, row] of users) {
      for (const { transition, isNews } of shownBy(row)) {
        const key = `${row.no} ${codeOf(transition)} ${transition.entry}`;
        if (isNews || silent.has(key)) all.push(unfired(transition));
      }
      after = id;
    }
    if (users.size < PAGE) break;
  }
  return all.slice(0, limit);
}

type AnyRow = Row<OrderFold> | Row<UserFold>;

/** What is logged of an order or user, and what was told of it then. */
interface News {
  readonly transition: NewTransition;
  readonly told: Told;
}

/** What the machines of an order or user show, and whether that was not told yet. */
function shownBy(
  { fold, told }: AnyRow,
): (News & { readonly isNews: boolean })[] {
  const [who, machines] = "orderId" in fold
    ? [{ entity: "order", id: fold.orderId } as const, orderMachines(fold)]
    : [{ entity: "user", id: fold.userId } as const, userMachines(fold)];
  return machines.flatMap(({ machine, visible }) => {
    if (visible === null) return [];
    const transition: NewTransition = {
      ...{ ...who, machine, ...visible, entry: 1, previous: null },
      reverses: "orderId" in fold ? otherFinals(fold) : [],
      ...{ logged: null, after: [], position: 0, recordedAt: "" },
      ...{ live: true, withheld: false, historic: false },
    };
    const news = tell(told, transition);
    const entry = told.times[codeOf(transition)] ?? 1;
    return [{
      ...news ?? { transition: { ...transition, entry }, told },
      isNews: news !== null,
    }];
  });
}

/** Logs states as news, unless they were; returns how many. */
export function fireStates(
  driver: Driver,
  keys: readonly string[],
): Promise<number> {
  const names = [...new Set(keys)].flatMap(parseTransitionKey);
  if (names.length === 0) return Promise.resolve(0);
  return retryLostRaces(() => fire(driver, names));
}

async function fire(
  driver: Driver,
  names: readonly TransitionName[],
): Promise<number> {
  const ids = listed(names.map(({ id }) => id));
  const inIds = "r.id IN (SELECT value FROM json_each(?))";
  const [guarding, subscribing, last, ofOrders, ofUsers, logged = []] =
    await readDeciding(driver, [
      selectGuard,
      selectSubscribers,
      { sql: "SELECT coalesce(max(seq), 0) FROM log", args: [] },
      selectRows("orders", inIds, ids),
      selectRows("users", inIds, ids),
      {
        sql: `SELECT ${TRANSITIONS} WHERE t.no IN (
          SELECT no FROM orders WHERE id IN (SELECT value FROM json_each(?1))
          UNION ALL
          SELECT no FROM users WHERE id IN (SELECT value FROM json_each(?1)))
          ORDER BY t.seq`,
        args: [ids],
      },
    ]);
  const guard = guardOf(guarding);
  const subscribers = subscribersOf(subscribing);
  const orders = orderRows(ofOrders);
  const users = userRows(ofUsers);
  const log: ReadonlyMap<number, NewTransition[]> = Map.groupBy(
    logged.map(transitionOf),
    ({ no }) => no,
  );
  const statements: Statement[] = [];
  const told: NewTransition[] = [];
  for (const name of names) {
    const of: Map<string, AnyRow> = name.entity === "order" ? orders : users;
    const row = of.get(name.id);
    if (row === undefined) continue;
    const { no } = row;
    const before = log.get(no) ?? [];
    const news = name.machine === "release"
      ? releaseAgain(name, row.told, before)
      : stateAgain(name, row, before);
    if (news === null) continue;
    const transition = {
      ...news.transition,
      position: news.transition.position || guard.position,
    };
    const after = { ...row, told: news.told } as AnyRow;
    of.set(name.id, after);
    before.push(transition);
    told.push(transition);
    statements.push(
      {
        sql: "DELETE FROM log WHERE no = ? AND code = ? AND entry = ?",
        args: [no, codeOf(transition), transition.entry],
      },
      writeTold(after),
    );
  }
  if (told.length === 0) return 0;
  const lastSeq = Number(last?.[0]?.[0]);
  await driver.batch([
    moveGuard(guard),
    ...statements,
    ...logStatements(told, { orders, users }, { lastSeq, subscribers }),
  ], "write");
  return told.length;
}

/**
 * A release that was logged as not told, if it is what was logged last. Whoever it is
 * handed to passes the gate of releases: one that was withdrawn is not.
 */
function releaseAgain(
  { status, entry }: TransitionName,
  told: Told,
  log: readonly NewTransition[],
): News | null {
  const releases = log.filter(({ logged }) => logged !== null);
  const known = releases.findLast((one) =>
    one.logged?.entered === status && one.entry === entry
  );
  if (known === undefined || known.live) return null;
  const last = releases.at(-1);
  const isLast = last === known ||
    (last?.logged?.entered === "restored" && status === "yes");
  if (!isLast) return null;
  const sent = { live: true, withheld: false, historic: false };
  const transition = { ...known, ...sent };
  const after = tell(told, transition)?.told ?? told;
  const { release } = told;
  return {
    transition,
    told: release === undefined ? after : {
      ...after,
      release: { ...addRelease(release, transition), last: release.last },
    },
  };
}

/** What an order or a user shows, unless a subscription was told. */
function stateAgain(
  { machine, trust, status }: TransitionName,
  row: AnyRow,
  log: readonly NewTransition[],
): News | null {
  const shown = shownBy(row).find(({ transition }) =>
    transition.machine === machine && transition.trust === trust &&
    transition.status === status
  );
  if (shown === undefined) return null;
  const { transition, told } = shown;
  const known = log.findLast((one) =>
    codeOf(one) === codeOf(transition) && one.entry === transition.entry
  );
  if (known?.live) return null;
  const { previous, reverses } = known ?? transition;
  return { transition: { ...transition, previous, reverses }, told };
}

/** A yes that is sent waits for nobody any more. */
function writeTold({ no, fold, told }: AnyRow): Statement {
  const columns = "orderId" in fold
    ? `orders SET attention = iif(?1 ->> '$.withheld' IS NULL,
        nullif(replace(attention, ' yes_withheld', ''), ' '), attention),`
    : "users SET";
  return {
    sql: `UPDATE ${columns} told = ?1 WHERE no = ?2`,
    args: [JSON.stringify(told), no],
  };
}

/** What a subscription did not receive, because it is from before going live. */
export interface FiredHistory {
  /** Transitions that it subscribes to. */
  readonly transitions: number;
  /**
   * Releases that it subscribes to and that are left out: they may have been acted
   * on before. Send one that was not by its key.
   */
  readonly released: number;
}

/** Which history is sent. */
export interface FireHistoryOptions {
  /** Only counts. @default false */
  readonly dryRun?: boolean;
  /** Stops between two writes; the next call goes on from there. */
  readonly signal?: AbortSignal;
}

/** Sends nothing where the subscription does not exist. */
export async function fireHistoric(
  driver: Driver,
  name: string,
  { dryRun = false, signal }: FireHistoryOptions,
): Promise<FiredHistory> {
  let [transitions, released] = [0, 0];
  for (let after: number | null = null;;) {
    signal?.throwIfAborted();
    const page = await retryLostRaces(() =>
      firePage(driver, name, dryRun ? after ?? 0 : null)
    );
    if (page === null) return { transitions, released };
    transitions += page.transitions;
    released += page.released;
    after = page.to;
  }
}

/** One page; null when there is none. */
async function firePage(
  driver: Driver,
  name: string,
  counted: number | null,
): Promise<FiredHistory & { readonly to: number } | null> {
  const [found, rows = []] = await readDeciding(driver, [
    {
      sql: "SELECT patterns, historic_seq FROM subscriptions WHERE name = ?",
      args: [name],
    },
    {
      sql: `SELECT EXISTS (SELECT 1 FROM log AS l WHERE l.no = t.no
          AND l.seq > t.seq AND l.flags & ${LIVE} > 0), ${TRANSITIONS}
        WHERE t.flags > 1 AND t.flags & ${HISTORIC} > 0 AND t.flags & ${LIVE} = 0
          AND t.seq > max(coalesce(?2, 0),
            (SELECT historic_seq FROM subscriptions WHERE name = ?1))
        ORDER BY t.seq LIMIT ${PAGE}`,
      args: [name, counted],
    },
  ]);
  const [patterns, place = null] = found?.[0] ?? [];
  const historic = rows.map(([late, ...row]) => ({
    ...transitionOf(row),
    isLate: late === 1,
  }));
  const to = historic.at(-1)?.seq;
  if (to === undefined) return null;
  const taken = historic.filter(matching(JSON.parse(String(patterns))));
  // Goods are shipped on it.
  const sent = taken.filter(({ logged }) => logged?.release !== "yes");
  if (counted === null) {
    await driver.batch([
      expectRow("subscriptions", { name, historic_seq: Number(place) }),
      {
        sql: "UPDATE subscriptions SET historic_seq = ? WHERE name = ?",
        args: [to, name],
      },
      ...insertOutbox(name, sent),
    ], "write");
  }
  const released = taken.length - sent.length;
  return { transitions: sent.length, released, to };
}
