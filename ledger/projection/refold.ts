/** Folds every order and user anew beside what readers see, and takes its place. */
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  logReleases,
  orderRelease,
  type ReleaseChange,
} from "../releases/order_release.ts";
import {
  type Driver,
  isLostRace,
  LedgerError,
  lostRace,
  read,
  readDeciding,
  retryLostRaces,
  type SqlValue,
  type Statement,
  statement,
  write,
} from "../store/database.ts";
import { timeOf } from "../store/events.ts";
import { orderTable, userTable } from "../store/schema.ts";
import {
  changedSince,
  type Compared,
  compareRows,
  insertExpected,
  missingTerms,
  nextNos,
  type Walked,
} from "./anew.ts";
import {
  type Columns,
  DUE_COLUMNS,
  dueOf,
  insertRows,
  type Kind,
  KINDS,
  orderRows,
  TABLES,
  type Told,
  updateRow,
} from "./rows.ts";
import {
  type Guard,
  guardOf,
  moveGuard,
  readGuard,
  selectGuard,
} from "./guard.ts";
import {
  FOLD,
  type FoldParts,
  inSteps,
  loadReleases,
  type Most,
  purchaseStatements,
} from "./project.ts";
import { LAST_SEQ, logStatements, tellAll } from "./log.ts";
import type { Entity } from "../machines/transition.ts";

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

/** How far a refold got; kept, so that the next one goes on. */
interface Progress {
  readonly foldVersion: number;
  /** Events that were folded when it began. */
  readonly since: number;
  /** Ends the names of its indexes, which outlive a renaming. */
  readonly tag: string;
  readonly no: number;
}

/**
 * Restores what was deleted from the file too. What was told stays as it was, but where
 * a release now says something else it is logged, and sent to nobody.
 */
export async function refold(
  { driver, assets, fold = FOLD }: FoldParts,
  options: RefoldOptions = {},
): Promise<Refold> {
  /** By which fold the states were when this call began. */
  let former: number | null = null;
  const result = await retryLostRaces(async () => {
    const guard = await readGuard(driver);
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
    return await refoldOnce({ driver, assets, fold }, options, guard);
  });
  if (result.swapped) await dropFormer(driver, options.signal);
  return result;
}

async function refoldOnce(
  parts: Refolding,
  { dryRun = false, signal, onProgress }: RefoldOptions,
  guard: Guard,
): Promise<Refold> {
  const { driver, fold } = parts;
  const { position } = guard;
  const [resumed] = await readDeciding(driver, [
    statement(
      `SELECT value FROM cursors WHERE name = 'refold'
        AND EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'orders_next')`,
    ),
  ]);
  const known: Progress = JSON.parse(String(resumed?.[0]?.[0] ?? "{}"));
  const goesOn = !dryRun && known.foldVersion === fold.version;
  const progress: Progress = goesOn ? known : {
    ...{ foldVersion: fold.version, since: position },
    ...{ tag: `_${guard.turn}`, no: 0 },
  };
  const { tag } = progress;
  let changed = 0;
  const changes: StateChange[] = [];
  const foldRows = inSteps(parts, FOLD_ROWS, ROWS_AT_ONCE);
  const makeRows = async (from: Progress, nos?: readonly number[]) => {
    for (let progress = from;;) {
      const made = await foldRows({ progress, dryRun, nos });
      if (made.events === 0) return;
      changed += made.changes.length;
      changes.push(...made.changes.slice(0, MOST_CHANGES - changes.length));
      progress = { ...progress, no: made.no };
      onProgress?.(Math.floor(made.no / 2));
      signal?.throwIfAborted();
    }
  };
  const result = (swapped: boolean) => {
    // No event of what was left to fold comes before it.
    const events = position - Math.floor(progress.no / 2);
    return { events, position, changed, changes, swapped };
  };
  if (!dryRun && !goesOn) await begin(parts, guard, progress);
  try {
    await makeRows(progress);
    if (dryRun) return result(false);
    // Rows that are there already are indexed in far less time than one by one.
    for (const index of nextTables(tag).flatMap((all) => all.slice(1))) {
      const once = index.replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS");
      await write(driver, [stillGoing(tag), statement(once)]);
    }
    for (let { since } = progress;;) {
      // Other processes may have folded meanwhile.
      const { position, nos, ...any } = await changedSince(driver, {
        ...{ folded: since, stored: since },
      });
      const some = any.anyOrder || any.anybody ? undefined : [...nos];
      if (position > since) await makeRows({ ...progress, no: 0 }, some);
      since = position;
      if (await swap(parts, tag, since)) return result(true);
    }
  } catch (error) {
    // The tables are gone where another process was first.
    throw dryRun || await isGoing(driver, tag) ? error : lostRace();
  }
}

type Refolding = Required<Omit<FoldParts, "redactNew">>;

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

async function isGoing(driver: Driver, tag: string): Promise<boolean> {
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
  { driver, fold }: Refolding,
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
    : await missingTerms(driver, guard.position, fold.readFact);
  await write(driver, [
    moveGuard(guard),
    ...dropRefolded,
    ...nextTables(progress.tag).map(([table = ""]) => statement(table)),
    ...missing.map((one) => insertExpected(guard.hash, one)),
    saveProgress(progress),
  ]);
}

