/** Folds every order and user anew beside what readers see, and takes its place. */
import type { AssetTable } from "../../core/assets/environment.ts";
import type { NewTransition } from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { diffStates, type StateChange } from "./state_changes.ts";
import { orderRelease } from "../releases/order_release.ts";
import { logReleases, type ReleaseChange } from "../releases/release_log.ts";
import { orderState } from "../states/state_of_order.ts";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import {
  isLostRace,
  lostRace,
  retryLostRaces,
} from "../store/driver/retrying_driver.ts";
import { userState } from "../users/user_state.ts";
import { readDeciding, statement, write } from "../store/database.ts";
import { timeOf } from "../store/events.ts";
import { orderTable, userTable } from "../store/schema.ts";
import { type AnewOptions, rowsAnew } from "./anew.ts";
import { type Row, unpackOrder, unpackUser } from "./doc.ts";
import { type Guard, guardOf, moveGuard, selectGuard } from "./guard.ts";
import { loadReleases, purchaseStatements } from "./load.ts";
import { insertTransition, tell, withReleases } from "./log.ts";
import { FOLD, type FoldCode } from "./project.ts";
import { orderColumns, orderRows, orderView } from "./rows.ts";
import { LookupHash } from "./lookup_hash.ts";

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

type Table = "orders" | "users";

/** How far a refold got; kept, so that the next one goes on. */
interface Progress {
  readonly foldVersion: number;
  /** Events that were folded when it began. */
  readonly since: number;
  /** Ends the names of its indexes. */
  readonly tag: string;
  readonly orders: number;
  readonly users: number;
}

/**
 * Folds everything anew. What was told stays as it was, but where a release now says
 * something else it is logged, and sent to nobody.
 *
 * @throws {LedgerError} `failed` when a newer version has folded the ledger.
 */
export async function refold(
  parts: RefoldParts,
  options: RefoldOptions = {},
): Promise<Refold> {
  /** By which fold the states were when this call began. */
  let former: number | null = null;
  return await retryLostRaces(async () => {
    const { fold = FOLD } = parts;
    const [guarding] = await readDeciding(parts.driver, [selectGuard]);
    const { foldVersion, position } = guardOf(guarding);
    former ??= foldVersion;
    const isDone = former < fold.version && foldVersion === fold.version;
    // Another process of this version was first.
    return isDone
      ? { events: 0, position, changed: 0, changes: [], swapped: true }
      : await refoldOnce(parts, options);
  });
}

