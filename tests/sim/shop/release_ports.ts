import type { Transition, TransitionHandler } from "../../../ledger/mod.ts";
import type { Driver } from "../../../ledger/for_sync.ts";
import { LIVE, type SqlValue } from "../../../ledger/testing/mod.ts";
import { broke } from "../world/broke.ts";
import { editingRows, wrap } from "../world/broken_ports.ts";

type LoggedRelease = NonNullable<Transition["logged"]>;

/** An entry of the log of transitions, as it is written. */
export interface LogEntry {
  /** The order or user. */
  readonly id: string;
  /** `order`, `release` or a machine of a user. */
  readonly machine: string;
  /** The status or release entered. */
  readonly status: string;
  /** Which entry it is, from 1. */
  readonly entry: number;
  /** Why; null of all but a release. */
  readonly reason: string | null;
  /** Whether it takes something back. */
  readonly reverses: boolean;
  /** Whether subscribers are told. */
  readonly live: boolean;
}

/** A driver that changes, or leaves out, each entry that is logged. */
export function editingLog(
  edit: (entry: LogEntry) => LogEntry | null,
): (next: Driver) => Driver {
  return (next) =>
    wrap(next, async (statements, mode) => {
      /** Places in the log of what nobody is told, or not any more. */
      const untold = new Set<SqlValue | undefined>();
      const edited = statements.map((statement) => {
        return editingRows(statement, /^INSERT INTO log$/, (row) => {
          const entry = entryOf(row);
          const other = edit(entry);
          if (JSON.stringify(other) === JSON.stringify(entry)) return row;
          broke();
          if (other?.live !== true) untold.add(row[0]);
          return other && argsOf(row, entry, other);
        });
      });
      const kept = edited.map((statement) => {
        if (!statement.sql.startsWith("INSERT INTO outbox ")) return statement;
        const [name = null, places] = statement.args;
        const told = (JSON.parse(String(places)) as SqlValue[][])
          .filter(([seq]) => !untold.has(seq));
        return { ...statement, args: [name, JSON.stringify(told)] };
      });
      return await next.batch(kept, mode);
    });
}

/** Reads the values of a row of the log: place, whose, code, entry and so on. */
function entryOf(args: readonly SqlValue[]): LogEntry {
  const [, no, code, entry, , flags, more] = args;
  const parts = String(code).split(".");
  const isUser = Number(no) % 2 === 1;
  const isOrder = !["release", "witness"].includes(parts[0] ?? "");
  const { reason = null, reverses = [] } = JSON.parse(String(more ?? "{}"));
  return {
    id: String(no),
    machine: isUser || !isOrder ? parts[0] ?? "" : "order",
    status: parts.slice(isUser ? 2 : 1).join("."),
    entry: Number(entry),
    reason,
    reverses: reverses.length > 0,
    live: (Number(flags) & LIVE) !== 0,
  };
}

function argsOf(
  args: readonly SqlValue[],
  before: LogEntry,
  { status, reason, reverses, live }: LogEntry,
): SqlValue[] {
  const [seq = null, no = null, code, entry = null, position = null] = args;
  const { reverses: others, ...rest } = JSON.parse(String(args[6] ?? "{}"));
  const more = {
    ...rest,
    ...reason !== null && { reason },
    ...reverses && others && { reverses: others },
  };
  const start = String(code).slice(0, -before.status.length);
  const flags = Number(args[5]) & ~LIVE | (live ? LIVE : 0);
  const text = JSON.stringify(more);
  return [seq, no, start + status, entry, position, flags, text];
}

/** A transition as if it told that its order is released. */
export function released(transition: Transition): Transition {
  broke();
  return { ...transition, logged: RELEASED };
}

/** What a release is logged as. */
const RELEASED: LoggedRelease = {
  entered: "yes",
  release: "yes",
  reason: "session_matched",
};

/** A handler that ships also where a release waits for a reason. */
export function shippingFor(
  reason: string,
): (next: TransitionHandler) => TransitionHandler {
  return (next) => (transition, context) =>
    next(
      transition.logged?.reason === reason ? released(transition) : transition,
      context,
    );
}
