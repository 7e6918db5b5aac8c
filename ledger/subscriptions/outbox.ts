/** What each subscription has still to be told. */
import type { Driver, Statement } from "../store/driver/driver.ts";
import {
  type LoggedTransition,
  transitionOf,
  TRANSITIONS,
} from "../projection/log.ts";
import { insertMany, type Rows } from "../store/database.ts";

/** Puts what was logged before into an outbox, unless it is there. */
export function insertPast(
  name: string,
  rows: readonly {
    readonly seq: number;
    readonly no: number;
    isLate?: boolean;
  }[],
): Statement[] {
  return insertMany(
    "outbox (name, seq, no, state, due_at, attempts)",
    rows.map(({ seq, no, isLate = false }) => [
      ...[name, seq, no],
      ...[isLate ? "late" : "due", 0, 0],
    ]),
    "ON CONFLICT DO NOTHING",
  );
}

/** Where a row of an outbox stands; `passed` and `late` were overtaken. */
export type OutboxState = "due" | "waiting" | "dead" | "passed" | "late";

/** What is to be told. */
export interface OutboxRow {
  readonly transition: LoggedTransition;
  readonly state: OutboxState;
  /** How often the handler was called. */
  readonly attempts: number;
  /** When it is called next, ms; 0 for at once. */
  readonly dueAt: number;
  readonly error: string | null;
}

/** What {@linkcode outboxRowOf} reads; `b` is the outbox. */
export const OUTBOX_ROWS = `b.state, b.attempts, b.due_at, b.error, ${
  TRANSITIONS.replace(
    "FROM log AS t",
    "FROM outbox AS b JOIN log AS t ON t.seq = b.seq",
  )
}`;

export function outboxRowOf(
  [state, attempts, dueAt, error, ...row]: Rows[number],
): OutboxRow {
  return {
    transition: transitionOf(row),
    state: state as OutboxState,
    attempts: Number(attempts),
    dueAt: Number(dueAt ?? 0),
    error: error === null || error === undefined ? null : String(error),
  };
}

/** What stands before others of its entity, or is to be named as missed. */
export interface Earlier {
  readonly seq: number;
  readonly state: OutboxState;
  readonly dueAt: number;
  readonly key: string;
}

export interface Due {
  /** What may be told now, in order. */
  readonly due: readonly OutboxRow[];
  /** All that is in the outbox of the same orders and users, in order. */
  readonly of: ReadonlyMap<number, readonly Earlier[]>;
}

/** Reads what is due: what is new, what is tried again, and what comes late. */
export async function readDue(
  driver: Driver,
  name: string,
  { now, latest, limits }: {
    readonly now: number;
    /** What is due later than this was put off by a clock that was ahead. */
    readonly latest: number;
    readonly limits: { readonly fresh: number; readonly again: number };
  },
  mode: "read" | "write" = "read",
): Promise<Due> {
  const some = (state: OutboxState, due: string, limit: string) =>
    `SELECT * FROM (SELECT seq, no FROM outbox WHERE name = ?1
      AND state = '${state}' AND due_at ${due} ORDER BY due_at, seq LIMIT ${limit})`;
  const due = [
    some("due", "= 0", "?4"),
    some("due", "BETWEEN 1 AND ?2", "?5"),
    some("due", "> ?3", "?5"),
    some("late", "<= ?2", "?5"),
    some("late", "> ?3", "?5"),
  ].join(" UNION ALL ");
  const args = [name, now, latest, limits.fresh, limits.again];
  const [rows, earlier] = await driver.batch([
    {
      sql: `SELECT ${OUTBOX_ROWS} WHERE b.name = ?1
        AND b.seq IN (SELECT seq FROM (${due})) ORDER BY b.seq`,
      args,
    },
    {
      sql: `SELECT ${OUTBOX_ROWS} WHERE b.name = ?1
        AND b.no IN (SELECT no FROM (${due})) ORDER BY b.seq`,
      args,
    },
  ], mode);
  const of = new Map<number, Earlier[]>();
  for (const row of earlier?.rows ?? []) {
    const { transition: { seq, no, key }, state, dueAt } = outboxRowOf(row);
    const others = of.get(no) ?? [];
    others.push({ seq, state, dueAt, key });
    of.set(no, others);
  }
  return { due: rows?.rows.map(outboxRowOf) ?? [], of };
}

