/** Folds every order and user anew beside what readers see, and takes its place. */
import type { AssetTable } from "../../core/assets/environment.ts";
import { orderRelease } from "../releases/order_release.ts";
import { logReleases, type ReleaseChange } from "../releases/release_log.ts";
import {
  decidingMode,
  readDeciding,
  statement,
  write,
} from "../store/database.ts";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import {
  isLostRace,
  lostRace,
  retryLostRaces,
} from "../store/driver/retrying_driver.ts";
import { timeOf } from "../store/events.ts";
import { orderTable, userTable } from "../store/schema.ts";
import {
  type AnewOptions,
  changedSince,
  deletedRows,
  missingTerms,
  nextNos,
  ofTable,
  rowsAnew,
  selectStored,
  storedRows,
} from "./anew.ts";
import { DUE_COLUMNS, dueOf } from "./due.ts";
import { insertExpected } from "./expected.ts";
import { type Guard, guardOf, moveGuard, selectGuard } from "./guard.ts";
import { loadReleases, purchaseStatements } from "./load.ts";
import { logStatements, tellAll } from "./log.ts";
import { LookupHash } from "./lookup_hash.ts";
import { FOLD, type FoldCode } from "./project.ts";
import {
  type Columns,
  type Kind,
  KINDS,
  orderColumns,
  orderRows,
  orderView,
  TABLES,
} from "./rows.ts";
import { diffStates, type StateChange } from "./state_changes.ts";

export interface RefoldParts {
  readonly driver: Driver;
  readonly assets: AssetTable;
  readonly fold?: FoldCode;
}

/** How to fold a ledger again from nothing. */
export interface RefoldOptions {
  /**
   * Only says which states would change, and changes nothing that is read.
   *
   * @default false
   */
  readonly dryRun?: boolean;
  /**
   * Changes that are listed with their fields; beyond it they are counted.
   *
   * @default 1000
   */
  readonly maxChanges?: number;
  /** Stops between two steps; a refold then goes on where it stopped. */
  readonly signal?: AbortSignal;
  /** Called after each step. */
  readonly onProgress?: (progress: {
    /** Position reached. */
    readonly position: number;
    /** Position to reach. */
    readonly of: number;
    /** Events folded by this call. */
    readonly events: number;
  }) => void;
}

/** What folding every event again changed, or would change. */
export interface Refold {
  /** Events folded by this call. */
  readonly events: number;
  /** Position up to which events were folded. */
  readonly position: number;
  /** Orders and users whose state changed, or would change. */
  readonly changed: number;
  /** The first of them, with the difference. */
  readonly changes: readonly StateChange[];
  /** Whether the new states are the ones that readers see now. */
  readonly swapped: boolean;
}

/** Rows folded and written at once. */
const CHUNK = 1000;

/** How far a refold got; kept, so that the next one goes on. */
interface Progress {
  readonly foldVersion: number;
  /** Events that were folded when it began. */
  readonly since: number;
  /** Ends the names of its indexes, which outlive a renaming. */
  readonly tag: string;
  /** The last row that was made. */
  readonly no: number;
}

/**
 * Folds everything anew, and restores what was deleted from the file. What was told
 * stays as it was, but where a release now says something else it is logged, and sent
 * to nobody.
 *
 * @throws {LedgerError} `failed` when a newer version has folded the ledger.
 */
export async function refold(
  parts: RefoldParts,
  options: RefoldOptions = {},
): Promise<Refold> {
  const { driver, fold = FOLD } = parts;
  /** By which fold the states were when this call began. */
  let former: number | null = null;
  const result = await retryLostRaces(async () => {
    const [guarding] = await readDeciding(driver, [selectGuard]);
    const { foldVersion, position } = guardOf(guarding);
    former ??= foldVersion;
    // Another process of this version was first.
    if (former < fold.version && foldVersion === fold.version) {
      return { events: 0, position, changed: 0, changes: [], swapped: true };
    }
    if (foldVersion > fold.version) {
      throw new LedgerError(
        "failed",
        `A newer version has folded the ledger: fold ${foldVersion}, and ` +
          `this one knows ${fold.version}; update the package`,
      );
    }
    // A refold that was stopped at its very end left them.
    await dropFormer(driver, options.signal);
    return await refoldOnce(parts, options);
  });
  if (result.swapped) await dropFormer(driver, options.signal);
  return result;
}

