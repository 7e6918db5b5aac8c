/** Folds every order and user anew beside what readers see, and takes its place. */
import { orderRelease } from "../releases/order_release.ts";
import { logReleases, type ReleaseChange } from "../releases/release_log.ts";
import { readDeciding, statement, write } from "../store/database.ts";
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
  type Compared,
  compareRows,
  eachNos,
  missingTerms,
} from "./anew.ts";
import { DUE_COLUMNS, dueOf } from "./due.ts";
import { insertExpected } from "./expected.ts";
import { type Guard, guardOf, moveGuard, selectGuard } from "./guard.ts";
import { loadReleases, purchaseStatements } from "./load.ts";
import { logStatements, tellAll } from "./log.ts";
import { FOLD, type ProjectOptions } from "./project.ts";
import { type Kind, KINDS, orderRows, TABLES, updateRow } from "./rows.ts";
import { diffStates, type StateChange } from "./state_changes.ts";

export type RefoldParts = Pick<ProjectOptions, "assets" | "fold"> & {
  readonly driver: Driver;
};

/** How to fold a ledger again from nothing. */
export interface RefoldOptions {
  /**
   * Only says which states would change, and changes nothing that is read.
   *
   * @default false
   */
  readonly dryRun?: boolean;
  /** Stops between two steps; a refold then goes on where it stopped. */
  readonly signal?: AbortSignal;
  /** Called after each step with the position reached. */
  readonly onProgress?: (position: number) => void;
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

/** Changes that are listed with their fields; beyond it they are counted. */
const MOST_CHANGES = 1000;

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

interface Work extends Required<RefoldParts>, RefoldOptions {
  readonly anew: AnewOptions;
  readonly tag: string;
  readonly found: { changed: number; changes: StateChange[] };
}

/**
 * Folds everything anew, and restores what was deleted from the file. What was told
 * stays as it was, but where a release now says something else it is logged, and sent
 * to nobody.
 *
 * @throws {LedgerError} `failed` when a newer version has folded the ledger.
 */
export async function refold(
  { fold = FOLD, ...parts }: RefoldParts,
  options: RefoldOptions = {},
): Promise<Refold> {
  const { driver } = parts;
  /** By which fold the states were when this call began. */
  let former: number | null = null;
  const result = await retryLostRaces(async () => {
    const [guarding] = await readDeciding(driver, [selectGuard]);
    const guard = guardOf(guarding);
    const { foldVersion, position } = guard;
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
    return await refoldOnce({ ...parts, fold, ...options }, guard);
  });
  if (result.swapped) await dropFormer(driver, options.signal);
  return result;
}

/** @throws {LedgerError} `conflict` where another process began anew, or was first. */
async function refoldOnce(
  parts: Required<RefoldParts> & RefoldOptions,
  guard: Guard,
): Promise<Refold> {
  const { driver, assets, fold, dryRun = false, signal, onProgress } = parts;
  const { position } = guard;
  const [resumed] = await readDeciding(driver, [
    statement(
      `SELECT value FROM cursors WHERE name = 'refold'
        AND EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'orders_next')`,
    ),
  ]);
  const known: Progress = JSON.parse(String(resumed?.[0]?.[0] ?? "{}"));
  const goesOn = !dryRun && known.foldVersion === fold.version;
  let progress: Progress = goesOn ? known : {
    ...{ foldVersion: fold.version, since: position },
    ...{ tag: `_${guard.turn}`, no: 0 },
  };
  // No event of what was left to fold comes before it.
  const events = position - Math.floor(progress.no / 2);
  const work: Work = {
    ...parts,
    anew: { assets, hash: guard.hash, readFact: fold.readFact },
    tag: progress.tag,
    found: { changed: 0, changes: [] },
  };
  const result = (swapped: boolean) => {
    const { changed, changes } = work.found;
    return { events, position, changed, changes, swapped };
  };
  if (!dryRun && !goesOn) await begin(work, guard, progress);
  try {
    const { no: after } = progress;
    const keep = async (nos: readonly number[], rows: Promise<Compared[]>) => {
      const no = nos.at(-1) ?? after;
      progress = { ...progress, no };
      await storeNext(work, await rows, [saveProgress(progress)]);
      onProgress?.(Math.floor(no / 2));
      signal?.throwIfAborted();
    };
    // While some rows are written, the next are made: a third of the time.
    let last: Parameters<typeof keep> | null = null;
    for await (const nos of eachNos(driver, { after, limit: CHUNK })) {
      const rows = compareRows(driver, nos, work.anew);
      // It is awaited later; until then it may fail unseen.
      rows.catch(() => {});
      if (last !== null) await keep(...last);
      last = [nos, rows];
    }
    if (last !== null) await keep(...last);
    if (dryRun) return result(false);
    // Rows that are there already are indexed in far less time than one by one.
    for (const index of nextTables(work.tag).flatMap((all) => all.slice(1))) {
      const once = index.replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS");
      await write(driver, [stillGoing(work.tag), statement(once)]);
    }
    for (let { since } = progress;;) {
      since = await catchUp(work, since);
      if (await swap(work, since)) return result(true);
    }
  } catch (error) {
    // The tables are gone where another process was first.
    throw dryRun || await isGoing(work) ? error : lostRace();
  }
}

/** Begins a batch that fails with `conflict` unless something holds of the database. */
function expecting(condition: string, ...args: readonly SqlValue[]): Statement {
  const sql = `UPDATE ledger SET turn = CASE WHEN ${condition} THEN turn END`;
  return { sql, args, expects: true };
}

const IS_GOING = `EXISTS (SELECT 1 FROM cursors
  WHERE name = 'refold' AND value ->> 'tag' = ?)`;

/** Nobody has begun anew, or has taken the place of what readers see. */
function stillGoing(tag: string): Statement {
  return expecting(IS_GOING, tag);
}

async function isGoing({ driver, tag }: Work): Promise<boolean> {
  const [found] = await readDeciding(driver, [
    statement(`SELECT ${IS_GOING}`, tag),
  ]);
  return found?.[0]?.[0] === 1;
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
  { driver, anew: { hash, readFact } }: Work,
  guard: Guard,
  progress: Progress,
): Promise<void> {
  const { session_created: sessions = 0, order_expected: terms = 0 } =
    guard.counts;
  const [expected] = await readDeciding(driver, [
    statement("SELECT count(*) FROM expected"),
  ]);
  // Looking for them walks over every event.
  const missing = Number(expected?.[0]?.[0]) >= sessions + terms
    ? []
    : await missingTerms(driver, guard.position, readFact);
  await write(driver, [
    moveGuard(guard),
    ...dropRefolded,
    ...nextTables(progress.tag).map(([table = ""]) => statement(table)),
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
async function foldNos(work: Work, nos: readonly number[]): Promise<void> {
  await storeNext(work, await compareRows(work.driver, nos, work.anew));
}

async function storeNext(
  work: Work,
  rows: readonly Compared[],
  also: readonly Statement[] = [],
): Promise<void> {
  const { driver, dryRun, tag } = work;
  const statements = rows.flatMap((row) => insertNext(work, row));
  if (!dryRun) await write(driver, [stillGoing(tag), ...statements, ...also]);
}

function insertNext(
  work: Work,
  { table, stored, made }: Compared,
): Statement[] {
  if (made === undefined) return [];
  const { fold, columns } = made;
  const kept = stored?.id === columns.id ? stored : undefined;
  note(work, KINDS[table], String(columns.id), [kept?.fold, columns.fold]);
  const at = fold.activity.lastAt;
  // What is restored is asked about again.
  const due = kept === undefined
    ? dueOf(fold, at === null ? undefined : { at, urgency: 0, claimedBy: 0 })
    : Object.fromEntries(DUE_COLUMNS.map((name) => [name, kept[name] ?? null]));
  // What is open by this fold, and was not, is asked about at once.
  const due_at = due.due_at ?? (columns.open === 1 ? columns.at : null);
  const values = { ...columns, ...due, due_at };
  const names = Object.keys(values);
  return [statement(
    `INSERT OR REPLACE INTO ${table}_next (${names.join(", ")})
      VALUES (${names.map(() => "?").join(", ")})`,
    ...Object.values(values).map((value) => value ?? null),
  )];
}

/** Notes what readers would see change. */
function note(
  { found, assets }: Work,
  { entity, unpack, state }: Kind<unknown>,
  id: string,
  [before, after]: readonly (SqlValue | undefined)[],
): void {
  if (before === after) return;
  const shown = (text: SqlValue | undefined) =>
    text ? JSON.stringify(state(unpack(id, String(text)), assets)) : null;
  const fields = diffStates(shown(before), shown(after));
  if (fields.length === 0) return;
  found.changed++;
  if (found.changes.length < MOST_CHANGES) {
    found.changes.push({ entity, id, fields });
  }
}

/** Folds again what other processes have folded since; returns how far that is. */
async function catchUp(work: Work, since: number): Promise<number> {
  const { driver } = work;
  const { position, nos, ...any } = await changedSince(driver, {
    ...{ folded: since, stored: since },
  });
  if (position === since) return since;
  if (any.anyOrder || any.anybody) {
    for await (const all of eachNos(driver, { limit: CHUNK })) {
      await foldNos(work, all);
    }
    return position;
  }
  for (const some = [...nos]; some.length > 0;) {
    await foldNos(work, some.splice(0, CHUNK));
  }
  return position;
}

/** Takes the place of what readers see; false where another process folded. */
async function swap(work: Work, position: number): Promise<boolean> {
  const { driver, assets, anew, tag, fold } = work;
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
  const moves = differing.flatMap(([, id, , , , moved]): ReleaseChange[] => {
    const orderId = String(id);
    const row = orders.get(orderId);
    const now = row && moved === 1 ? orderRelease(row.fold, { assets }) : null;
    return !row || now === null ? [] : [{
      ...{ orderId, now, position, recordedAt, live: false },
      historic: row.told.release === undefined && row.historic > 0,
      byExpectation: false,
    }];
  });
  const known = await loadReleases(
    (statements) => write(driver, statements),
    moves,
    { orders, key: guard.key },
  );
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
  try {
    await write(driver, [
      moveGuard(guard, { foldVersion: fold.version }),
      stillGoing(tag),
      ...purchaseStatements(releases, rows),
      ...logStatements(told, rows, {
        ...{ lastSeq: Number(last?.[0]?.[0]), subscribers: [] },
      }),
      ...[...orders.values()].map((row) =>
        updateRow("orders_next", KINDS.orders.columns(row, anew))
      ),
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
    const some = statement(
      `DELETE FROM ${table} WHERE no IN
        (SELECT no FROM ${table} LIMIT ${DELETED_AT_ONCE})`,
    );
    try {
      for (let deleted = DELETED_AT_ONCE; deleted >= DELETED_AT_ONCE;) {
        signal?.throwIfAborted();
        const results = await driver.batch([isThere, some], "write");
        deleted = results[1]?.rowsAffected ?? 0;
      }
      await write(driver, [statement(`DROP TABLE IF EXISTS ${table}`)]);
    } catch (error) {
      // Another process drops it too.
      if (!isLostRace(error)) throw error;
    }
  }
}
