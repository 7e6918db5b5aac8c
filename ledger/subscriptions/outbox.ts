/** What each subscription has still to be told. */
import type { AssetTable } from "../../core/assets/environment.ts";
import type { Release } from "../outcomes/outcome_table.ts";
import type { OrderState } from "../states/order_state.ts";
import {
  type UserFold,
  type UserState,
  userState,
} from "../users/user_state.ts";
import { orderMachines, userMachines } from "../projection/step.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import {
  type Driver,
  listed,
  read,
  type Rows,
  type Statement,
  statement,
  write,
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
import {
  orderRows,
  orderView,
  type Row,
  selectRows,
  userRows,
} from "../projection/rows.ts";

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
export function selectOutbox(where: string): string {
  return `SELECT b.state, b.attempts, b.due_at, b.error, ${
    withTransitions("outbox AS b")
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

const some = (state: string, due: string, limit: string) =>
  `SELECT * FROM (SELECT seq FROM outbox WHERE name = ?1
    AND state = '${state}' AND due_at ${due} AND seq NOT IN known
    ORDER BY due_at, seq LIMIT ${limit})`;

/**
 * Selects what is due now, ?2: at most ?4 that were never tried, and ?5 others of each
 * kind. What is due later than ?3 was put off by a clock that was ahead. Places in the
 * log that ?6 lists are left out.
 */
export const SELECT_DUE =
  `WITH known AS MATERIALIZED (SELECT value FROM json_each(?6)) ${
    selectOutbox(
      `b.name = ?1 AND b.seq IN (${
        ["due", "late"].flatMap((state) => [
          some(state, "= 0", "?4"),
          some(state, "BETWEEN 1 AND ?2", "?5"),
          some(state, "> ?3", "?5"),
        ]).join(" UNION ALL ")
      }) ORDER BY b.seq`,
    )
  }`;

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
  const of = (rows: readonly Ended[], ...sqls: string[]) => {
    const args = [name, JSON.stringify(rows.map(({ no, seq }) => [no, seq]))];
    return rows.length === 0 ? [] : sqls.map((sql) => ({ sql, args }));
  };
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
    ...of(
      ended.filter(({ after }) => after === "told"),
      `DELETE FROM outbox
        WHERE name = ?1 AND seq IN (SELECT value ->> 1 FROM json_each(?2))`,
      // What came before one that was told is overtaken.
      `UPDATE outbox SET state = CASE state WHEN 'dead' THEN 'passed' ELSE 'late' END
        WHERE name = ?1 AND +state IN ('dead', 'due')
          AND ${ofNamed("b.seq < w.value ->> 1")}`,
      `UPDATE handed SET state = 'taken' WHERE name = ?1 AND state = 'begun'
        AND no IN (SELECT value ->> 0 FROM json_each(?2))
        AND seq IN (SELECT value ->> 1 FROM json_each(?2))`,
    ),
    ...of(
      ended,
      `UPDATE outbox SET state = iif(state = 'due', 'waiting', 'due')
        WHERE name = ?1 AND ${
        ofNamed(`b.state IN ('due', 'waiting')
          AND (b.state = 'waiting') <> ${isHeld("b.no", "b.seq")}`)
      }`,
    ),
  ];
}

/** Lets what waits for its next attempt be told at once. */
export function hasten(name: string, now: number): Statement {
  return {
    sql: `UPDATE outbox SET due_at = 1 WHERE name = ?1
      AND state IN ('due', 'late') AND due_at > ?2`,
    args: [name, now],
  };
}

type Known = Omit<
  Parameters<TransitionHandler>[1],
  "attempt" | "signal" | "missed" | "late"
>;

/** What is to be handed over, and what is known then. */
interface Passed {
  /** As the handler is to see it; null for nothing. */
  readonly transition: LoggedTransition | null;
  readonly known: Known;
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
  const decided = ({ logged }: LoggedTransition) =>
    takesYes || logged?.entered === "yes" ? logged?.entered : undefined;
  const look = async (group: readonly LoggedTransition[]) => {
    const nos = listed(group.map(({ no }) => no));
    const places = JSON.stringify(
      group.map((one) => [one.no, one.seq, decided(one)]),
    );
    const named = "r.no IN (SELECT value FROM json_each(?))";
    const reads = [
      statement("SELECT position FROM ledger"),
      statement(EARLIER, name, places),
      statement(HANDED, name, nos),
      selectRows("orders", named, nos),
      selectRows("users", named, nos),
    ];
    if (!group.some(decided)) {
      const found = await read(driver, reads);
      // A replica may be behind the outbox that the transitions are from.
      const position = Number(found[0]?.[0]?.[0]);
      if (group.every((one) => one.position <= position)) return found;
    }
    const begin = statement(BEGIN, name, places);
    const found = await write(driver, [...guard(), begin, ...reads]);
    return found.slice(-reads.length);
  };
  return grouped(async (group: readonly LoggedTransition[]) => {
    const [at, before = [], handed = [], orders, users] = await look(group);
    const handOver = (one: LoggedTransition) => {
      const entered = decided(one);
      const [state, ...yes] = handed.find(([, , no]) => no === one.no) ?? [];
      const isOpen = state !== undefined && state !== "taken";
      if (entered === "yes" || (entered === "restored" && isOpen)) {
        return state === "begun" ? transitionOf(yes) : null;
      }
      if (entered === "restored") return matches(one) ? one : null;
      const isTold = state !== undefined && state !== "parked";
      return entered && !isTold ? { ...one, reverses: [] } : one;
    };
    return (one) => {
      const transition = handOver(one);
      const isOf = ([no]: Rows[number]) => no === one.no;
      // Worked out for each that asked: a handler may change what it is given.
      const [row] = orderRows(orders?.filter(isOf)).values();
      const [user] = userRows(users?.filter(isOf)).values();
      const order = row ? stateNow(row, assets) : null;
      const { release = null, releaseReason = null } = order ?? {};
      const isMatched = order?.facts.match === "matched";
      return {
        transition,
        known: {
          ...{ position: Number(at?.[0]?.[0]), release, releaseReason },
          state: order ?? (user ? userState(user.fold) : null),
          reference: isMatched ? order.expected?.reference ?? null : null,
          current: transition?.logged
            ? transition.logged.release === release
            : isCurrent(one, (row ?? user)?.fold),
        },
        earlier: before.map(transitionOf)
          .filter(({ no, seq }) => no === one.no && seq < one.seq),
      };
    };
  });
}

/**
 * Marks each `yes` as begun if its order is still released, else as parked; in place
 * of `restored` the one that was not taken. One statement, so that no withdrawal comes
 * between the look and the mark.
 */
const BEGIN = `INSERT INTO handed (no, name, seq, state)
  SELECT o.no, ?1, iif(w.value ->> 2 = 'yes', w.value ->> 1, h.seq), CASE
    WHEN o.told ->> '$.release.last.release' = 'yes' THEN 'begun' ELSE 'parked' END
  FROM json_each(?2) AS w CROSS JOIN orders AS o ON o.no = w.value ->> 0
    LEFT JOIN handed AS h ON h.no = o.no AND h.name = ?1
  WHERE w.value ->> 2 = 'yes' OR (w.value ->> 2 = 'restored' AND h.state <> 'taken')
  ON CONFLICT (no, name) DO UPDATE SET seq = excluded.seq,
    state = CASE WHEN excluded.state = 'parked' AND state <> 'parked'
      THEN 'stopped' ELSE excluded.state END`;

const EARLIER = `SELECT ${
  withTransitions(`json_each(?2) AS w CROSS JOIN outbox AS b
    INDEXED BY outbox_entity ON b.name = ?1 AND b.no = w.value ->> 0
      AND b.seq < w.value ->> 1`)
} ORDER BY b.seq`;

const HANDED = `SELECT b.state, ${withTransitions("handed AS b")}
  WHERE b.name = ? AND b.no IN (SELECT value FROM json_each(?))`;

function stateNow(row: Row<OrderFold>, assets: AssetTable): OrderState {
  const { context: _context, ...state } = orderView(row, { assets });
  return state;
}

/** Whether an order or user still shows what a transition says it entered. */
function isCurrent(
  { machine, status, trust }: LoggedTransition,
  fold: OrderFold | UserFold | undefined,
): boolean {
  if (fold === undefined) return false;
  return ("orderId" in fold ? orderMachines(fold) : userMachines(fold))
    .some(({ machine: name, visible }) =>
      name === machine && visible?.status === status && visible.trust === trust
    );
}
