/** Compares what is stored of orders and users with the events; writes nothing. */
import { read, statement } from "../store/database.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { changedSince, compareRows, eachNos, missingTerms } from "./anew.ts";
import type { Told } from "./doc.ts";
import { guardOf, selectGuard } from "./guard.ts";
import { FOLD } from "./project.ts";
import type { RefoldParts } from "./refold.ts";
import { type Columns, KINDS } from "./rows.ts";
import { diffStates, type StateDifference } from "./state_changes.ts";

/** How to follow a check of all states. */
export interface VerifyStatesOptions {
  /** Stops between two pages. */
  readonly signal?: AbortSignal;
}

/** A stored row that differs from what the events lead to. */
export interface RowDifference {
  /** `orders`, `users`, the `log` of their transitions, or what is `expected`. */
  readonly table: string;
  /** What identifies the row: an order id and the name of a transition. */
  readonly key: readonly string[];
  /**
   * `missing`: the events lead to the row, and it is not there; `unfounded`:
   * they do not lead to it; `changed`: they lead to another one.
   */
  readonly kind: "missing" | "unfounded" | "changed";
  /** Columns that differ. */
  readonly columns: readonly StateDifference[];
}

/** What {@linkcode verifyStates} found. */
export interface StatesVerification {
  /** Whether every stored row follows from the events. */
  readonly ok: boolean;
  /** Events folded from nothing. */
  readonly events: number;
  /** Position up to which states were compared. */
  readonly position: number;
  /** Rows compared, by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Rows that differ. */
  readonly different: number;
  /** The first of them. */
  readonly differences: readonly RowDifference[];
}

/** Rows that are listed; others are only counted. */
const MOST_LISTED = 20;

/** Rows compared at once. */
const CHUNK = 500;

/** By code how many entries the log has of a row, and which is the last. */
const LOG = `, (SELECT json_group_object(code, json(entries)) FROM (
    SELECT code, json_array(count(*), max(entry)) AS entries FROM log
    WHERE no = r.no GROUP BY code)) AS log`;

/**
 * Folds each order and user anew from its own events and compares every column, and
 * the log with what their rows say was told. What was folded meanwhile is not compared.
 *
 * @throws {LedgerError} `failed` where another version has folded the ledger.
 */
export async function verifyStates(
  { driver, assets, fold = FOLD }: RefoldParts,
  { signal }: VerifyStatesOptions = {},
): Promise<StatesVerification> {
  const [guarding, last] = await read(driver, [
    selectGuard,
    statement("SELECT coalesce(max(position), 0) FROM events"),
  ]);
  const { foldVersion, position, hash, counts } = guardOf(guarding);
  if (foldVersion !== fold.version) {
    throw new LedgerError(
      "failed",
      `Cannot compare states: the ledger is folded by version ` +
        `${foldVersion}, and this one is ${fold.version}; refold it first`,
    );
  }
  const begun = { folded: position, stored: Number(last?.[0]?.[0]) };
  const { readFact } = fold;
  const anew = { assets, readFact, hash, until: position, also: LOG };
  const rows = { orders: 0, users: 0 };
  const differences: RowDifference[] = [];
  let different = 0;
  const add = (
    table: string,
    key: readonly string[],
    kind: RowDifference["kind"],
    columns: readonly StateDifference[] = [],
  ) => {
    different++;
    const one = { table, key, kind, columns };
    if (differences.length < MOST_LISTED) differences.push(one);
  };
  for await (const nos of eachNos(driver, { limit: CHUNK, stored: true })) {
    signal?.throwIfAborted();
    const compared = await compareRows(driver, nos, anew);
    const changed = await changedSince(driver, begun);
    for (const { table, stored, made } of compared) {
      const { no, id } = stored ?? made?.columns ?? {};
      if (id === undefined) continue;
      const key = [KINDS[table].entity, String(id)];
      if (stored !== undefined) {
        rows[table]++;
        for (const [code, kind] of wrongLog(stored)) {
          add("log", [...key, code], kind);
        }
      }
      const isMoved = changed.anybody || changed.nos.has(Number(no)) ||
        (changed.anyOrder && table === "orders");
      if (isMoved) continue;
      if (stored === undefined) add(table, key, "missing");
      else if (made === undefined) add(table, key, "unfounded");
      else {
        const fields = differing(stored, made.columns);
        if (fields.length > 0) add(table, key, "changed", fields);
      }
    }
  }
  for (const one of await missingTerms(driver, position, readFact)) {
    add("expected", [String(one.position)], "missing");
  }
  return {
    ok: different === 0,
    events: Object.values(counts).reduce((sum, one) => sum + one, 0),
    ...{ position, rows, different, differences },
  };
}

function differing(stored: Columns, made: Columns): StateDifference[] {
  const own = Object.keys(made).map((name) => [name, stored[name]]);
  const fields = diffStates(
    JSON.stringify(Object.fromEntries(own)),
    JSON.stringify(made),
  );
  // The fold is long, and private.
  return fields.map((one) =>
    one.field === "fold" ? { ...one, before: null, after: null } : one
  );
}

/** Codes of which the log has fewer or more entries than were told. */
function wrongLog(row: Columns): [string, RowDifference["kind"]][] {
  const { times, release } = JSON.parse(String(row.told)) as Told;
  const logged: Record<string, [number, number]> = JSON.parse(String(row.log));
  const told: Record<string, number> = { ...times };
  for (const [entered, entries] of Object.entries(release?.entries ?? {})) {
    told[`release.${entered}`] = entries;
  }
  return Object.keys({ ...told, ...logged }).flatMap(
    (code): [string, RowDifference["kind"]][] => {
      const entries = told[code] ?? 0;
      const [count, last] = logged[code] ?? [0, 0];
      if (count === entries && last === entries) return [];
      return [[code, count < entries ? "missing" : "unfounded"]];
    },
  );
}
