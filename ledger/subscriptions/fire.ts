/** States that no subscription received, and how a person has them told after all. */
import { matching } from "../machines/pattern.ts";
import {
  type Entity,
  type MachineName,
  type NewTransition,
  parseTransitionKey,
  transitionKey,
  type TransitionName,
  transitionName,
} from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { otherFinals } from "../orders/order_status.ts";
import {
  orderRows,
  type Row,
  selectRows,
  type Table,
  userRows,
} from "../projection/rows.ts";
import { guardOf, moveGuard, selectGuard } from "../projection/guard.ts";
import {
  codeOf,
  HISTORIC,
  insertOutbox,
  LAST_SEQ,
  LIVE,
  type LoggedTransition,
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
  statement,
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

/** @param imported Whether to list what an import brought. */
export async function listUnfired(
  driver: Driver,
  imported: boolean,
  limit: number,
): Promise<Unfired[]> {
  // A yes that waits for a person comes before whatever else was not told.
  const [waiting] = await read(driver, [selectRows(
    "orders",
    `r.told ->> '$.withheld' IS NOT NULL AND r.no IN (SELECT no FROM log
      WHERE flags > 1 AND flags & ${WITHHELD} > 0) LIMIT ?`,
    limit,
  )]);
  return [
    ...[...orderRows(waiting)].map(([id, { told }]) => {
      const [status = "", entry = 1] = told.withheld ?? [];
      return unfired({
        ...{ entity: "order", machine: "release", trust: "release" } as const,
        ...{ id, status, entry, logged: null },
      });
    }),
    ...await unfiredOf(driver, "orders", imported, limit),
    ...await unfiredOf(driver, "users", imported, limit),
  ];
}

function unfired(
  { id, entry, ...one }: TransitionName & Pick<NewTransition, "logged">,
): Unfired {
  const { entity, machine, trust, status } = transitionName(one);
  const state = { entity, machine, id, trust, status, entry };
  return { key: transitionKey(state), ...state };
}

async function unfiredOf(
  driver: Driver,
  table: Table,
  imported: boolean,
  limit: number,
): Promise<Unfired[]> {
  const all: Unfired[] = [];
  const page = "r.id > ?1 ORDER BY r.id LIMIT ?2";
  for (let [after, size] = ["", PAGE]; size === PAGE && all.length < limit;) {
    const [rows = [], logged = []] = await read(driver, [
      selectRows(table, page, after, PAGE),
      statement(
        `SELECT no || ' ' || code || ' ' || entry FROM log
          WHERE no IN (SELECT r.no FROM ${table} AS r WHERE ${page})
            AND (?3 = 0 OR flags & ${LIVE + HISTORIC} > 0)`,
        ...[after, PAGE, imported ? 1 : 0],
      ),
    ]);
    [after, size] = [String(rows.at(-1)?.[1]), rows.length];
    const known = new Set(logged.flat());
    const found: Map<string, AnyRow> = ROWS_OF[table](rows);
    for (const row of found.values()) {
      for (const shown of shownBy(row)) {
        const key = `${row.no} ${codeOf(shown)} ${shown.entry}`;
        if (!known.has(key)) all.push(unfired(shown));
      }
    }
  }
  return all.slice(0, limit);
}

type AnyRow = Row<OrderFold> | Row<UserFold>;

const ROWS_OF = { orders: orderRows, users: userRows };

/** What the machines of an order or user show, as it was told or would be now. */
function shownBy({ fold, told }: AnyRow): NewTransition[] {
  const [who, machines] = "orderId" in fold
    ? [{ entity: "order", id: fold.orderId } as const, orderMachines(fold)]
    : [{ entity: "user", id: fold.userId } as const, userMachines(fold)];
  return machines.flatMap(({ machine, visible }) => {
    if (visible === null) return [];
    const isOrder = "orderId" in fold && machine === "order";
    const transition: NewTransition = {
      ...{ ...who, machine, ...visible, entry: 1, previous: null },
      reverses: isOrder ? otherFinals(fold) : [],
      ...{ logged: null, after: [], position: 0, recordedAt: "", ...SENT },
    };
    const entry = told.times[codeOf(transition)] ?? 1;
    return [tell(told, transition)?.transition ?? { ...transition, entry }];
  });
}

const SENT = { live: true, withheld: false, historic: false };

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
  const named = "id IN (SELECT value FROM json_each(?1))";
  const [guarding, subscribing, last, ofOrders, ofUsers, logged = []] =
    await readDeciding(driver, [
      selectGuard,
      selectSubscribers,
      statement(`SELECT ${LAST_SEQ}`),
      selectRows("orders", `r.${named}`, ids),
      selectRows("users", `r.${named}`, ids),
      statement(
        `SELECT ${TRANSITIONS} WHERE t.no IN (SELECT no FROM orders
          WHERE ${named} UNION ALL SELECT no FROM users WHERE ${named})
          ORDER BY t.seq`,
        ids,
      ),
    ]);
  const guard = guardOf(guarding);
  const orders = orderRows(ofOrders);
  const users = userRows(ofUsers);
  const log = Map.groupBy(logged.map(transitionOf), ({ no }) => no);
  const statements: Statement[] = [];
  const fired: NewTransition[] = [];
  for (const name of names) {
    const of: Map<string, AnyRow> = name.entity === "order" ? orders : users;
    const row = of.get(name.id);
    if (row === undefined) continue;
    const key = transitionKey(name);
    const before = log.get(row.no) ?? [];
    const known = before.find((one) => one.key === key);
    const found = name.machine === "release"
      ? isLastRelease(key, before) ? known : undefined
      : shownBy(row).find((one) => unfired(one).key === key);
    if (found === undefined || known?.live) continue;
    const { position } = guard;
    const transition = { ...found, position, ...known, ...SENT };
    const told = tell(row.told, transition)?.told ?? row.told;
    const { release } = told;
    const after = {
      ...row,
      told: release === undefined ? told : {
        ...told,
        release: { ...addRelease(release, transition), last: release.last },
      },
    } as AnyRow;
    of.set(name.id, after);
    fired.push(transition);
    if (known !== undefined) {
      statements.push(
        // What was from before the ledger went live may have been sent to some.
        statement(
          `DELETE FROM outbox
            WHERE name IN (SELECT name FROM subscriptions) AND seq = ?`,
          known.seq,
        ),
        statement("DELETE FROM log WHERE seq = ?", known.seq),
      );
    }
    statements.push(writeTold(after));
  }
  if (fired.length === 0) return 0;
  const lastSeq = Number(last?.[0]?.[0]);
  const subscribers = subscribersOf(subscribing);
  await driver.batch([
    moveGuard(guard),
    ...statements,
    ...logStatements(fired, { orders, users }, { lastSeq, subscribers }),
  ], "write");
  return fired.length;
}