/** @throws {LedgerError} `conflict` where another process began anew, or was first. */
async function refoldOnce(
  parts: RefoldParts,
  options: RefoldOptions,
): Promise<Refold> {
  const { driver, assets, fold = FOLD } = parts;
  const { dryRun = false, signal, onProgress } = options;
  const [guarding, resumed] = await readDeciding(driver, [
    selectGuard,
    statement(
      `SELECT value FROM cursors WHERE name = 'refold'
        AND EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'orders_next')`,
    ),
  ]);
  const guard = guardOf(guarding);
  const fresh: Progress = {
    foldVersion: fold.version,
    since: guard.position,
    ...{ tag: `_${guard.turn}`, no: 0 },
  };
  const known: Progress = JSON.parse(String(resumed?.[0]?.[0] ?? "{}"));
  const goesOn = known.foldVersion === fold.version;
  if (!dryRun && !goesOn) await begin(parts, guard, fresh);
  let progress = goesOn && !dryRun ? known : fresh;
  const found: Found = { changed: 0, rows: 0, changes: [] };
  const hash = new LookupHash(guard.key);
  const anew = { assets, hash, readFact: fold.readFact };
  const work: Work = { ...parts, anew, options, found, tag: progress.tag };
  const result = () => ({
    // No event of what was left to fold comes before it.
    events: guard.position - Math.floor((goesOn ? known.no : 0) / 2),
    position: guard.position,
    ...{ changed: found.changed, changes: found.changes },
  });
  try {
    for (;;) {
      signal?.throwIfAborted();
      const nos = await nextNos(driver, progress.no, { limit: CHUNK });
      const no = nos.at(-1);
      if (no === undefined) break;
      progress = { ...progress, no };
      await foldNos(work, nos, [saveProgress(progress)]);
      const at = Math.floor(no / 2);
      onProgress?.({ position: at, of: guard.position, events: found.rows });
    }
    if (dryRun) return { ...result(), swapped: false };
    // Rows that are there already are indexed in far less time than one by one.
    for (const index of nextTables(work.tag).flatMap((all) => all.slice(1))) {
      const once = index.replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS");
      await write(driver, [stillGoing(work.tag), statement(once)]);
    }
    for (let { since } = progress;;) {
      since = await catchUp(work, since);
      if (await swap(work, since)) return { ...result(), swapped: true };
    }
  } catch (error) {
    // The tables are gone where another process was first.
    throw dryRun || await isGoing(work) ? error : lostRace();
  }
}

interface Found {
  changed: number;
  rows: number;
  readonly changes: StateChange[];
}

interface Work extends RefoldParts {
  readonly anew: AnewOptions;
  readonly options: RefoldOptions;
  readonly found: Found;
  /** Of the refold that this work is part of. */
  readonly tag: string;
}

/** Begins a batch that fails with `conflict` unless something holds of the database. */
function expecting(condition: string, ...args: readonly SqlValue[]): Statement {
  const sql = `UPDATE ledger SET turn = CASE WHEN ${condition} THEN turn END`;
  return { sql, args, expects: true };
}

/** Nobody has begun anew, or has taken the place of what readers see. */
function stillGoing(tag: string): Statement {
  return expecting(
    `EXISTS (SELECT 1 FROM cursors
      WHERE name = 'refold' AND value ->> 'tag' = ?)`,
    tag,
  );
}

async function isGoing({ driver, tag }: Work): Promise<boolean> {
  const [found] = await readDeciding(driver, [
    statement("SELECT value ->> 'tag' FROM cursors WHERE name = 'refold'"),
  ]);
  return found?.[0]?.[0] === tag;
}

const noRefold = statement("DELETE FROM cursors WHERE name = 'refold'");

/** Drops what refolds have begun, and what they have left: it says what was erased. */
export const dropRefolded: readonly Statement[] = [
  ...["orders_next", "users_next", "orders_former", "users_former"]
    .map((table) => statement(`DROP TABLE IF EXISTS ${table}`)),
  noRefold,
];

/** The tables that are filled, each followed by its indexes. */
function nextTables(tag: string): string[][] {
  return [orderTable("orders_next", tag), userTable("users_next", tag)];
}

