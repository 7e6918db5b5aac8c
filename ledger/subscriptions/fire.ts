/** States that no subscription received, and how a person has them told after all. */
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  type Entity,
  type MachineName,
  parseTransitionKey,
  transitionKey,
  type TransitionName,
} from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import {
  type Driver,
  readPrimary,
  type SqlValue,
  type Statement,
} from "../store/driver/driver.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import type { UserFold } from "../users/user_fold.ts";
import { userState } from "../users/user_state.ts";
import type { Row, Told } from "../projection/doc.ts";
import { guardOf, moveGuard, selectGuard } from "../projection/guard.ts";
import {
  addOrderRows,
  addUserRows,
  selectOrderRows,
  selectUserRows,
} from "../projection/load.ts";
import {
  HISTORIC,
  LIVE,
  transitionOf,
  TRANSITIONS,
  WITHHELD,
} from "../projection/log.ts";
import { LookupHash } from "../projection/lookup_hash.ts";
import { orderColumns, orderView } from "../projection/rows.ts";
import { listed, type Rows } from "../store/database.ts";
import {
  outboxStatements,
  selectSubscribers,
  subscribersOf,
} from "../projection/subscribers.ts";
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

/** Users of one read, when all are looked through. */
const USERS = 1000;

/** What a machine of an order or a user shows. */
interface Visible {
  readonly machine: MachineName;
  readonly trust: string;
  readonly status: string;
}

const codeOf = (entity: Entity, { machine, trust, status }: Visible): string =>
  entity === "order" ? `${trust}.${status}` : `${machine}.${trust}.${status}`;

function visibleOfUser(fold: UserFold): Visible[] {
  const { verification, verificationTrust, banned } = userState(fold);
  const machines = (["lkyc", "fkyc"] as const).flatMap((machine): Visible[] => {
    const status = verification[machine];
    const trust = verificationTrust[machine];
    return status && trust ? [{ machine, trust, status }] : [];
  });
  if (banned === null) return machines;
  const status = banned ? "banned" : "not_banned";
  return [...machines, { machine: "ban", trust: "confirmed", status }];
}

/** Which entry a visible state is, or would be; `isTold` where the log has it. */
function entryOf(
  { times, last }: Told,
  { machine, trust, status }: Visible,
  code: string,
): { readonly entry: number; readonly isTold: boolean } {
  const before = times[code];
  const recurs = machine !== "order" && trust === "confirmed";
  if (recurs && last[machine] !== status) {
    return { entry: (before ?? 0) + 1, isTold: false };
  }
  return { entry: before ?? 1, isTold: before !== undefined };
}

