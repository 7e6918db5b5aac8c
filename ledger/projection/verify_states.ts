/** Compares every stored order and user with a fold from nothing; writes nothing. */
import type { AssetTable } from "../../core/assets/environment.ts";
import { diffStates, type StateDifference } from "./state_changes.ts";
import type { Driver, SqlValue } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { foldOrdersAnew, foldUsersAnew } from "./anew.ts";
import { packOrder, packUser, type Row, type Told } from "./doc.ts";
import { guardOf, selectGuard } from "./guard.ts";
import { FOLD, type FoldCode } from "./project.ts";
import { orderColumns, orderView, userColumns } from "./rows.ts";
import { LookupHash } from "./lookup_hash.ts";
import { read, statement } from "../store/database.ts";

export interface VerifyStatesParts {
  readonly driver: Driver;
  readonly assets: AssetTable;
  readonly fold?: FoldCode;
}

export interface VerifyStatesOptions {
  /** Rows that are listed; others are only counted. @default 20 */
  readonly maxDifferences?: number;
  /** Called after each step with the number of rows compared. */
  readonly onProgress?: (rows: number) => void;
  readonly signal?: AbortSignal;
}

/** A stored row that differs from what the events lead to. */
export interface RowDifference {
  /** The table. */
  readonly table: string;
  /** What identifies the row, for example an order id. */
  readonly key: readonly string[];
  /**
   * `missing`: the events lead to the row, and it is not there; `unfounded`:
   * they do not lead to it; `changed`: they lead to another one.
   */
  readonly kind: "missing" | "unfounded" | "changed";
  /** Columns that differ, of a state also the field: `state.trust`. */
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
  /** The first of them, by table and key. */
  readonly differences: readonly RowDifference[];
}

/** Rows compared at once. */
const CHUNK = 500;

/**
 * Folds each order and user anew from its own events, and compares every column.
 * What was folded meanwhile is not compared.
 *
 * @throws {LedgerError} `failed` where another version has folded the ledger.
 */
export async function verifyStates(
  { driver, assets, fold = FOLD }: VerifyStatesParts,
  { maxDifferences = 20, onProgress, signal }: VerifyStatesOptions = {},
): Promise<StatesVerification> {
  const guard = guardOf((await read(driver, [selectGuard]))[0]);
  if (guard.foldVersion !== fold.version) {
    throw new LedgerError(
      "failed",
      `Cannot compare states: the ledger is folded by version ` +
        `${guard.foldVersion}, and this one is ${fold.version}; refold it first`,
    );
  }
  const { position } = guard;
  const hash = new LookupHash(guard.key);
  const anew = { readFact: fold.readFact, hash, until: position };
  const rows = { orders: 0, users: 0 };
  const differences: StatesVerification["differences"][number][] = [];
  let different = 0;
  for (const table of ["orders", "users"] as const) {
    for (let after = -1;;) {
      signal?.throwIfAborted();
      const [found] = await driver.batch([
        statement(
          `SELECT * FROM ${table} WHERE no > ? ORDER BY no LIMIT ${CHUNK}`,
          after,
        ),
      ], "read");
      const stored = (found?.rows ?? []).map((row) =>
        Object.fromEntries(
          found?.columns.map((name, at) => [name, row[at] ?? null]) ?? [],
        )
      );
      const last = stored.at(-1);
      if (last === undefined) break;
      after = Number(last.no);
      const entities = stored.map(({ no, id }) => ({
        no: Number(no),
        id: String(id),
      }));
      const derived = table === "orders"
        ? ordersOf(stored, await foldOrdersAnew(driver, entities, anew), {
          assets,
          hash: anew.hash,
        })
        : usersOf(stored, await foldUsersAnew(driver, entities, anew));
      const touched = await touchedSince(driver, position, table);
      for (const row of stored) {
        rows[table]++;
        if (touched === null || touched.has(Number(row.no))) continue;
        const is = derived.get(Number(row.no)) ?? {};
        const fields = diffStates(
          JSON.stringify(only(row, Object.keys(is))),
          JSON.stringify(is),
        );
        if (fields.length === 0) continue;
        different++;
        if (differences.length >= maxDifferences) continue;
        differences.push({
          table,
          key: [table === "orders" ? "order" : "user", String(row.id)],
          kind: "changed",
          // The fold is long, and private.
          columns: fields.map((one) =>
            one.field === "fold" ? { ...one, before: null, after: null } : one
          ),
        });
      }
      onProgress?.(rows.orders + rows.users);
    }
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

type Columns = Readonly<Record<string, SqlValue>>;

function ordersOf(
  stored: readonly Columns[],
  folds: Awaited<ReturnType<typeof foldOrdersAnew>>,
  { assets, hash }: { readonly assets: AssetTable; readonly hash: LookupHash },
): Map<number, Columns> {
  return new Map(stored.map((row) => {
    const no = Number(row.no);
    const fold = folds.get(no);
    if (fold === undefined) return [no, {}];
    const whole: Row<typeof fold> = { ...keptOf(row), fold };
    const columns = orderColumns(whole, orderView(whole, { assets }), hash);
    return [no, { ...columns, fold: packOrder(fold) }];
  }));
}

function usersOf(
  stored: readonly Columns[],
  folds: Awaited<ReturnType<typeof foldUsersAnew>>,
): Map<number, Columns> {
  return new Map(stored.map((row) => {
    const no = Number(row.no);
    const fold = folds.get(no);
    if (fold === undefined) return [no, {}];
    const columns = userColumns({ ...keptOf(row), fold });
    return [no, { ...columns, fold: packUser(fold) }];
  }));
}

function keptOf(row: Columns) {
  return {
    no: Number(row.no),
    historic: Number(row.historic),
    told: JSON.parse(String(row.told)) as Told,
  };
}

/** What other processes have folded since; null where that may be any order. */
async function touchedSince(
  driver: Driver,
  position: number,
  table: "orders" | "users",
): Promise<ReadonlySet<number> | null> {
  const [nos, terms] = await read(driver, [
    statement(
      `SELECT DISTINCT m.no FROM events AS e JOIN mentions AS m
        ON m.position = e.position WHERE e.position > ?`,
      position,
    ),
    statement(
      `SELECT count(*) FROM events WHERE position > ? AND kind IN
        ('session_created', 'order_expected', 'witness_required', 'person_erased')`,
      position,
    ),
  ]);
  if (table === "orders" && Number(terms?.[0]?.[0]) > 0) return null;
  return new Set((nos ?? []).map(([no]) => Number(no)));
}

function only(row: Columns, names: readonly string[]): Columns {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
}