async function begin(
  { driver, fold = FOLD }: RefoldParts,
  guard: Guard,
  progress: Progress,
): Promise<void> {
  const { session_created: sessions = 0, order_expected: terms = 0 } =
    guard.counts;
  const [expected] = await readDeciding(driver, [
    statement("SELECT count(*) FROM expected"),
  ]);
  const isWhole = Number(expected?.[0]?.[0]) >= sessions + terms;
  const missing = isWhole
    ? []
    : await missingTerms(driver, guard.position, fold.readFact);
  const hash = new LookupHash(guard.key);
  await write(driver, [
    moveGuard(guard),
    ...dropRefolded,
    ...nextTables(progress.tag).flatMap(([table = ""]) => statement(table)),
    ...missing.map((one) => insertExpected(hash, one)),
    saveProgress(progress),
  ]);
}

function saveProgress(progress: Progress): Statement {
  return statement(
    "INSERT OR REPLACE INTO cursors VALUES ('refold', ?, 0)",
    JSON.stringify(progress),
  );
}

/** Makes some rows anew, and writes them beside the others. */
async function foldNos(
  work: Work,
  nos: readonly number[],
  also: readonly Statement[] = [],
): Promise<void> {
  const { driver, anew, options: { dryRun } } = work;
  const statements: Statement[] = [];
  for (const table of TABLES) {
    const own = ofTable(table, nos);
    const [found] = await driver.batch(
      [selectStored(table, own)],
      decidingMode(driver),
    );
    const stored = storedRows(found);
    const made = await rowsAnew(driver, { table, rows: stored, ...anew });
    // What no event says anything of, under its id, is not the row of one.
    const founded = stored.filter(({ no }) =>
      made.get(Number(no))?.fold.activity.firstAt
    );
    const there = new Set(founded.map(({ no }) => no));
    const gone = own.filter((no) => !there.has(no));
    const deleted = await deletedRows(driver, table, gone);
    const restored = await rowsAnew(driver, { table, rows: deleted, ...anew });
    const all = new Map([...made, ...restored]);
    for (const row of [...founded, ...deleted]) {
      const one = all.get(Number(row.no));
      if (one === undefined) continue;
      const { fold, columns } = one;
      note(work, KINDS[table], row, columns);
      const at = fold.activity.lastAt;
      const named = at === null
        ? undefined
        : { at, urgency: 0, claimedBy: 0 } as const;
      const due: Record<string, SqlValue> = {
        // What is restored is asked about again.
        ...dueOf(fold, row.fold === undefined ? named : undefined),
        ...Object.fromEntries(
          DUE_COLUMNS.flatMap((name) =>
            row[name] === undefined ? [] : [[name, row[name]]]
          ),
        ),
      };
      // What is open by this fold, and was not, is asked about at once.
      if (columns.open === 1) due.due_at ??= columns.at ?? null;
      const values = { ...columns, ...due };
      const names = Object.keys(values);
      statements.push({
        sql: `INSERT OR REPLACE INTO ${table}_next (${names.join(", ")})
          VALUES (${names.map(() => "?").join(", ")})`,
        args: Object.values(values),
      });
    }
    work.found.rows += all.size;
  }
  if (dryRun) return;
  await write(driver, [stillGoing(work.tag), ...statements, ...also]);
}

/** Notes what readers would see change. */
function note(
  { found, assets, options: { maxChanges = 1000 } }: Work,
  { entity, unpack, state }: Kind<unknown>,
  { id: of, fold }: Columns,
  columns: Columns,
): void {
  if (fold === columns.fold) return;
  const id = String(of);
  const shown = (text: SqlValue | undefined) =>
    text ? JSON.stringify(state(unpack(id, String(text)), assets)) : null;
  const fields = diffStates(shown(fold), shown(columns.fold));
  if (fields.length === 0) return;
  found.changed++;
  if (found.changes.length < maxChanges) {
    found.changes.push({ entity, id, fields });
  }
}

/** Folds again what other processes have folded since; returns how far that is. */
async function catchUp(work: Work, since: number): Promise<number> {
  const { driver } = work;
  const changed = await changedSince(driver, { folded: since, stored: since });
  if (changed.position === since) return since;
  if (!changed.anyOrder && !changed.anybody) {
    const nos = [...changed.nos];
    for (let at = 0; at < nos.length; at += CHUNK) {
      await foldNos(work, nos.slice(at, at + CHUNK));
    }
    return changed.position;
  }
  for (let nos: number[] = [0];;) {
    nos = await nextNos(driver, nos.at(-1) ?? 0, { limit: CHUNK });
    if (nos.length === 0) return changed.position;
    await foldNos(work, nos);
  }
}

