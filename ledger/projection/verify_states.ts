/** Compares what is stored of orders and users with the events; writes nothing. */
import type { AssetTable } from "../../core/assets/environment.ts";
import { diffStates, type StateDifference } from "./state_changes.ts";
import type { Driver, SqlValue } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { isExpectation } from "../events/fact.ts";
import { rowsAnew } from "./anew.ts";
import type { Told } from "./doc.ts";
import { guardOf, selectGuard } from "./guard.ts";
import { FOLD, type FoldCode } from "./project.ts";
import { LookupHash } from "./lookup_hash.ts";
import { read, statement } from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf } from "../store/events.ts";

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
  const begun: Begun = { position, last: Number(last?.[0]?.[0]) };
  const hash = new LookupHash(guard.key);
  const { readFact } = fold;
  const anew = { assets, readFact, hash, until: position };
  const rows = { orders: 0, users: 0 };
  const differences: RowDifference[] = [];
  let different = 0;
  const add = (difference: RowDifference) => {
    different++;
    if (differences.length < maxDifferences) differences.push(difference);
  };
  for (const table of ["orders", "users"] as const) {
    const entity = table === "orders" ? "order" : "user";
    for (let after = -1;;) {
      signal?.throwIfAborted();
      const { stored, log } = await readChunk(driver, table, after);
      const last = stored.at(-1);
      if (last === undefined) break;
      after = Number(last.no);
      const derived = await rowsAnew(driver, { table, rows: stored, ...anew });
      const touched = await touchedSince(driver, begun, table);
      for (const row of stored) {
        rows[table]++;
        const key = [entity, String(row.id)];
        for (const [code, kind] of wrongLog(row, log)) {
          add({ table: "log", key: [...key, code], kind, columns: [] });
        }
        if (touched === null || touched.has(Number(row.no))) continue;
        const is = derived.get(Number(row.no))?.columns ?? {};
        const fields = diffStates(
          JSON.stringify(only(row, Object.keys(is))),
          JSON.stringify(is),
        );
        if (fields.length === 0) continue;
        // The fold is long, and private.
        const columns = fields.map((one) =>
          one.field === "fold" ? { ...one, before: null, after: null } : one
        );
        add({ table, key, kind: "changed", columns });
      }
      onProgress?.(rows.orders + rows.users);
    }
    for (const id of await missingIds(driver, table, position)) {
      add({ table, key: [entity, id], kind: "missing", columns: [] });
    }
  }
  for (const at of await missingTerms(driver, position, fold)) {
    add({ table: "expected", key: [at], kind: "missing", columns: [] });
  }
  return {
    ok: different === 0,
    events: Object.values(guard.counts).reduce((sum, one) => sum + one, 0),
    position,
    rows,
    different,
    differences,
  };
}

/** Entries of the log by row and code: how often, and which is the last. */
type Log = ReadonlyMap<number, ReadonlyMap<string, string>>;

/** Some rows, and what the log says of them at the same moment. */
async function readChunk(
  driver: Driver,
  table: "orders" | "users",
  after: number,
): Promise<{ readonly stored: readonly Columns[]; readonly log: Log }> {
  const where = `FROM ${table} WHERE no > ? ORDER BY no LIMIT ${CHUNK}`;
  const [found, logged] = await driver.batch([
    statement(`SELECT * ${where}`, after),
    statement(
      `SELECT no, code, count(*) || ' ' || max(entry) FROM log
        WHERE no IN (SELECT no ${where}) GROUP BY no, code`,
      after,
    ),
  ], "read");
  const log = new Map<number, Map<string, string>>();
  for (const [no, code, entries] of logged?.rows ?? []) {
    const own = log.get(Number(no)) ?? new Map();
    log.set(Number(no), own.set(String(code), String(entries)));
  }
  const stored = (found?.rows ?? []).map((row) =>
    Object.fromEntries(
      found?.columns.map((name, at) => [name, row[at] ?? null]) ?? [],
    )
  );
  return { stored, log };
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

/** Orders or users that events name and that have no row. */
async function missingIds(
  driver: Driver,
  table: "orders" | "users",
  position: number,
): Promise<string[]> {
  const [rows] = await read(driver, [statement(
    `SELECT ${EVENT_COLUMNS} FROM events AS e WHERE e.position IN
      (SELECT m.no / 2 FROM mentions AS m
        WHERE m.no > 0 AND m.no % 2 = ? AND m.position <= ?
          AND NOT EXISTS (SELECT 1 FROM ${table} AS t WHERE t.no = m.no))
      ORDER BY e.position`,
    table === "orders" ? 0 : 1,
    position,
  )]);
  return eventsOf(rows).map((event) =>
    (table === "orders" ? event.orderId : event.userId) ??
      `first named at position ${event.position}`
  );
}

/** Positions of terms that no order would find. */
async function missingTerms(
  driver: Driver,
  position: number,
  { readFact }: FoldCode,
): Promise<string[]> {
  const [rows] = await read(driver, [statement(
    `SELECT ${EVENT_COLUMNS} FROM events AS e
      WHERE e.kind IN ('session_created', 'order_expected') AND e.position <= ?
        AND NOT EXISTS (SELECT 1 FROM expected AS x WHERE x.position = e.position)
      ORDER BY e.position`,
    position,
  )]);
  return eventsOf(rows).filter((event) => isExpectation(readFact(event)))
    .map((event) => String(event.position));
}

type Columns = Readonly<Record<string, SqlValue>>;

/** The last event that was folded, and the last that was stored, at the beginning. */
interface Begun {
  readonly position: number;
  readonly last: number;
}

/** What other processes have changed since; null where that may be any order. */
async function touchedSince(
  driver: Driver,
  { position, last }: Begun,
  table: "orders" | "users",
): Promise<ReadonlySet<number> | null> {
  const [nos, any] = await read(driver, [
    statement(
      `SELECT DISTINCT m.no FROM events AS e JOIN mentions AS m
        ON m.position = e.position WHERE e.position > ?`,
      position,
    ),
    // An erasure changes rows at once; terms do once they are folded.
    statement(
      `SELECT EXISTS (SELECT 1 FROM events
          WHERE kind = 'person_erased' AND position > ?1),
        EXISTS (SELECT 1 FROM events WHERE position > ?2
          AND position <= (SELECT position FROM ledger) AND kind IN
          ('session_created', 'order_expected', 'witness_required'))`,
      last,
      position,
    ),
  ]);
  const [erased, terms] = any?.[0] ?? [];
  if (erased === 1 || (terms === 1 && table === "orders")) return null;
  return new Set((nos ?? []).map(([no]) => Number(no)));
}

function only(row: Columns, names: readonly string[]): Columns {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
}
