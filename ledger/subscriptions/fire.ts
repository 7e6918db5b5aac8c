/** States that no subscription received, and how a person has them told after all. */
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  type Entity,
  type MachineName,
  type NewTransition,
  parseTransitionKey,
  transitionKey,
  type TransitionName,
} from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { otherFinals } from "../orders/readings.ts";
import type { Row, Told } from "../projection/doc.ts";
import { guardOf, moveGuard, selectGuard } from "../projection/guard.ts";
import {
  addOrderRows,
  addUserRows,
  selectOrderRows,
  selectUserRows,
} from "../projection/load.ts";
import {
  codeOf,
  HISTORIC,
  insertTransition,
  LIVE,
  tell,
  transitionOf,
  TRANSITIONS,
  WITHHELD,
} from "../projection/log.ts";
import { LookupHash } from "../projection/lookup_hash.ts";
import { orderColumns, orderView } from "../projection/rows.ts";
import {
  type MachineStatus,
  orderMachines,
  userMachines,
} from "../projection/step.ts";
import {
  insertOutbox,
  outboxStatements,
  selectSubscribers,
  subscribersOf,
} from "../projection/subscribers.ts";
import { addRelease } from "../releases/release_log.ts";
import { expectRow, listed, read, readDeciding } from "../store/database.ts";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import type { UserFold } from "../users/user_fold.ts";

import { matching } from "../machines/pattern.ts";
import { assetsOf } from "./release_gate.ts";

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
  const [releases = [], orders = []] = await read(driver, [
    {
      sql: `SELECT o.id, CASE t.code WHEN 'release.restored' THEN 'yes'
          ELSE substr(t.code, 9) END,
          CASE t.code WHEN 'release.restored' THEN 1 ELSE t.entry END
        FROM log AS t JOIN orders AS o ON o.no = t.no
        WHERE t.flags > 1 AND t.flags & ${WITHHELD} > 0 AND t.flags & ${LIVE} = 0
          AND NOT EXISTS (SELECT 1 FROM log AS l WHERE l.no = t.no
            AND l.code GLOB 'release.*' AND l.seq > t.seq)
        ORDER BY t.seq LIMIT ?`,
      args: [limit],
    },
    {
      sql: `SELECT o.id, o.trust, o.status FROM orders AS o
        LEFT JOIN log AS t ON t.no = o.no AND t.entry = 1
          AND t.code = o.trust || '.' || o.status
        WHERE t.seq IS NULL OR (?2 AND ${isSilent})
        ORDER BY o.id LIMIT ?1`,
      args: [limit, imported ? 1 : 0],
    },
  ]);
  return [
    ...releases.map(([id, status, entry]) =>
      unfired("order", "release", [id, "release", status, entry])
    ),
    ...orders.map((row) => unfired("order", "order", [...row, 1])),
    ...await unfiredUsers(driver, imported, limit),
  ];
}

function unfired(
  entity: Entity,
  machine: MachineName,
  [id, trust, status, entry]: readonly (SqlValue | undefined)[],
): Unfired {
  const state = {
    ...{ entity, machine, id: String(id), trust: String(trust) },
    ...{ status: String(status), entry: Number(entry) },
  };
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
      selectUserRows("u.id > ? ORDER BY u.id LIMIT ?", after, PAGE),
    ]);
    const users = new Map<string, Row<UserFold>>();
    addUserRows(users, rows);
    const [told = []] = !imported ? [] : await read(driver, [{
      sql: `SELECT no || ' ' || code || ' ' || entry FROM log AS t
        WHERE no IN (SELECT value FROM json_each(?)) AND ${isSilent}`,
      args: [listed([...users.values()].map(({ no }) => no))],
    }]);
    const silent = new Set(told.map(([key]) => key));
    for (const [id, row] of users) {
      for (const { machine, visible } of userMachines(row.fold)) {
        if (visible === null) continue;
        const { trust, status } = visible;
        const shown = newTransition({ entity: "user", machine, id }, visible);
        const news = tell(row.told, shown);
        const code = codeOf(shown);
        const entry = news?.transition.entry ?? row.told.times[code] ?? 1;
        if (news === null && !silent.has(`${row.no} ${code} ${entry}`)) {
          continue;
        }
        all.push(unfired("user", machine, [id, trust, status, entry]));
      }
      after = id;
    }
    if (users.size < PAGE) break;
  }
  return all.slice(0, limit);
}

function newTransition(
  who: Pick<NewTransition, "entity" | "machine" | "id">,
  { trust, status }: NonNullable<MachineStatus["visible"]>,
): NewTransition {
  return {
    ...{ ...who, trust, status, entry: 1, previous: null, reverses: [] },
    ...{ logged: null, after: [], position: 0, recordedAt: "" },
    ...{ live: true, withheld: false, historic: false },
  };
}

/** Logs states as news, unless they were; returns how many. */
export function fireStates(
  driver: Driver,
  assets: AssetTable | undefined,
  keys: readonly string[],
): Promise<number> {
  const names = keys.flatMap(parseTransitionKey);
  if (names.length === 0) return Promise.resolve(0);
  return retryLostRaces(() => fire(driver, assets, names));
}