/** How the telling of a transition ended. */
export interface Settled {
  readonly seq: number;
  readonly no: number;
  /** Attempts before; a row that was settled by others since stays as it is. */
  readonly before: number;
  /** How it stands; null where it was told. */
  readonly after:
    | Omit<OutboxRow, "transition" | "state"> & {
      readonly state: "due" | "waiting" | "dead" | "passed" | "late";
    }
    | null;
  /** Whether earlier ones of its entity were never told. */
  readonly passing: boolean;
  /** Another row that was told with it: a `yes` in place of `restored`. */
  readonly also: number | null;
  /** Whether it was a `yes` that the handler took. */
  readonly released: boolean;
}

/** The statements that write how it went; writing them twice changes nothing. */
export function settle(
  name: string,
  settled: readonly Settled[],
): Statement[] {
  const told = settled.filter(({ after }) => after === null);
  const failed = settled.flatMap(({ seq, before, after }): Statement[] =>
    after === null ? [] : [{
      sql: `UPDATE outbox SET state = ?, attempts = ?, due_at = ?, error = ?
        WHERE name = ? AND seq = ? AND attempts = ?`,
      args: [
        ...[after.state, after.attempts, after.dueAt, after.error],
        ...[name, seq, before],
      ],
    }]
  );
  const held = settled.filter(({ after }) => after?.state === "due");
  const freed = settled.filter(({ after }) =>
    after?.state !== "due" && after?.state !== "waiting"
  );
  const statement = (sql: string, rows: readonly unknown[]): Statement[] =>
    rows.length === 0 ? [] : [{ sql, args: [name, JSON.stringify(rows)] }];
  return [
    ...failed,
    ...statement(
      `DELETE FROM outbox
        WHERE name = ?1 AND seq IN (SELECT value FROM json_each(?2))`,
      told.flatMap(({ seq, also }) => also === null ? [seq] : [seq, also]),
    ),
    ...statement(
      `UPDATE outbox SET state = CASE state WHEN 'dead' THEN 'passed' ELSE 'late' END
        WHERE name = ?1 AND +state IN ('dead', 'due') AND seq IN (
          SELECT b.seq FROM json_each(?2) AS w CROSS JOIN outbox AS b
            INDEXED BY outbox_entity
            ON b.name = ?1 AND b.no = w.value ->> 0 AND b.seq < w.value ->> 1)`,
      told.filter(({ passing }) => passing).map(({ no, seq }) => [no, seq]),
    ),
    ...statement(
      `UPDATE outbox SET state = 'waiting'
        WHERE name = ?1 AND +state = 'due' AND seq IN (
          SELECT b.seq FROM json_each(?2) AS w CROSS JOIN outbox AS b
            INDEXED BY outbox_entity
            ON b.name = ?1 AND b.no = w.value ->> 0 AND b.seq > w.value ->> 1)`,
      held.map(({ no, seq }) => [no, seq]),
    ),
    // Of each entity what no other one holds: the first that failed goes on holding.
    ...statement(
      `UPDATE outbox SET state = 'due'
        WHERE name = ?1 AND +state = 'waiting' AND seq IN (
          SELECT b.seq FROM json_each(?2) AS w CROSS JOIN outbox AS b
            INDEXED BY outbox_entity
            ON b.name = ?1 AND b.no = w.value
          WHERE NOT EXISTS (SELECT 1 FROM outbox AS f
            INDEXED BY outbox_entity WHERE f.name = ?1
            AND f.no = b.no AND f.seq < b.seq AND f.state = 'due'))`,
      [...new Set(freed.map(({ no }) => no))],
    ),
    ...statement(
      `UPDATE handed SET state = 'taken' WHERE name = ?1
        AND no IN (SELECT value FROM json_each(?2))`,
      told.filter(({ released }) => released).map(({ no }) => no),
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

/** Selects rows of an outbox by order of the log; `dead` are given up. */
export function selectOutbox(
  name: string,
  { dead = false, limit = -1, order }: {
    readonly dead?: boolean;
    readonly limit?: number | undefined;
    readonly order?: string | undefined;
  } = {},
): Statement {
  return {
    sql: `SELECT ${OUTBOX_ROWS} WHERE b.name = ? AND ${
      dead
        ? "b.state IN ('dead', 'passed')"
        : "(b.state <> 'due' OR b.attempts > 0)"
    } ${
      order === undefined
        ? ""
        : "AND b.no = (SELECT no FROM orders WHERE id = ?)"
    } ORDER BY b.seq LIMIT ?`,
    args: [name, ...order === undefined ? [] : [order], limit],
  };
}
