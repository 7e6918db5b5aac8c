import type { Transition, TransitionHandler } from "../../../ledger/mod.ts";
import type { Driver } from "../../../ledger/for_sync.ts";
import { loggedRows } from "../../../ledger/testing/mod.ts";
import { altering } from "../world/broken_ports.ts";

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

/** A statement that logs transitions names its columns in their order. */
const LOGS = /^INSERT INTO transitions \(([^)]+)\)/;

/** A driver that changes, or leaves out, each entry that is logged. */
export function editingLog(
  edit: (entry: LogEntry) => LogEntry | null,
): (next: Driver) => Driver {
  return altering((statement) => {
    const columns = LOGS.exec(statement.sql)?.[1]?.split(/,\s*/);
    if (columns === undefined) return statement;
    const place = (column: string): number => {
      const at = columns.indexOf(column);
      if (at === -1) throw new TypeError(`No column ${column} is logged`);
      return at;
    };
    const [status, reason] = [place("status"), place("reason")];
    const [live, reverses] = [place("live"), place("reverses")];
    const rows = loggedRows.unpack(String(statement.args[0]));
    const edited = rows.flatMap((row) => {
      const entry = edit({
        id: String(row[place("entity_id")]),
        machine: String(row[place("machine")]),
        status: String(row[status]),
        entry: Number(row[place("entry")]),
        reason: row[reason] as string | null,
        reverses: row[reverses] !== null && row[reverses] !== "[]",
        live: row[live] === 1,
      });
      return entry === null ? [] : [
        row.with(status, entry.status).with(reason, entry.reason)
          .with(live, entry.live ? 1 : 0)
          .with(reverses, entry.reverses ? row[reverses] ?? null : "[]"),
      ];
    });
    return { ...statement, args: [loggedRows.pack(edited)] };
  });
}

/** What a release is logged as. */
export const RELEASED: LoggedRelease = {
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
      transition.logged?.reason === reason
        ? { ...transition, logged: RELEASED }
        : transition,
      context,
    );
}
