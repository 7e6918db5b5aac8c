/** Compares what is stored of orders and users with the events; writes nothing. */
import type { AssetTable } from "../../core/assets/environment.ts";
import { read, statement } from "../store/database.ts";
import type { Driver } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import {
  changedSince,
  deletedRows,
  missingTerms,
  nextNos,
  ofTable,
  rowsAnew,
  selectStored,
  storedRows,
} from "./anew.ts";
import type { Told } from "./doc.ts";
import { guardOf, selectGuard } from "./guard.ts";
import { LookupHash } from "./lookup_hash.ts";
import { FOLD, type FoldCode } from "./project.ts";
import { type Columns, KINDS, type Table, TABLES } from "./rows.ts";
import { diffStates, type StateDifference } from "./state_changes.ts";

export interface VerifyStatesParts {
  readonly driver: Driver;
  readonly assets: AssetTable;
  readonly fold?: FoldCode;
}

/** How to follow a check of all states. */
export interface VerifyStatesOptions {
  /** Rows that are listed; others are only counted. @default 20 */
  readonly maxDifferences?: number;
  /** Called after each step with the number of rows compared. */
  readonly onProgress?: (rows: number) => void;
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

/** Rows compared at once. */
const CHUNK = 500;

/**
 * Folds each order and user anew from its own events and compares every column, and
 * the log with what their rows say was told. What was folded meanwhile is not compared.
 *
 * @throws {LedgerError} `failed` where another version has folded the ledger.
 */
export async function verifyStates(
  { driver, assets, fold = FOLD }: VerifyStatesParts,
  { maxDifferences = 20, onProgress, signal }: VerifyStatesOptions = {},
): Promise<StatesVerification> {
  const [guarding, last] = await read(driver, [
    selectGuard,
    statement("SELECT coalesce(max(position), 0) FROM events"),
  ]);
  const guard = guardOf(guarding);
  if (guard.foldVersion !== fold.version) {
    throw new LedgerError(
      "failed",
      `Cannot compare states: the ledger is folded by version ` +
        `${guard.foldVersion}, and this one is ${fold.version}; refold it first`,
    );
  }
  const { position } = guard;
  const begun = { folded: position, stored: Number(last?.[0]?.[0]) };
  const hash = new LookupHash(guard.key);
  const { readFact } = fold;
  const anew = { assets, readFact, hash, until: position };
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
    if (differences.length < maxDifferences) differences.push(one);
  };
  for (let nos = [0];;) {
    signal?.throwIfAborted();
    const after = nos.at(-1) ?? 0;
    nos = await nextNos(driver, after, { limit: CHUNK, stored: true });
    if (nos.length === 0) break;
    for (const table of TABLES) {
      const own = ofTable(table, nos);
      const { entity } = KINDS[table];
      const { stored, log } = await readChunk(driver, table, own);
      const derived = await rowsAnew(driver, { table, rows: stored, ...anew });
      const there = new Set(stored.map(({ no }) => no));
      const deleted = own.filter((no) => !there.has(no));
      const gone = await deletedRows(driver, table, deleted);
      const changed = await changedSince(driver, begun);
      const isMoved = (no: unknown) =>
        changed.anybody || changed.nos.has(Number(no)) ||
        (changed.anyOrder && table === "orders");
      for (const { no, id } of gone) {
        if (!isMoved(no)) add(table, [entity, String(id)], "missing");
      }
      rows[table] += stored.length;
      for (const row of stored) {
        const key = [entity, String(row.id)];
        for (const [code, kind] of wrongLog(row, log)) {
          add("log", [...key, code], kind);
        }
        const is = derived.get(Number(row.no));
        if (is === undefined || isMoved(row.no)) continue;
        if (is.fold.activity.firstAt === null) {
          const named = await deletedRows(driver, table, [Number(row.no)]);
          if (named.length === 0) {
            add(table, key, "unfounded");
            continue;
          }
        }
        const names = Object.keys(is.columns);
        const fields = diffStates(
          JSON.stringify(
            Object.fromEntries(names.map((name) => [name, row[name]])),
          ),
          JSON.stringify(is.columns),
        );
        if (fields.length === 0) continue;
        // The fold is long, and private.
        const shown = fields.map((one) =>
          one.field === "fold" ? { ...one, before: null, after: null } : one
        );
        add(table, key, "changed", shown);
      }
    }
    onProgress?.(rows.orders + rows.users);
  }
  for (const one of await missingTerms(driver, position, readFact)) {
    add("expected", [String(one.position)], "missing");
  }
  return {
    ok: different === 0,
    events: Object.values(guard.counts).reduce((sum, one) => sum + one, 0),
    ...{ position, rows, different, differences },
  };
}

/** Entries of the log by row and code: how often, and which is the last. */
type Log = ReadonlyMap<number, ReadonlyMap<string, string>>;

/** Some rows, and what the log says of them at the same moment. */
async function readChunk(
  driver: Driver,
  table: Table,
  nos: readonly number[],
): Promise<{ readonly stored: readonly Columns[]; readonly log: Log }> {
  const [found, logged] = await driver.batch([
    selectStored(table, nos),
    statement(
      `SELECT no, code, count(*) || ' ' || max(entry) FROM log
        WHERE no IN (SELECT value FROM json_each(?)) GROUP BY no, code`,
      JSON.stringify(nos),
    ),
  ], "read");
  const log = new Map<number, Map<string, string>>();
  for (const [no, code, entries] of logged?.rows ?? []) {
    const own = log.get(Number(no)) ?? new Map();
    log.set(Number(no), own.set(String(code), String(entries)));
  }
  return { stored: storedRows(found), log };
}

/** Codes of which the log has fewer or more entries than were told. */
function wrongLog(row: Columns, log: Log): [string, RowDifference["kind"]][] {
  const { times, release } = JSON.parse(String(row.told)) as Told;
  const told: Record<string, number> = { ...times };
  for (const [entered, entries] of Object.entries(release?.entries ?? {})) {
    told[`release.${entered}`] = entries;
  }
  const logged = log.get(Number(row.no)) ?? new Map<string, string>();
  return [...new Set([...Object.keys(told), ...logged.keys()])].flatMap(
    (code): [string, RowDifference["kind"]][] => {
      const entries = told[code] ?? 0;
      const [count = 0, last = 0] = logged.get(code)?.split(" ").map(Number) ??
        [];
      if (count === entries && last === entries) return [];
      return [[code, count < entries ? "missing" : "unfounded"]];
    },
  );
}
