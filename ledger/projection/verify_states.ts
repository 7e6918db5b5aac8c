/** Compares what is stored of orders and users with the events; writes nothing. */
import { read, statement } from "../store/database.ts";
import type { SqlValue } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import {
  changedSince,
  compareRows,
  missingTerms,
  nextNos,
  type Walked,
} from "./anew.ts";
import type { Told } from "./doc.ts";
import { guardOf, readGuard, selectGuard } from "./guard.ts";
import { type FoldParts, inSteps, type Most } from "./steps.ts";
import { FOLD } from "./project.ts";
import { ROWS_AT_ONCE } from "./refold.ts";
import { type Columns, KINDS } from "./rows.ts";
import type { StateDifference } from "./state_changes.ts";

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
  { fold = FOLD, ...parts }: FoldParts,
  { signal }: VerifyStatesOptions = {},
): Promise<StatesVerification> {
  const { driver } = parts;
  const [guarding, last] = await read(driver, [
    selectGuard,
    statement("SELECT coalesce(max(position), 0) FROM events"),
  ]);
  const { foldVersion, position, counts } = guardOf(guarding);
  if (foldVersion !== fold.version) {
    throw new LedgerError(
      "failed",
      `Cannot compare states: the ledger is folded by version ` +
        `${foldVersion}, and this one is ${fold.version}; refold it first`,
    );
  }
  const begun = { folded: position, stored: Number(last?.[0]?.[0]) };
  const compare = inSteps({ ...parts, fold }, COMPARE_ROWS, ROWS_AT_ONCE);
  const rows = { orders: 0, users: 0 };
  const differences: RowDifference[] = [];
  let different = 0;
  for (let after = 0;;) {
    signal?.throwIfAborted();
    const found = await compare({ begun, after });
    if (found.events === 0) break;
    after = found.no;
    rows.orders += found.rows.orders;
    rows.users += found.rows.users;
    different += found.different;
    differences.push(...found.differences);
  }
  for (const one of await missingTerms(driver, position, fold.readFact)) {
    const key = [String(one.position)];
    differences.push({ table: "expected", key, kind: "missing", columns: [] });
    different++;
  }
  return {
    ok: different === 0,
    events: Object.values(counts).reduce((sum, one) => sum + one, 0),
    ...{ position, rows, different },
    differences: differences.slice(0, MOST_LISTED),
  };
}

/** Compares the next rows with what their events lead to. */
export const COMPARE_ROWS = {
  name: "compared",
  async make(
    { driver, assets, fold = FOLD }: FoldParts,
    { begun, ...page }: Most & {
      readonly begun: Parameters<typeof changedSince>[1];
      readonly after: number;
    },
  ): Promise<
    & Walked
    & Pick<StatesVerification, "different" | "differences">
    & { readonly rows: { readonly orders: number; readonly users: number } }
  > {
    const { nos, ...walked } = await nextNos(driver, page);
    const { hash } = await readGuard(driver);
    const anew = { assets, readFact: fold.readFact, hash, also: LOG };
    const compared = await compareRows(driver, nos, anew);
    const rows = { orders: 0, users: 0 };
    const found: RowDifference[] = [];
    let changed: Awaited<ReturnType<typeof changedSince>> | null = null;
    for (const { table, stored, made } of compared) {
      const { no, id } = stored ?? made?.columns ?? {};
      if (id === undefined) continue;
      const key = [KINDS[table].entity, String(id)];
      if (stored !== undefined) {
        rows[table]++;
        for (const [code, kind] of wrongLog(stored)) {
          found.push({ table: "log", key: [...key, code], kind, columns: [] });
        }
      }
      const columns = stored && made ? differing(stored, made.columns) : null;
      if (columns?.length === 0) continue;
      // What was folded since is not compared.
      changed ??= await changedSince(driver, begun);
      const isMoved = changed.anybody || changed.nos.has(Number(no)) ||
        (changed.anyOrder && table === "orders");
      if (isMoved) continue;
      const kind = columns ? "changed" : stored ? "unfounded" : "missing";
      found.push({ table, key, kind, columns: columns ?? [] });
    }
    const differences = found.slice(0, MOST_LISTED);
    return { ...walked, rows, different: found.length, differences };
  },
};

function differing(stored: Columns, made: Columns): StateDifference[] {
  const said = (value: SqlValue | undefined) =>
    value === null || value === undefined ? null : String(value);
  return Object.entries(made).flatMap(([field, value]) => {
    const [before, after] = [said(stored[field]), said(value)];
    if (before === after) return [];
    // The fold is long, and private.
    return field === "fold"
      ? [{ field, before: null, after: null }]
      : [{ field, before, after }];
  });
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