function saveProgress(progress: Progress): Statement {
  return statement(
    "INSERT OR REPLACE INTO cursors VALUES ('refold', ?, 0)",
    JSON.stringify(progress),
  );
}

/** The most events of a step; what is read of them is held at once. */
const ROWS_AT_ONCE = 1000;

/** Makes rows anew, and writes them beside those that readers see. */
export const FOLD_ROWS = {
  name: "rows",
  async make(
    { driver, assets, fold = FOLD }: FoldParts,
    { progress, dryRun, nos: some, most }: Most & {
      readonly progress: Progress;
      readonly dryRun: boolean;
      readonly nos: readonly number[] | undefined;
    },
  ): Promise<Walked & Pick<Refold, "changes">> {
    const page = { after: progress.no, most };
    const { nos, no, events } = await nextNos(driver, { ...page, some });
    const { hash } = await readGuard(driver);
    const anew = { assets, hash, readFact: fold.readFact };
    const rows = await compareRows(driver, nos, anew);
    if (!dryRun) {
      await write(driver, [
        stillGoing(progress.tag),
        ...TABLES.flatMap((table) =>
          insertRows(
            `INSERT OR REPLACE INTO ${table}_next`,
            rows.filter((row) => row.table === table).flatMap(nextRow),
          )
        ),
        ...some ? [] : [saveProgress({ ...progress, no })],
      ]);
    }
    const changes = rows.flatMap((row) => changeOf(row, assets));
    return { no, events, changes };
  },
};

function nextRow({ stored, made }: Compared): Columns[] {
  if (made === undefined) return [];
  const { fold, columns } = made;
  const kept = stored?.id === columns.id ? stored : undefined;
  const at = fold.activity.lastAt;
  // What is restored is asked about again.
  const due = kept === undefined
    ? dueOf(fold, at === null ? undefined : { at, urgency: 0, claimedBy: 0 })
    : Object.fromEntries(DUE_COLUMNS.map((name) => [name, kept[name] ?? null]));
  // What is open by this fold, and was not, is asked about at once.
  const due_at = due.due_at ?? (columns.open === 1 && columns.at || null);
  const values = { ...columns, ...due, due_at };
  return [values];
}

/** What readers would see change of a row. */
function changeOf(
  { table, stored, made }: Compared,
  assets: AssetTable,
): StateChange[] {
  if (made === undefined) return [];
  const { entity, unpack, state }: Kind<unknown> = KINDS[table];
  const id = String(made.columns.id);
  const before = stored?.id === id ? stored.fold : null;
  const after = made.columns.fold;
  if (before === after) return [];
  const shown = (text: SqlValue | undefined) =>
    text ? state(unpack(id, String(text)), assets) : null;
  const fields = diffStates(shown(before), shown(after));
  return fields.length === 0 ? [] : [{ entity, id, fields }];
}

/** Takes the place of what readers see; false where another process folded. */
async function swap(
  { driver, assets, fold }: Refolding,
  tag: string,
  position: number,
): Promise<boolean> {
  const [guarding, differing = [], last, at] = await readDeciding(driver, [
    selectGuard,
    // What was told meanwhile is in the row that readers see.
    statement(
      `SELECT n.no, n.id, n.historic, o.told, n.fold,
          o.release <> n.release OR o.reason <> n.reason AS moved
        FROM orders_next AS n JOIN orders AS o ON o.no = n.no
        WHERE moved OR o.told <> n.told`,
    ),
    statement(`SELECT ${LAST_SEQ}`),
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
        updateRow(
          "orders_next",
          KINDS.orders.written(row, { assets, hash: guard.hash }).columns,
        )
      ),
      ...TABLES.flatMap((table) => [
        statement(`ALTER TABLE ${table} RENAME TO ${table}_former`),
        statement(`ALTER TABLE ${table}_next RENAME TO ${table}`),
      ]),
      noRefold,
    ]);
    return true;
  } catch (error) {
    if (isLostRace(error) && await isGoing(driver, tag)) return false;
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
 * Compares every column of each order and user with a fold of its own events, and the
 * log with what their rows say was told. What was folded meanwhile is not compared.
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

/** An order or user whose state a refold changes. */
export interface StateChange {
  /** Whether it is an order or a user. */
  readonly entity: Entity;
  /** Order or user identifier. */
  readonly id: string;
  /** What differs. */
  readonly fields: readonly StateDifference[];
}

/** One field that differs between two states. */
export interface StateDifference {
  /** Field, dotted inside objects: `fees.partnerFee`, `anomalies.0.kind`. */
  readonly field: string;
  /** Value before, as text; null when there was none. */
  readonly before: string | null;
  /** Value after, as text; null when there is none. */
  readonly after: string | null;
}

/**
 * Compares two states field by field. Null, an empty list and a missing field
 * are the same: nothing.
 */
export function diffStates(
  before: unknown,
  after: unknown,
): StateDifference[] {
  const was = new Map(flat("", before));
  const is = new Map(flat("", after));
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((field) => was.get(field) !== is.get(field))
    .map((field) => ({
      field,
      before: was.get(field) ?? null,
      after: is.get(field) ?? null,
    }));
}

function flat(field: string, value: unknown): [string, string][] {
  if (value === null || value === undefined) return [];
  if (typeof value !== "object") return [[field, String(value)]];
  return Object.entries(value).flatMap(([key, inner]) =>
    flat(field === "" ? key : `${field}.${key}`, inner)
  );
}
