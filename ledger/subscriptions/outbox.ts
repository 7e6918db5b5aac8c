/** What each subscription has still to be told. */
import {
  type LoggedTransition,
  transitionOf,
  TRANSITIONS,
} from "../projection/log.ts";
import { isHeld } from "../projection/subscribers.ts";
import type { Rows } from "../store/database.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";

/**
 * Where a row stands: one that waits comes after one of its order or user that failed
 * and is tried again; `passed` is dead, and a later one was told; `late` is such a one
 * that is told after all.
 */
export type OutboxState = "due" | "waiting" | "dead" | "passed" | "late";

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
export function withTransitions(from: string): string {
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
  /** `held`: it was not tried, because an earlier one failed. */
  readonly after: "told" | "held" | Omit<OutboxRow, "transition">;
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