/** Takes the place of what readers see; false where another process folded. */
async function swap(work: Work, position: number): Promise<boolean> {
  const { driver, assets, anew: { hash }, tag, fold = FOLD } = work;
  const [guarding, differing = [], last, at] = await readDeciding(driver, [
    selectGuard,
    // What was told meanwhile is in the row that readers see.
    statement(
      `SELECT n.no, n.id, n.historic, o.told, n.fold,
          o.release <> n.release OR o.reason <> n.reason AS moved
        FROM orders_next AS n JOIN orders AS o ON o.no = n.no
        WHERE moved OR o.told <> n.told`,
    ),
    statement("SELECT coalesce(max(seq), 0) FROM log"),
    statement("SELECT recorded_at FROM events WHERE position = ?", position),
  ]);
  const guard = guardOf(guarding);
  if (guard.position !== position) return false;
  const orders = orderRows(differing);
  const recordedAt = timeOf(at?.[0]?.[0]) ?? "";
  const moves = differing.flatMap(([, id, , , , moved]) => {
    const orderId = String(id);
    const row = orders.get(orderId);
    const now = row && moved === 1 ? orderRelease(row.fold, { assets }) : null;
    return !row || now === null ? [] : [
      {
        ...{ orderId, now, position, recordedAt, live: false },
        historic: row.told.release === undefined && row.historic > 0,
        byExpectation: false,
      } satisfies ReleaseChange,
    ];
  });
  const known = await loadReleases({ driver, mode: "write" }, moves, {
    ...{ orders, key: guard.key },
  });
  const releases = logReleases(moves, known);
  // A person decides about a yes that is new, or is gone.
  const transitions = releases.transitions.map((one) => {
    const isYes = one.logged?.release === "yes";
    const had = known.orders.get(one.id)?.entries.yes !== undefined;
    const withheld = one.withheld || (!one.historic && isYes !== had);
    return { ...one, withheld };
  });
  const rows = { orders, users: new Map() };
  const told = tellAll(rows, { ...releases, transitions });
  const written = ["told", "release", "reason", "outcome", "attention"];
  const updates = [...orders.values()].map((row) => {
    const columns: Columns = {
      ...orderColumns(row, orderView(row, { assets }), hash),
      told: JSON.stringify(row.told),
    };
    return statement(
      `UPDATE orders_next SET ${
        written.map((one) => `${one} = ?`).join(", ")
      } WHERE no = ?`,
      ...written.map((one) => columns[one] ?? null),
      row.no,
    );
  });
  try {
    await write(driver, [
      moveGuard(guard, { foldVersion: fold.version }),
      stillGoing(tag),
      ...purchaseStatements(releases, rows),
      ...logStatements(told, rows, {
        ...{ lastSeq: Number(last?.[0]?.[0]), subscribers: [] },
      }),
      ...updates,
      ...TABLES.flatMap((table) => [
        statement(`ALTER TABLE ${table} RENAME TO ${table}_former`),
        statement(`ALTER TABLE ${table}_next RENAME TO ${table}`),
      ]),
      noRefold,
    ]);
    return true;
  } catch (error) {
    if (isLostRace(error) && await isGoing(work)) return false;
    throw error;
  }
}

/** Rows deleted at once: what was deleted is overwritten, and an append waits. */
const DELETED_AT_ONCE = 2000;

/** Deletes the rows that were replaced, a few at a time. */
async function dropFormer(driver: Driver, signal?: AbortSignal): Promise<void> {
  const [tables] = await readDeciding(driver, [statement(
    `SELECT name FROM sqlite_schema
      WHERE name IN ('orders_former', 'users_former')`,
  )]);
  for (const [table = null] of tables ?? []) {
    const isThere = expecting(
      "EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?)",
      table,
    );
    try {
      for (;;) {
        signal?.throwIfAborted();
        const [, deleted] = await driver.batch([
          isThere,
          statement(
            `DELETE FROM ${table} WHERE no IN
              (SELECT no FROM ${table} LIMIT ${DELETED_AT_ONCE})`,
          ),
        ], "write");
        if ((deleted?.rowsAffected ?? 0) < DELETED_AT_ONCE) break;
      }
      await write(driver, [statement(`DROP TABLE IF EXISTS ${table}`)]);
    } catch (error) {
      // Another process drops it too.
      if (!isLostRace(error)) throw error;
    }
  }
}