/**
 * Whoever a release is handed to passes the gate of releases: a `yes` that was
 * withdrawn, and not restored, is handed to nobody.
 */
function isLastRelease(
  key: string,
  log: readonly LoggedTransition[],
): boolean {
  const last = log.findLast(({ logged }) => logged !== null);
  return last?.key === key || (last?.logged?.entered === "restored" &&
    log.find((one) => one.key === key)?.logged?.entered === "yes");
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
  let [transitions, released, place] = [0, 0, 0];
  const firePage = async () => {
    const [[found = []] = [], rows = []] = await readDeciding(driver, [
      statement(
        "SELECT patterns, historic_seq FROM subscriptions WHERE name = ?",
        name,
      ),
      statement(
        `SELECT EXISTS (SELECT 1 FROM log AS l WHERE l.no = t.no
            AND l.seq > t.seq AND l.flags & ${LIVE} > 0), ${TRANSITIONS}
          WHERE t.flags > 1 AND t.flags & ${HISTORIC} > 0
            AND t.flags & ${LIVE} = 0 AND t.seq > max(?2,
              (SELECT historic_seq FROM subscriptions WHERE name = ?1))
          ORDER BY t.seq LIMIT ${PAGE}`,
        ...[name, place],
      ),
    ]);
    const historic = rows.map(([late, ...row]) => ({
      ...transitionOf(row),
      isLate: late === 1,
    }));
    const to = historic.at(-1)?.seq;
    if (to === undefined) return false;
    const taken = historic.filter(matching(JSON.parse(String(found[0]))));
    // Goods are shipped on it.
    const sent = taken.filter(({ logged }) => logged?.release !== "yes");
    if (!dryRun) {
      await driver.batch([
        expectRow("subscriptions", { name, historic_seq: Number(found[1]) }),
        statement(
          "UPDATE subscriptions SET historic_seq = ? WHERE name = ?",
          ...[to, name],
        ),
        ...insertOutbox(name, sent),
      ], "write");
    }
    transitions += sent.length;
    released += taken.length - sent.length;
    place = to;
    return true;
  };
  do signal?.throwIfAborted(); while (await retryLostRaces(firePage));
  return { transitions, released };
}