type AnyRow = Row<OrderFold> | Row<UserFold>;

async function fire(
  driver: Driver,
  given: AssetTable | undefined,
  names: readonly TransitionName[],
): Promise<number> {
  const ids = listed(names.map(({ id }) => id));
  const [guarding, subscribing, last, orderRows, userRows, logged = []] =
    await readDeciding(driver, [
      selectGuard,
      selectSubscribers,
      { sql: "SELECT coalesce(max(seq), 0) FROM log", args: [] },
      selectOrderRows("o.id IN (SELECT value FROM json_each(?))", ids),
      selectUserRows("u.id IN (SELECT value FROM json_each(?))", ids),
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
  const assets = given ?? assetsOf(guard.environment);
  const hash = new LookupHash(guard.key);
  const subscribers = subscribersOf(subscribing);
  const orders = new Map<string, Row<OrderFold>>();
  const users = new Map<string, Row<UserFold>>();
  addOrderRows(orders, orderRows);
  addUserRows(users, userRows);
  const rows = { order: new Map<string, AnyRow>(orders), user: users };
  const log: ReadonlyMap<number, NewTransition[]> = Map.groupBy(
    logged.map(transitionOf),
    ({ no }) => no,
  );
  const statements: Statement[] = [];
  let seq = Number(last?.[0]?.[0]);
  let fired = 0;
  for (const name of names) {
    const of: Map<string, AnyRow> = rows[name.entity];
    const row = of.get(name.id);
    if (row === undefined) continue;
    const { no } = row;
    const before = log.get(no) ?? [];
    const news = name.machine === "release"
      ? releaseAgain(name, row.told, before)
      : stateAgain(name, row, before, guard.position);
    if (news === null) continue;
    const transition = {
      ...news.transition,
      ...{ live: true, withheld: false, historic: false },
    };
    const after = { ...row, told: news.told } as AnyRow;
    of.set(name.id, after);
    before.push(transition);
    fired++;
    seq++;
    statements.push(
      {
        sql: "DELETE FROM log WHERE no = ? AND code = ? AND entry = ?",
        args: [no, codeOf(transition), transition.entry],
      },
      insertTransition(transition, { seq, no }),
      ...outboxStatements(subscribers, [{ transition, seq, no }]),
      writeTold(after, { assets, hash }),
    );
  }
  if (fired > 0) await driver.batch([moveGuard(guard), ...statements], "write");
  return fired;
}

/** What is logged of an order or user, and what was told of it then. */
interface News {
  readonly transition: NewTransition;
  readonly told: Told;
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
  const transition = { ...known, live: true, withheld: false };
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

/** What an order or a user shows, unless it was told. */
function stateAgain(
  name: TransitionName,
  { fold, told }: AnyRow,
  log: readonly NewTransition[],
  position: number,
): News | null {
  const machines = "orderId" in fold ? orderMachines(fold) : userMachines(fold);
  const visible = machines.find(({ machine }) => machine === name.machine)
    ?.visible ?? null;
  if (visible?.status !== name.status || visible.trust !== name.trust) {
    return null;
  }
  const transition = {
    ...newTransition(name, visible),
    position,
    reverses: "orderId" in fold ? otherFinals(fold) : [],
  };
  const news = tell(told, transition);
  if (news !== null) return news;
  // Told, but perhaps to nobody.
  const code = codeOf(transition);
  const entry = told.times[code] ?? 1;
  const known = log.findLast((one) =>
    codeOf(one) === code && one.entry === entry
  );
  if (known?.live) return null;
  const { previous = null, reverses } = known ?? transition;
  return { transition: { ...transition, entry, previous, reverses }, told };
}

/** Writes what was told, and what follows from it for who looks after the order. */
function writeTold(
  row: AnyRow,
  { assets, hash }: { readonly assets: AssetTable; readonly hash: LookupHash },
): Statement {
  const told = JSON.stringify(row.told);
  const { no, fold } = row;
  if (!("orderId" in fold)) {
    return { sql: "UPDATE users SET told = ? WHERE no = ?", args: [told, no] };
  }
  const order = { ...row, fold };
  const { attention = null } = orderColumns(
    order,
    orderView(order, { assets }),
    hash,
  );
  return {
    sql: "UPDATE orders SET told = ?, attention = ? WHERE no = ?",
    args: [told, attention, no],
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
      firePage(driver, name, { after, dryRun })
    );
    if (page === null) return { transitions, released };
    transitions += page.transitions;
    released += page.released;
    // What was written is where the next page begins, whoever wrote it.
    after = dryRun ? page.to : null;
  }
}

/** One page; null when there is none. */
async function firePage(
  driver: Driver,
  name: string,
  { after, dryRun }: {
    readonly after: number | null;
    readonly dryRun: boolean;
  },
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
          AND t.seq > coalesce(?2,
            (SELECT historic_seq FROM subscriptions WHERE name = ?1))
        ORDER BY t.seq LIMIT ${PAGE}`,
      args: [name, after],
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
  if (!dryRun) {
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