/** @throws {LedgerError} `conflict` where another process began anew, or was first. */
async function refoldOnce(
  parts: RefoldParts,
  options: RefoldOptions,
): Promise<Refold> {
  const { driver, fold = FOLD } = parts;
  const [guarding, resumed, tables] = await readDeciding(driver, [
    selectGuard,
    statement("SELECT value FROM cursors WHERE name = 'refold'"),
    statement("SELECT 1 FROM sqlite_schema WHERE name = 'orders_next'"),
  ]);
  const guard = guardOf(guarding);
  if (guard.foldVersion > fold.version) throw newerFold(guard, fold);
  const begun = resumed?.[0]?.[0];
  const known: Progress | null = begun === undefined || begun === null ||
      tables?.length === 0
    ? null
    : JSON.parse(String(begun));
  // A refold that was stopped at its very end left them.
  await dropFormer(driver, options.signal);
  const isDry = options.dryRun === true;
  let progress = isDry
    ? newProgress(guard, fold)
    : known?.foldVersion === fold.version
    ? known
    : await begin(driver, guard, fold);
  // No event of what is left to fold comes before it.
  const before = Math.max(0, Math.floor(progress.orders / 2));
  const found: Found = { changed: 0, changes: [], rows: 0 };
  const hash = new LookupHash(guard.key);
  const anew = { assets: parts.assets, readFact: fold.readFact, hash };
  const work: Work = { ...parts, anew, options, found, tag: progress.tag };
  for (const table of ["orders", "users"] as const) {
    for (let after = progress[table];;) {
      options.signal?.throwIfAborted();
      const next = await foldChunk(work, table, {
        sql: "no > ?1 ORDER BY no LIMIT ?2",
        args: [after, CHUNK],
      }, (last) => [saveProgress(progress = { ...progress, [table]: last })]);
      if (next === null) break;
      after = next;
      options.onProgress?.({
        position: Math.floor(after / 2),
        of: guard.position,
        events: found.rows,
      });
    }
  }
  if (!isDry) await addIndexes(work, progress);
  const result = {
    events: guard.position - before,
    position: guard.position,
    changed: found.changed,
    changes: found.changes,
  };
  if (isDry) return { ...result, swapped: false };
  for (;;) {
    const position = await catchUp(work, progress);
    progress = { ...progress, since: position };
    if (await swap(work, position)) break;
  }
  await dropFormer(driver, options.signal);
  return { ...result, swapped: true };
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

/**
 * Begins a batch that fails with `conflict` unless something holds of the database.
 *
 * @param condition A condition in SQL.
 */
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

const dropAll = dropTables("next")
  .concat(statement("DELETE FROM cursors WHERE name = 'refold'"));

function dropTables(which: "next" | "former"): Statement[] {
  return ["orders", "users"].map((table) =>
    statement(`DROP TABLE IF EXISTS ${table}_${which}`)
  );
}

/** Drops what refolds have begun, and what they have left: it says what was erased. */
export const dropRefolded: readonly Statement[] = [
  ...dropAll,
  ...dropTables("former"),
];

async function begin(
  driver: Driver,
  guard: Guard,
  fold: FoldCode,
): Promise<Progress> {
  const progress = newProgress(guard, fold);
  await write(driver, [
    moveGuard(guard),
    ...dropAll,
    ...nextTables(progress.tag).flatMap(([table = ""]) => statement(table)),
    saveProgress(progress),
  ]);
  return progress;
}

function newProgress(guard: Guard, fold: FoldCode): Progress {
  return {
    foldVersion: fold.version,
    since: guard.position,
    // Names of indexes outlive a renaming, so those of each refold are its own.
    ...{ tag: `_${guard.turn}`, orders: -1, users: -1 },
  };
}

/** The tables that are filled, each followed by its indexes. */
function nextTables(tag: string): string[][] {
  return [orderTable("orders_next", tag), userTable("users_next", tag)];
}

/** Rows that are there already are indexed in far less time than one by one. */
async function addIndexes({ driver }: Work, { tag }: Progress): Promise<void> {
  for (const index of nextTables(tag).flatMap((all) => all.slice(1))) {
    const once = index.replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS");
    await write(driver, [stillGoing(tag), statement(once)]);
  }
}

function saveProgress(progress: Progress): Statement {
  return statement(
    "INSERT OR REPLACE INTO cursors VALUES ('refold', ?, 0)",
    JSON.stringify(progress),
  );
}

/** Columns that a refold takes over as they are. */
const KEPT = [
  ...["historic", "told"],
  ...["urgency", "claimed_by", "wanted_at", "named_at", "due_at"],
];

/** Folds some rows anew, and writes them beside the others. */
async function foldChunk(
  work: Work,
  table: Table,
  where: Statement,
  also: (last: number) => Statement[],
): Promise<number | null> {
  const { driver, anew, options } = work;
  const names = ["no", "id", "fold", ...KEPT];
  const [found = []] = await readDeciding(driver, [{
    sql: `SELECT ${names.join(", ")} FROM ${table} WHERE ${where.sql}`,
    args: where.args,
  }]);
  const last = found.at(-1)?.[0];
  if (last === undefined) return null;
  const rows = found.map((row) =>
    Object.fromEntries(names.map((name, at) => [name, row[at] ?? null]))
  );
  const made = await rowsAnew(driver, { table, rows, ...anew });
  const statements = rows.map((row) => {
    const values = made.get(Number(row.no))?.columns ?? {};
    note(work, table, { row, packed: String(values.fold) });
    // What is open by this fold, and was not, is asked about at once.
    const due = values.open === 1 && row.due_at === null
      ? { due_at: values.at ?? null }
      : {};
    const all: Columns = { ...row, ...values, ...due };
    return {
      sql: `INSERT OR REPLACE INTO ${table}_next
        (${Object.keys(all).join(", ")})
        VALUES (${Object.keys(all).map(() => "?").join(", ")})`,
      args: Object.values(all),
    };
  });
  if (options.dryRun !== true) {
    await write(driver, [
      stillGoing(work.tag),
      ...statements,
      ...also(Number(last)),
    ]);
  }
  work.found.rows += rows.length;
  return Number(last);
}

type Columns = Readonly<Record<string, SqlValue>>;

/** Notes what readers would see change. */
function note(
  { found, assets, options: { maxChanges = 1000 } }: Work,
  table: Table,
  { row, packed }: { readonly row: Columns; readonly packed: string },
): void {
  if (row.fold === packed) return;
  const id = String(row.id);
  const state = (text: string) =>
    table === "orders"
      ? orderState(unpackOrder(id, text), { assets })
      : userState(unpackUser(id, text));
  const fields = diffStates(
    JSON.stringify(state(String(row.fold))),
    JSON.stringify(state(packed)),
  );
  if (fields.length === 0) return;
  found.changed++;
  if (found.changes.length < maxChanges) {
    const entity = table === "orders" ? "order" : "user";
    found.changes.push({ entity, id, fields });
  }
}

/** Folds again what other processes have folded since; returns how far that is. */
async function catchUp(work: Work, { since }: Progress): Promise<number> {
  const { driver } = work;
  const [guarding, terms, touched] = await readDeciding(driver, [
    selectGuard,
    statement(
      `SELECT count(*) FROM events WHERE position > ? AND kind IN
        ('session_created', 'order_expected', 'witness_required', 'person_erased')`,
      since,
    ),
    statement(
      `SELECT DISTINCT m.no FROM events AS e JOIN mentions AS m
        ON m.position = e.position WHERE e.position > ?`,
      since,
    ),
  ]);
  const { position } = guardOf(guarding);
  if (position === since) return position;
  // Terms and rules may concern any order.
  const everything = Number(terms?.[0]?.[0]) > 0;
  for (const table of ["orders", "users"] as const) {
    const nos = (touched ?? []).map(([no]) => Number(no))
      .filter((no) => no % 2 === (table === "orders" ? 0 : 1));
    for (let after: number | null = -1; after !== null;) {
      const limit = "no > ?1 ORDER BY no LIMIT ?2";
      after = await foldChunk(
        work,
        table,
        everything ? { sql: limit, args: [after, CHUNK] } : {
          sql: `no IN (SELECT value FROM json_each(?3)) AND ${limit}`,
          args: [after, CHUNK, JSON.stringify(nos)],
        },
        () => [],
      );
    }
  }
  return position;
}

/** Takes the place of what readers see; false where another process folded. */
async function swap(work: Work, position: number): Promise<boolean> {
  const { driver, fold = FOLD } = work;
  const found = await readDeciding(driver, [
    selectGuard,
    statement(
      `SELECT n.no, n.id, n.historic, o.told, n.fold,
          o.release <> n.release OR o.reason <> n.reason
        FROM orders_next AS n JOIN orders AS o ON o.no = n.no
        WHERE o.release <> n.release OR o.reason <> n.reason
          OR o.told <> n.told`,
    ),
    statement("SELECT coalesce(max(seq), 0) FROM log"),
    statement("SELECT recorded_at FROM events WHERE position = ?", position),
  ]).catch(async (error) => {
    // The tables are gone where another process was first.
    throw await isGoing(work) ? error : lostRace();
  });
  const guard = guardOf(found[0]);
  if (!await isGoing(work)) throw lostRace();
  if (guard.position !== position) return false;
  const orders = orderRows(found[1]);
  const moved = new Set(
    found[1]?.filter((row) => row[5] === 1).map(([, id]) => String(id)),
  );
  const logged = await logMoved(work, { orders, moved, guard, position }, {
    lastSeq: Number(found[2]?.[0]?.[0]),
    recordedAt: timeOf(found[3]?.[0]?.[0]) ?? "",
  });
  try {
    await write(driver, [
      moveGuard(guard, { foldVersion: fold.version }),
      stillGoing(work.tag),
      ...logged,
      ...(["orders", "users"] as const).flatMap((table) => [
        statement(`ALTER TABLE ${table} RENAME TO ${table}_former`),
        statement(`ALTER TABLE ${table}_next RENAME TO ${table}`),
      ]),
      statement("DELETE FROM cursors WHERE name = 'refold'"),
    ]);
    return true;
  } catch (error) {
    if (isLostRace(error)) return false;
    throw error;
  }
}

async function isGoing({ driver, tag }: Work): Promise<boolean> {
  const [found] = await readDeciding(driver, [
    statement("SELECT value ->> 'tag' FROM cursors WHERE name = 'refold'"),
  ]);
  return found?.[0]?.[0] === tag;
}

/** The log ends with what the states say now; nobody is sent anything. */
async function logMoved(
  { driver, assets, anew: { hash } }: Work,
  { orders, moved, guard, position }: {
    /** Orders of which something was told since, or is decided otherwise now. */
    readonly orders: Map<string, Row<OrderFold>>;
    /** Those of them that are decided otherwise. */
    readonly moved: ReadonlySet<string>;
    readonly guard: Guard;
    readonly position: number;
  },
  { lastSeq, recordedAt }: {
    readonly lastSeq: number;
    readonly recordedAt: string;
  },
): Promise<Statement[]> {
  const changes = [...orders].flatMap(([orderId, { fold, told }]) => {
    if (!moved.has(orderId)) return [];
    const now = orderRelease(fold, { assets });
    const isFirst = told.release === undefined;
    const historic = isFirst && (orders.get(orderId)?.historic ?? 0) > 0;
    return now === null ? [] : [
      {
        ...{ orderId, now, position, recordedAt, historic },
        ...{ live: false, byExpectation: false },
      } satisfies ReleaseChange,
    ];
  });
  if (orders.size === 0) return [];
  const known = await loadReleases({ driver, mode: "write" }, changes, {
    ...{ orders, key: guard.key },
  });
  const releases = logReleases(changes, known);
  const statements: Statement[] = [];
  for (const [id, release] of releases.orders) {
    const row = orders.get(id);
    if (row === undefined) continue;
    orders.set(id, { ...row, told: withReleases(row.told, release) });
  }
  releases.transitions.forEach((one, at) => {
    const row = orders.get(one.id);
    if (row === undefined) return;
    const isYes = one.logged?.release === "yes";
    const had = known.orders.get(one.id)?.entries.yes !== undefined;
    const transition: NewTransition = {
      ...one,
      withheld: one.withheld || (!one.historic && isYes !== had),
    };
    const told = tell(row.told, transition)?.told ?? row.told;
    orders.set(one.id, { ...row, told });
    statements.push(
      insertTransition(transition, { seq: lastSeq + at + 1, no: row.no }),
    );
  });
  for (const row of orders.values()) {
    const values = orderColumns(row, orderView(row, { assets }), hash);
    const written = ["release", "reason", "outcome", "attention"] as const;
    statements.push({
      sql: `UPDATE orders_next SET told = ?, ${
        written.map((one) => `${one} = ?`).join(", ")
      } WHERE no = ?`,
      args: [
        JSON.stringify(row.told),
        ...written.map((one) => values[one] ?? null),
        row.no,
      ],
    });
  }
  return [...purchaseStatements(releases, { orders }), ...statements];
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

function newerFold(guard: Guard, fold: FoldCode): LedgerError {
  return new LedgerError(
    "failed",
    `A newer version has folded the ledger: fold ${guard.foldVersion}, and ` +
      `this one knows ${fold.version}; update the package`,
  );
}
