/** What each subscription has still to be told. */
import type { AssetTable } from "../../core/assets/environment.ts";
import type { Release } from "../outcomes/outcome_table.ts";
import type { OrderState } from "../states/order_state.ts";
import { type UserState, userState } from "../users/user_state.ts";
import {
  type Driver,
  listed,
  type ResultSet,
  type Rows,
  type Statement,
} from "../store/database.ts";
import {
  matcher,
  type TransitionPattern,
  type UnlistedPattern,
} from "../machines/pattern.ts";
import type { Transition } from "../machines/transition.ts";
import {
  isHeld,
  type LoggedTransition,
  transitionOf,
  TRANSITIONS,
  YES,
} from "../projection/log.ts";
import { grouped } from "../../core/waiting/waiting.ts";
import { unpackUser } from "../projection/rows.ts";
import { ORDER_COLUMNS, orderOfRow } from "../reads/orders.ts";

/**
 * Called for each transition, at least once: again when it throws, and after a
 * crash. Remember `transition.key` to recognise a repeat.
 */
export type TransitionHandler = (
  transition: Transition,
  context: {
    /** Attempts including this one, from 1. */
    readonly attempt: number;
    /** Aborted when the subscription is stopped. */
    readonly signal: AbortSignal;
    /**
     * The order or user as it is now, which may be another status than that of
     * the transition; null when the ledger has none.
     */
    readonly state: OrderState | UserState | null;
    /** Position of the last event that `state` has in it. */
    readonly position: number;
    /** Whether it still shows the status and trust of the transition. */
    readonly current: boolean;
    /**
     * Of an order, whether the goods may be released by what is known now;
     * null of a user. Release goods on `yes` only.
     */
    readonly release: Release | null;
    /** Why, one code; null of a user. */
    readonly releaseReason: OrderState["releaseReason"] | null;
    /**
     * Of an order, the partner's own reference that it was matched with: what
     * to release. Never what the click id stands for: under one click id several
     * baskets may have been expected. Null where it matches none, and of a user.
     */
    readonly reference: string | null;
    /**
     * Keys of earlier transitions of the same order or user that failed
     * permanently: the handler never completed them.
     */
    readonly missed: readonly string[];
    /**
     * True of a dead letter that is delivered again after later transitions of
     * its order or user were.
     */
    readonly late: boolean;
  },
) => void | Promise<void>;