export async function listUnfired(
  driver: Driver,
  { imported, limit }: { readonly imported: boolean; readonly limit: number },
): Promise<Unfired[]> {
  const [releases, orders] = await driver.batch([
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
        WHERE t.seq IS NULL
          OR (?2 AND t.flags & ${LIVE} = 0 AND t.flags & ${HISTORIC} = 0)
        ORDER BY o.id LIMIT ?1`,
      args: [limit, imported ? 1 : 0],
    },
  ], "read");
  const unfired = (
    entity: Entity,
    id: SqlValue | undefined,
    { machine, trust, status }: Visible,
    entry: number,
  ): Unfired => {
    const state = { entity, machine, id: String(id), trust, status, entry };
    return { key: transitionKey(state), ...state };
  };
  return [
    ...(releases?.rows ?? []).map(([id, status, entry]) =>
      unfired("order", id, {
        machine: "release",
        trust: "release",
        status: String(status),
      }, Number(entry))
    ),
    ...(orders?.rows ?? []).map(([id, trust, status]) =>
      unfired("order", id, {
        machine: "order",
        trust: String(trust),
        status: String(status),
      }, 1)
    ),
    ...await unfiredUsers(driver, { imported, limit }, unfired),
  ];
}

async function unfiredUsers(
  driver: Driver,
  { imported, limit }: { readonly imported: boolean; readonly limit: number },
  unfired: (
    entity: Entity,
    id: string,
    visible: Visible,
    entry: number,
  ) => Unfired,
): Promise<Unfired[]> {
  const all: Unfired[] = [];
  for (let after = ""; all.length < limit;) {
    const [found] = await driver.batch([
      selectUserRows("u.id > ? ORDER BY u.id LIMIT ?", after, USERS),
    ], "read");
    const users = new Map<string, Row<UserFold>>();
    addUserRows(users, found?.rows);
    const silent = imported
      ? await silentOf(driver, [...users.values()])
      : null;
    for (const [id, { no, fold, told }] of users) {
      for (const visible of visibleOfUser(fold)) {
        const code = codeOf("user", visible);
        const { entry, isTold } = entryOf(told, visible, code);
        if (isTold && silent?.has(`${no} ${code} ${entry}`) !== true) continue;
        all.push(unfired("user", id, visible, entry));
      }
      after = id;
    }
    if (users.size < USERS) break;
  }
  return all.slice(0, limit);
}

/** What an import brought of users and nobody was told of. */
async function silentOf(
  driver: Driver,
  users: readonly Row<UserFold>[],
): Promise<Set<string>> {
  const [found] = await driver.batch([{
    sql: `SELECT no || ' ' || code || ' ' || entry FROM log
      WHERE no IN (SELECT value FROM json_each(?))
        AND flags & ${LIVE} = 0 AND flags & ${HISTORIC} = 0`,
    args: [listed(users.map(({ no }) => no))],
  }], "read");
  return new Set(found?.rows.map(([key]) => String(key)));
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

interface Entities {
  readonly orders: Map<string, Row<OrderFold>>;
  readonly users: Map<string, Row<UserFold>>;
}

async function fire(
  driver: Driver,
  given: AssetTable | undefined,
  names: readonly TransitionName[],
): Promise<number> {
  const ids = listed(names.map(({ id }) => id));
  const [guarding, subscribing, last, orderRows, userRows, logged] =
    (await readPrimary(driver, [
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
    ])).map(({ rows }): Rows => rows);
  const guard = guardOf(guarding);
  const assets = given ?? assetsOf(guard.environment);
  const subscribers = subscribersOf(subscribing);
  const entities: Entities = { orders: new Map(), users: new Map() };
  addOrderRows(entities.orders, orderRows);
  addUserRows(entities.users, userRows);
  const log = Map.groupBy(logged ?? [], ([, no]) => Number(no));
  const hash = new LookupHash(guard.key);
  const statements: Statement[] = [];
  let seq = Number(last?.[0]?.[0]);
  let fired = 0;
  for (const name of names) {
    const row = entities[name.entity === "order" ? "orders" : "users"].get(
      name.id,
    );
    if (row === undefined) continue;
    const rows = log.get(row.no) ?? [];
    const news = name.machine === "release"
      ? releaseAgain(name, row as Row<OrderFold>, rows)
      : stateAgain(name, row, { rows, position: guard.position, assets });
    if (news === null) continue;
    fired++;
    seq++;
    const [, no, code, entry] = news.row;
    const transition = {
      ...transitionOf([seq, ...news.row.slice(1), name.id, null]),
      ...{ live: true, withheld: false, historic: false },
    };
    statements.push(
      {
        sql: "DELETE FROM log WHERE no = ? AND code = ? AND entry = ?",
        args: [no ?? 0, code ?? "", entry ?? 1],
      },
      {
        sql: "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)",
        args: [seq, ...news.row.slice(1, 5), LIVE, news.row[6] ?? null],
      },
      ...outboxStatements(subscribers, transition, { seq, no: row.no }),
      ...toldStatements(name.entity, { ...row, told: news.told }, {
        assets,
        hash,
      }),
    );
    log.set(row.no, [...rows, [
      seq,
      ...news.row.slice(1, 5),
      LIVE,
      news.row[6] ?? null,
    ]]);
    (entities[name.entity === "order" ? "orders" : "users"] as Map<
      string,
      unknown
    >).set(name.id, { ...row, told: news.told });
  }
  if (fired > 0) await driver.batch([moveGuard(guard), ...statements], "write");
  return fired;
}

interface News {
  /** As it stands in the log, but for its place. */
  readonly row: Rows[number];
  readonly told: Told;
}

/**
 * A release that was logged as not told, if it is what was logged last. Whoever it is
 * handed to passes the gate of releases: one that was withdrawn is not.
 */
function releaseAgain(
  { status, entry }: TransitionName,
  { told }: Row<OrderFold>,
  rows: Rows,
): News | null {
  const releases = rows.filter(([, , code]) =>
    String(code).startsWith("release.")
  );
  const row = releases.findLast(([, , code, at]) =>
    code === `release.${status}` && at === entry
  );
  const last = releases.at(-1);
  if (row === undefined || (Number(row[5]) & LIVE) !== 0) return null;
  const isLast = last === row ||
    (last?.[2] === "release.restored" && status === "yes");
  if (!isLast) return null;
  const { withheld: _, ...rest } = told;
  const release = told.release && {
    ...told.release,
    sent: true,
    sentUnchecked: told.release.sentUnchecked || status === "unchecked",
    owed: status === "yes" ? false : told.release.owed,
  };
  return { row, told: release === undefined ? rest : { ...rest, release } };
}

/** What an order or a user shows, unless it was told. */
function stateAgain(
  name: TransitionName,
  { no, fold, told }: Row<OrderFold> | Row<UserFold>,
  { rows, position, assets }: {
    readonly rows: Rows;
    readonly position: number;
    readonly assets: AssetTable;
  },
): News | null {
  const order = "orderId" in fold
    ? orderView({ fold, told }, { assets })
    : null;
  const visible: Visible[] = order === null
    ? visibleOfUser(fold as UserFold)
    : [{ machine: "order", trust: order.trust, status: order.status }];
  const found = visible.find(({ machine, trust, status }) =>
    machine === name.machine && trust === name.trust && status === name.status
  );
  if (found === undefined) return null;
  const code = codeOf(name.entity, found);
  const { entry } = entryOf(told, found, code);
  const row = rows.findLast((one) => one[2] === code && one[3] === entry);
  if (row !== undefined && (Number(row[5]) & LIVE) !== 0) return null;
  const changed = order?.anomalies.find(({ kind }) => kind === "final_changed");
  const reverses = changed !== undefined && "before" in changed
    ? changed.before
    : [];
  const more = row?.[6] ??
    (reverses.length === 0 ? null : JSON.stringify({ reverses }));
  return {
    row: [0, no, code, entry, position, LIVE, more],
    told: {
      ...told,
      times: { ...told.times, [code]: entry },
      last: found.machine === "order" || found.trust !== "confirmed"
        ? told.last
        : { ...told.last, [found.machine]: found.status },
    },
  };
}

/** Writes what was told, and what follows from it for who looks after the order. */
function toldStatements(
  entity: Entity,
  row: Row<OrderFold> | Row<UserFold>,
  { assets, hash }: { readonly assets: AssetTable; readonly hash: LookupHash },
): Statement[] {
  const told = JSON.stringify(row.told);
  if (entity === "user") {
    return [{
      sql: "UPDATE users SET told = ? WHERE no = ?",
      args: [told, row.no],
    }];
  }
  const order = row as Row<OrderFold>;
  const { attention = null } = orderColumns(
    order,
    orderView(order, { assets }),
    hash,
  );
  return [{
    sql: "UPDATE orders SET told = ?, attention = ? WHERE no = ?",
    args: [told, attention, row.no],
  }];
}
