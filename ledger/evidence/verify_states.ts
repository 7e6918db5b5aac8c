import { readUserActivity } from "../users/user_activity.ts";
import { Buffer } from "node:buffer";
import type { FoldCode } from "../projection/projector.ts";
import { selectErasedOf } from "../store/tables/events/events.ts";
import {
  checkpointsOf,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import { readOrderActivity } from "../orders/order_activity.ts";
import {
  diffStates,
  type StateDifference,
} from "../refold/compare_generations.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import { FOLD_VERSION } from "../projection/fold_version.ts";
import type { Driver } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { selectFired } from "../store/tables/transitions.ts";
import { ScratchProjection } from "./_scratch_projection.ts";
import {
  compareKeys,
  keyOf,
  selectRows,
  type StoredRow,
  storedRows,
  type StoredTable,
  storedTable,
  textOf,
} from "../store/tables/stored_rows.ts";

/** Tables whose rows follow from the events. */
const TABLES = ["orders", "users", "expectations", "transitions"] as const;

/** Rows read at once from each side. */
const PAGE_ROWS = 500;

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

/** How to compare. */
export interface VerifyStatesOptions extends ResolveOptions {
  /**
   * An empty database for what is folded, as large as the states; it belongs to
   * this work alone.
   */
  readonly scratch: Driver;
  /** The fold; replaced by tests. @default the fold of this version */
  readonly fold?: FoldCode;
  /** Rows that are listed; others are only counted. @default 20 */
  readonly maxDifferences?: number;
  /** Called after each step with the number of events folded. */
  readonly onProgress?: (events: number) => void;
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
}

/**
 * Folds every event from nothing in a database beside the ledger, and compares
 * every stored column of the read models with it. The ledger is only read, and
 * may be in use: each page is compared as of the moment at which it was read.
 *
 * Transitions are a log of what became known, so after a refold only those are
 * found that no event leads to, not those that are missing; and none are of
 * orders and users that an erased event was about.
 *
 * @param driver The database.
 * @param options Where to fold, and how.
 * @throws {LedgerError} `failed` where another version has folded the ledger.
 */
export async function verifyStates(
  driver: Driver,
  options: VerifyStatesOptions,
): Promise<StatesVerification> {
  const { scratch, maxDifferences = 20, ...how } = options;
  const scratchStates = new ScratchProjection({
    ...how,
    source: driver,
    scratch,
  });
  try {
    await scratchStates.prepare();
    const rows: Record<string, number> = {};
    const differences: RowDifference[] = [];
    let [different, position] = [0, 0];
    for (const name of TABLES) {
      const table = await storedTable(scratch, name);
      rows[name] = 0;
      for await (
        const page of pages(table, {
          ...options,
          source: driver,
          scratchStates,
        })
      ) {
        position = page.position;
        rows[name] += page.rows;
        different += page.differences.length;
        const room = maxDifferences - differences.length;
        differences.push(...page.differences.slice(0, room));
      }
    }
    return {
      ok: different === 0,
      events: scratchStates.events,
      position,
      rows,
      different,
      differences,
    };
  } finally {
    await scratchStates.close();
  }
}

interface Sides extends VerifyStatesOptions {
  readonly source: Driver;
  readonly scratchStates: ScratchProjection;
}

interface ComparedPage {
  readonly position: number;
  readonly rows: number;
  readonly differences: readonly RowDifference[];
}

/** Compares a table page by page, both sides as of the same position. */
async function* pages(
  table: StoredTable,
  sides: Sides,
): AsyncGenerator<ComparedPage> {
  const { source, scratch, scratchStates, signal } = sides;
  for (let after: ReturnType<typeof keyOf> | null = null;;) {
    signal?.throwIfAborted();
    const select = selectRows(table, PAGE_ROWS, after);
    const [checkpoints, stored] = await source.batch(
      [selectCheckpoints, select],
      "read",
    );
    const live = checkpointsOf(checkpoints).live;
    const version = sides.fold?.version ?? FOLD_VERSION;
    if (live !== null && live.foldVersion !== version) {
      throw new LedgerError(
        "failed",
        `Cannot verify states: version ${live.foldVersion} of the fold made ` +
          `them, and this is ${version}; fold it again with: rampkit ledger refold`,
      );
    }
    await scratchStates.catchUpTo(live?.position ?? 0);
    const [derived] = await scratch.batch([select], "read");
    const page = [storedRows(stored), storedRows(derived)] as const;
    const ends = page.filter((rows) => rows.length === PAGE_ROWS)
      .map((rows) => keyOf(table, rows.at(-1) ?? []))
      .sort(compareKeys);
    const end = ends[0] ?? null;
    const upToEnd = (rows: readonly StoredRow[]) =>
      end === null
        ? rows
        : rows.filter((row) => compareKeys(keyOf(table, row), end) <= 0);
    const [was, is] = [upToEnd(page[0]), upToEnd(page[1])];
    const found = differencesOf(table, was, is);
    yield {
      position: live?.position ?? 0,
      rows: was.length,
      differences: table.name === "transitions"
        ? await decidable(source, found, (live?.generation ?? 1) > 1)
        : found,
    };
    if (end === null) return;
    after = end;
  }
}

/** Rows that differ between the sides, by key. */
function differencesOf(
  table: StoredTable,
  stored: readonly StoredRow[],
  derived: readonly StoredRow[],
): RowDifference[] {
  const found: RowDifference[] = [];
  let [s, d] = [0, 0];
  for (;;) {
    const [was, is] = [stored[s], derived[d]];
    if (was === undefined && is === undefined) return found;
    const order = was === undefined
      ? 1
      : is === undefined
      ? -1
      : compareKeys(keyOf(table, was), keyOf(table, is));
    if (order <= 0) s++;
    if (order >= 0) d++;
    const kind = order < 0 ? "unfounded" : order > 0 ? "missing" : "changed";
    const columns = order === 0 ? changed(table, was ?? [], is ?? []) : [];
    if (order === 0 && columns.length === 0) continue;
    const row = (order > 0 ? is : was) ?? [];
    found.push({
      table: table.name,
      key: keyOf(table, row).map((part) =>
        part instanceof Uint8Array ? textOf(part) : String(part)
      ),
      kind,
      columns,
    });
  }
}

function changed(
  table: StoredTable,
  was: StoredRow,
  is: StoredRow,
): StateDifference[] {
  return table.columns.flatMap((column, at) => {
    const [stored, derived] = [was[at] ?? null, is[at] ?? null];
    if (same(stored, derived)) return [];
    const [before, after] = [textOf(stored), textOf(derived)];
    if (column === "state" || column === "activity") {
      if (column === "state") return inside(column, before, after);
      const read = table.name === "orders"
        ? readOrderActivity
        : readUserActivity;
      return inside(
        column,
        activityOf(before, read),
        activityOf(after, read),
      );
    }
    // Private to the fold, and long.
    return column === "fold"
      ? [{ field: column, before: null, after: null }]
      : [{ field: column, before, after }];
  });
}

/** An activity as readers see it. */
function activityOf(
  stored: string | null,
  read: (stored: string) => object,
): string | null {
  try {
    return stored && JSON.stringify(read(stored));
  } catch {
    return stored;
  }
}

/** The fields that differ; where none does, the text itself is another. */
function inside(
  column: string,
  before: string | null,
  after: string | null,
): StateDifference[] {
  try {
    const fields = diffStates(before, after).map((one) => ({
      ...one,
      field: `${column}.${one.field}`,
    }));
    if (fields.length > 0) return fields;
  } catch {
    // It is no JSON any more.
  }
  return [{ field: column, before: null, after: null }];
}

function same(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === b || (a !== null && b !== null && Buffer.compare(a, b) === 0);
}

/**
 * Leaves out transitions that the events cannot decide: after a refold missing
 * ones; those of an order or user of which an event was erased; and what was
 * sent of one of which a person had something sent.
 */
async function decidable(
  source: Driver,
  differences: readonly RowDifference[],
  refolded: boolean,
): Promise<RowDifference[]> {
  const decided: RowDifference[] = [];
  for (const one of differences) {
    if (refolded && one.kind !== "unfounded") continue;
    const [entity, id] = one.key;
    const which = [entity === "user" ? "user" : "order", id ?? ""] as const;
    const [erased, fired] = await source.batch([
      selectErasedOf(...which),
      selectFired(...which),
    ], "read");
    if (one.kind === "changed" && fired?.rows.length !== 0) continue;
    if (erased?.rows.length === 0) decided.push(one);
  }
  return decided;
}