/** Which transitions a subscription receives, and how it handles failures. */
export interface SubscribeOptions {
  /**
   * What to receive: `order.release.yes`, or several such patterns. Those
   * that name no state of a machine do not compile, and throw a `TypeError`;
   * see {@linkcode unlisted} for statuses that this version does not know.
   */
  readonly on:
    | TransitionPattern
    | UnlistedPattern
    | readonly (TransitionPattern | UnlistedPattern)[];
  /**
   * Where a name that was never used before begins: with what happens from
   * `now` on, or at the `start` of the ledger. A known name goes on where it
   * was.
   *
   * @default "now"
   */
  readonly from?: "now" | "start";
  /**
   * How many orders and users the handler is called for at a time; within each
   * of them one call follows the other.
   *
   * @default 16
   */
  readonly concurrency?: number;
  /**
   * Attempts before a transition is dead. Later ones of its order or user go on
   * without it, and name it as `missed`.
   *
   * @default 10
   */
  readonly maxAttempts?: number;
  /**
   * Wait after a failed attempt, in ms and at most 31 days, by how many were
   * made and what the last one failed with.
   *
   * @default one second, doubled each time, up to an hour
   */
  readonly retryDelayMs?: (attempt: number, error: unknown) => number;
  /**
   * How long after a crash another process takes over this name, in ms: the
   * duration of the lease, which the delivering process keeps renewing.
   *
   * @default 10_000
   */
  readonly leaseMs?: number;
  /**
   * Called when this process begins to deliver, and when it begins to wait
   * because another one delivers under this name.
   */
  readonly onTurn?: (turn: "delivers" | "waits") => void;
  /**
   * Interval between two looks for transitions of other processes, in ms.
   *
   * @default 1000
   */
  readonly idleMs?: number;
  /** Called when the database fails; the subscription continues automatically. */
  readonly onError?: (error: unknown) => void;
  /**
   * Whether it delivers automatically; if not, call
   * {@linkcode Subscription.dispatch}.
   *
   * @default true
   */
  readonly start?: boolean;
  /** Steady clock, in ms; passed in by tests. */
  readonly steadyNow?: () => number;
  /** Waits; passed in by tests. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** What one call of {@linkcode Subscription.dispatch} did. */
export interface Dispatched {
  /** Transitions that the handler completed. */
  readonly delivered: number;
  /** Calls of the handler that failed. */
  readonly failed: number;
  /** Set when nothing was delivered because another process delivers. */
  readonly isWaiting?: true;
}

/** What a subscription works with. */
export interface SubscriptionParts {
  readonly driver: Driver;
  /** The clock, in ms. */
  readonly now: () => number;
  readonly name: string;
  readonly options: SubscribeOptions;
  readonly handler: TransitionHandler;
  /** That of the ledger: its states say what its fold has decided. */
  readonly assets: AssetTable;
  /**
   * Longest wait before another attempt, in ms. What would be due later was
   * queued while the clock was ahead, and is due at once.
   *
   * @default {31 days}
   */
  readonly longestDelayMs?: number;
  /** Names this process in the lease. @default {a new name} */
  readonly holder?: string;
  /** Asked before each turn: whether it may begin. @default {it may} */
  readonly mayBegin?: () => Promise<boolean>;
  /** Called after each renewal of the lease. */
  readonly onRenewed?: () => Promise<void>;
}

/**
 * Where a row stands: one that waits comes after one of its order or user that failed
 * and is tried again; `passed` is dead, and a later one was told; `late` is such a one
 * that is told after all.
 */
type OutboxState = "due" | "waiting" | "dead" | "passed" | "late";

export interface OutboxRow {
  readonly transition: LoggedTransition;
  readonly state: OutboxState;
  /** How often the handler was called. */
  readonly attempts: number;
  /** When it is told next, ms; 0 if that was never tried, 1 for at once. */
  readonly dueAt: number;
  readonly error: string | null;
}

/** Selects what {@linkcode outboxRowOf} reads; `b` is the outbox. */
export function selectOutbox(where: string, from = "outbox AS b"): string {
  return `SELECT b.state, b.attempts, b.due_at, b.error, ${
    withTransitions(from)
  } WHERE ${where}`;
}

/** Columns of the transitions that the rows of a table `b` point to. */
function withTransitions(from: string): string {
  return TRANSITIONS.replace(
    "log AS t",
    `${from} JOIN log AS t ON t.seq = b.seq`,
  );
}

export function outboxRowOf(
  [state, attempts, dueAt, error, ...row]: Rows[number],
): OutboxRow {
  return {
    transition: transitionOf(row),
    state: state as OutboxState,
    attempts: Number(attempts),
    dueAt: Number(dueAt ?? 0),
    error: (error ?? null) as string | null,
  };
}

function ofRows(
  sql: string,
  name: string,
  rows: readonly unknown[],
): Statement[] {
  return rows.length === 0 ? [] : [{ sql, args: [name, JSON.stringify(rows)] }];
}

/** Reads what is due: what is new, what is tried again, and what comes late. */
export async function readDue(
  driver: Driver,
  name: string,
  { now, latest, fresh, again }: {
    readonly now: number;
    /** What is due later than this was put off by a clock that was ahead. */
    readonly latest: number;
    /** How many rows that were never tried, and others, at most. */
    readonly fresh: number;
    readonly again: number;
  },
): Promise<OutboxRow[]> {
  const some = (state: OutboxState, due: string, limit = "?5") =>
    `SELECT * FROM (SELECT seq FROM outbox WHERE name = ?1
      AND state = '${state}' AND due_at ${due} ORDER BY due_at, seq LIMIT ${limit})`;
  const due = [
    some("due", "= 0", "?4"),
    some("due", "BETWEEN 1 AND ?2"),
    some("due", "> ?3"),
    some("late", "<= ?2"),
    some("late", "> ?3"),
  ].join(" UNION ALL ");
  const [found] = await driver.batch([{
    sql: selectOutbox(`b.name = ?1 AND b.seq IN (${due}) ORDER BY b.seq`),
    args: [name, now, latest, fresh, again],
  }], "read");
  return found?.rows.map(outboxRowOf) ?? [];
}

/** How the telling of a transition ended. */
export interface Ended {
  readonly seq: number;
  readonly no: number;
  /** Attempts before; a row that was settled by others since stays as it is. */
  readonly before: number;
  readonly after: "told" | Omit<OutboxRow, "transition">;
}

/** A subquery of rows of the orders and users that JSON names, by their index. */
const ofNamed = (where: string) =>
  `seq IN (SELECT b.seq FROM json_each(?2) AS w CROSS JOIN outbox AS b
    INDEXED BY outbox_entity ON b.name = ?1 AND b.no = w.value ->> 0
    WHERE ${where})`;

/** The statements that write how it went; writing them twice changes nothing. */
export function settle(name: string, ended: readonly Ended[]): Statement[] {
  const told = ended.filter(({ after }) => after === "told")
    .map(({ no, seq }) => [no, seq]);
  return [
    ...ended.flatMap(({ seq, before, after }) =>
      typeof after === "string" ? [] : [{
        sql: `UPDATE outbox SET state = ?, attempts = ?, due_at = ?, error = ?
          WHERE name = ? AND seq = ? AND attempts = ?`,
        args: [
          ...[after.state, after.attempts, after.dueAt, after.error],
          ...[name, seq, before],
        ],
      }]
    ),
    ...ofRows(
      `DELETE FROM outbox
        WHERE name = ?1 AND seq IN (SELECT value ->> 1 FROM json_each(?2))`,
      name,
      told,
    ),
    // What came before one that was told is overtaken.
    ...ofRows(
      `UPDATE outbox SET state = CASE state WHEN 'dead' THEN 'passed' ELSE 'late' END
        WHERE name = ?1 AND +state IN ('dead', 'due')
          AND ${ofNamed("b.seq < w.value ->> 1")}`,
      name,
      told,
    ),
    ...ofRows(
      `UPDATE outbox SET state = iif(state = 'due', 'waiting', 'due')
        WHERE name = ?1 AND ${
        ofNamed(`b.state IN ('due', 'waiting')
          AND (b.state = 'waiting') <> ${isHeld("b.no", "b.seq")}`)
      }`,
      name,
      [...new Set(ended.map(({ no }) => no))].map((no) => [no]),
    ),
    ...ofRows(
      `UPDATE handed SET state = 'taken' WHERE name = ?1 AND state = 'begun'
        AND no IN (SELECT value ->> 0 FROM json_each(?2))
        AND seq IN (SELECT value ->> 1 FROM json_each(?2))`,
      name,
      told,
    ),
  ];
}

/** Notes up to where everything that it takes was told, or was tried. */
export function movePlace(name: string): Statement {
  return {
    sql: `UPDATE subscriptions SET seq = max(seq, coalesce(
        (SELECT b.seq - 1 FROM outbox AS b WHERE b.name = ?1
          AND b.state = 'due' AND b.due_at = 0 ORDER BY b.seq LIMIT 1),
        (SELECT max(seq) FROM log), 0)) WHERE name = ?1`,
    args: [name],
  };
}

/** Lets what waits for its next attempt be told at once. */
export function hasten(name: string, now: number): Statement {
  return {
    sql: `UPDATE outbox SET due_at = 1 WHERE name = ?1
      AND state IN ('due', 'late') AND due_at > ?2`,
    args: [name, now],
  };
}

/** What is to be handed over, and what is known then. */
export interface Passed {
  /** As the handler is to see it; null for nothing. */
  readonly transition: LoggedTransition | null;
  /** Position of the last event that was folded. */
  readonly position: number;
  /** The order or user as it is now; null when there is none. */
  readonly state: OrderState | UserState | null;
  /** What is in the outbox of the same order or user and comes before. */
  readonly earlier: readonly LoggedTransition[];
}

/**
 * Decides what is handed over in place of a transition: a `yes` that was withdrawn
 * meanwhile is parked, and handed over under its own key once the order is released
 * again. A withdrawal says that it takes back a `yes` to the handlers that were called
 * with it.
 */
export function releaseGate(
  { driver, name, assets, options }: SubscriptionParts,
  guard: () => readonly Statement[],
): (transition: LoggedTransition) => Promise<Passed> {
  const matches = matcher(options.on);
  const takesYes = matches(YES);
  const isDecided = ({ logged }: LoggedTransition) =>
    logged !== null && (takesYes || logged.entered === "yes");
  const look = async (group: readonly LoggedTransition[]) => {
    const nos = listed(group.map(({ no }) => no));
    const places = group.map(({ no, seq }) => [no, seq]);
    const begins = group.filter(isDecided).flatMap(({ no, seq, logged }) =>
      logged?.entered === "yes"
        ? [[no, seq]]
        : logged?.entered === "restored"
        ? [[no, null]]
        : []
    );
    const reads = [
      { sql: "SELECT position FROM ledger", args: [] },
      { sql: EARLIER, args: [name, JSON.stringify(places)] },
      { sql: HANDED, args: [name, nos] },
      { sql: ORDERS, args: [nos] },
      { sql: USERS, args: [nos] },
    ];
    const begin = { sql: BEGIN, args: [name, JSON.stringify(begins)] };
    const decide = async () =>
      (await driver.batch([...guard(), begin, ...reads], "write"))
        .slice(-reads.length);
    if (group.some(isDecided)) return await decide();
    const found = await driver.batch(reads, "read");
    const position = Number(found[0]?.rows[0]?.[0] ?? 0);
    // A replica may be behind the outbox that the transitions are from.
    const isBehind = group.some((one) => one.position > position);
    return isBehind ? await decide() : found;
  };
  return grouped(async (group: readonly LoggedTransition[]) => {
    const found = await look(group);
    const known = knownOf(found, assets);
    const handed = new Map(
      found[2]?.rows.map(([state, ...row]) => {
        const yes = transitionOf(row);
        return [yes.no, { state, yes }];
      }),
    );
    const handOver = (one: LoggedTransition) => {
      const { state, yes } = handed.get(one.no) ?? {};
      if (one.logged === null || !isDecided(one)) return one;
      const { entered } = one.logged;
      if (entered === "yes") return state === "begun" ? one : null;
      if (entered !== "restored") {
        const wasCalled = state !== undefined && state !== "parked";
        return wasCalled ? one : { ...one, reverses: [] };
      }
      if (yes !== undefined && state !== "taken") {
        return state === "begun" ? yes : null;
      }
      return matches(one) ? one : null;
    };
    return (one) => ({ ...known(one), transition: handOver(one) });
  });
}

/**
 * Marks each `yes` as begun if its order is still released, else as parked; in place
 * of `restored` the one that was not taken. One statement, so that no withdrawal comes
 * between the look and the mark.
 */
const BEGIN = `INSERT INTO handed (no, name, seq, state)
  SELECT o.no, ?1, coalesce(w.value ->> 1, h.seq), CASE
    WHEN o.told ->> '$.release.last.release' = 'yes' THEN 'begun' ELSE 'parked' END
  FROM json_each(?2) AS w CROSS JOIN orders AS o ON o.no = w.value ->> 0
    LEFT JOIN handed AS h ON h.no = o.no AND h.name = ?1
  WHERE w.value ->> 1 IS NOT NULL OR h.state <> 'taken'
  ON CONFLICT (no, name) DO UPDATE SET seq = excluded.seq,
    state = CASE WHEN excluded.state = 'parked' AND state <> 'parked'
      THEN 'stopped' ELSE excluded.state END`;

const EARLIER = selectOutbox(
  "true ORDER BY b.seq",
  `json_each(?2) AS w CROSS JOIN outbox AS b INDEXED BY outbox_entity
    ON b.name = ?1 AND b.no = w.value ->> 0 AND b.seq < w.value ->> 1`,
);

const HANDED = `SELECT b.state, ${withTransitions("handed AS b")}
  WHERE b.name = ? AND b.no IN (SELECT value FROM json_each(?))`;

const ORDERS = `SELECT r.no, ${ORDER_COLUMNS} FROM orders AS r
  WHERE r.no IN (SELECT value FROM json_each(?))`;

const USERS = `SELECT no, id, fold FROM users
  WHERE no IN (SELECT value FROM json_each(?))`;

/** Worked out for each that asked: a handler may change what it is given. */
function knownOf(
  [at, earlier, , orders, users]: readonly ResultSet[],
  assets: AssetTable,
): (transition: LoggedTransition) => Omit<Passed, "transition"> {
  const [position] = at?.rows[0] ?? [];
  const before = earlier?.rows.map((row) => outboxRowOf(row).transition) ?? [];
  const orderRows = new Map(orders?.rows.map(([no, ...row]) => [no, row]));
  const userRows = new Map(users?.rows.map(([no, ...row]) => [no, row]));
  const stateOf = (no: number) => {
    const order = orderRows.get(no);
    if (order !== undefined) {
      const { context: _context, activity: _activity, ...state } =
        orderOfRow(order, assets).order;
      return state;
    }
    const user = userRows.get(no);
    return user === undefined
      ? null
      : userState(unpackUser(String(user[0]), String(user[1])));
  };
  return ({ no, seq }) => ({
    position: Number(position ?? 0),
    state: stateOf(no),
    earlier: before.filter((one) => one.no === no && one.seq < seq),
  });
}

/**
 * Whether an order or user still shows what a transition says it entered; of a
 * release, whether it is still decided so.
 */
export function isCurrent(
  { machine, status, trust, logged }: LoggedTransition,
  state: Passed["state"],
): boolean {
  if (state === null) return false;
  if ("verification" in state) {
    return machine === "lkyc" || machine === "fkyc"
      ? state.verification[machine] === status &&
        state.verificationTrust[machine] === trust
      : state.banned === (status === "banned");
  }
  if (logged !== null) return state.release === logged.release;
  return machine === "witness"
    ? state.witness?.verdict === status
    : state.status === status && state.trust === trust;
}
