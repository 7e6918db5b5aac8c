import type { Transition, TransitionHandler } from "../../../ledger/mod.ts";
import type { Driver } from "../../../ledger/for_sync.ts";
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

/** Places of the fields among what is written. */
const [ID, MACHINE, STATUS] = [1, 2, 4];
const [REVERSES, LIVE, ENTRY, REASON] = [6, 9, 11, 13];

/** A driver that changes, or leaves out, each entry that is logged. */
export function editingLog(
  edit: (entry: LogEntry) => LogEntry | null,
): (next: Driver) => Driver {
  return altering((statement) => {
    const isLog = statement.sql.startsWith("INSERT INTO transitions") &&
      statement.sql.includes("WITH entered");
    if (!isLog) return statement;
    const rows = JSON.parse(String(statement.args[0])) as unknown[][];
    const edited = rows.flatMap((row) => {
      const entry = edit({
        id: String(row[ID]),
        machine: String(row[MACHINE]),
        status: String(row[STATUS]),
        entry: Number(row[ENTRY]),
        reason: row[REASON] as string | null,
        reverses: row[REVERSES] !== null && row[REVERSES] !== "[]",
        live: row[LIVE] === 1,
      });
      return entry === null ? [] : [
        row.with(STATUS, entry.status).with(REASON, entry.reason)
          .with(LIVE, entry.live ? 1 : 0)
          .with(REVERSES, entry.reverses ? row[REVERSES] : "[]"),
      ];
    });
    return { ...statement, args: [JSON.stringify(edited)] };
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
