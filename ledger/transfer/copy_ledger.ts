import { hex } from "@scure/base";
import { sha256 } from "../hashes/sha256.ts";
import { openDriver } from "../store/connections/open_driver.ts";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { checkStored, type LedgerStamp, makeLedger } from "../store/stamp.ts";
import { headOf, selectHead } from "../store/tables/chain.ts";
import {
  beginCopy,
  type CopiedLedger,
  copiedLedgerOf,
  type CopiedRange,
  type CopiedTable,
  countRows,
  endCopy,
  forgetTable,
  noteRange,
  type Place,
  placeOfText,
  placeText,
  readCopiedTables,
  replaceRange,
  selectCopy,
  selectNextRows,
  selectPulse,
  selectRange,
  selectRanges,
  selectSchema,
  selectStampSchema,
  selectWholeStamp,
  UNFINISHED_COPY,
} from "../store/copied_rows.ts";
import { selectHeldLeases } from "../store/tables/leases.ts";
import { selectTables } from "../store/table_names.ts";

/** How a ledger is copied. */
export interface CopyOptions {
  /**
   * Nobody uses the ledger any more: what is copied becomes the ledger. Without
   * it the ledger may be in use, and what changes meanwhile is copied by the
   * next run.
   *
   * @default false
   */
  readonly finish?: boolean;
  /** Stops between two ranges; the next run goes on from there. */
  readonly signal?: AbortSignal;
  /** Called with the rows that were compared so far. */
  readonly onProgress?: (rows: number) => void;
  /**
   * Most rows of a range; fewer where rows are large.
   *
   * @default 1000
   */
  readonly rangeRows?: number;
}

/** What a run has copied. */
export interface LedgerCopy {
  /** Identity of both ledgers, 32 hex digits. */
  readonly ledgerId: string;
  /** Their environment. */
  readonly environment: string;
  /** Rows of all tables that the run has compared. */
  readonly rows: number;
  /** Rows among them that it wrote, because they were missing or changed. */
  readonly written: number;
  /** Events in the chain of the copy. */
  readonly events: number;
  /** Hash of the last event in the chain; null before the first. */
  readonly hash: string | null;
  /** Whether the copy is a ledger now; otherwise it still has to be finished. */
  readonly finished: boolean;
}

/** Both sides of a copy. */
interface Sides {
  readonly source: Driver;
  readonly target: Driver;
}

/**
 * Copies a ledger into an empty database, all tables as they stand: events,
 * evidence, states, and how far each subscription is. It goes by ranges of rows;
 * the target notes the hash of each. A range whose rows still hash to that is
 * passed over, any other is written in one batch and read back. So a run that
 * was stopped, or was made while the ledger was in use, is continued by the
 * next, and after the last both hold the same rows.
 *
 * Until it is finished the target is not a ledger, and nothing opens it as one.
 *
 * @param source The ledger, of the schema of this version.
 * @param target An empty database, or one with an unfinished copy of the ledger.
 * @throws {LedgerError} `not_a_ledger` when the target holds something else, or
 * the source is none; `busy` when the ledger is in use as it is finished;
 * `failed` when the target gives back other rows than were written.
 */
export async function copyLedger(
  source: Driver,
  target: Driver,
  options: CopyOptions = {},
): Promise<LedgerCopy> {
  const { finish = false } = options;
  const stamp = await checkStored(source);
  await using model = await modelLedger();
  await begin(target, stamp, model.driver);
  if (finish) await requireRest(source);
  const [before] = await source.batch([selectPulse], "write");
  const copy = new Copying({ source, target }, options);
  const tables = await readCopiedTables(model.driver);
  for (const table of tables) await copy.table(table, finish);
  const [head] = await target.batch([selectHead], "write");
  if (finish) {
    await compareCounts({ source, target }, tables);
    const [after] = await source.batch([selectPulse], "write");
    if (String(after?.rows) !== String(before?.rows)) throw inUse();
    await end({ source, target }, model.driver);
  }
  const { ledgerId, environment } = stamp;
  const { rows, written } = copy;
  const { events = 0, hash = null } = headOf(head) ?? {};
  return {
    ledgerId,
    environment,
    rows,
    written,
    events,
    hash,
    finished: finish,
  };
}

/** An empty ledger of this version, which shows what its tables are. */
async function modelLedger() {
  const driver = await openDriver({ url: ":memory:", worker: false });
  await makeLedger(driver, { environment: "model", now: () => 0 });
  return { driver, [Symbol.asyncDispose]: () => driver.close() };
}

/** Makes the tables in the target, or checks whose copy is under way there. */
async function begin(
  target: Driver,
  stamp: LedgerStamp,
  model: Driver,
): Promise<void> {
  const [found] = await target.batch([selectTables], "write");
  const names = found?.rows.map(([name]) => String(name)) ?? [];
  if (names.length === 0) {
    const [schema] = await model.batch([selectSchema], "read");
    const tables = schema?.rows.map(([sql]): Statement => ({
      sql: String(sql),
      args: [],
    })) ?? [];
    await target.batch([...beginCopy(stamp), ...tables], "write");
    return;
  }
  if (names.includes("rampkit")) {
    throw new LedgerError(
      "not_a_ledger",
      "Cannot copy there: the database holds a ledger already; name an empty " +
        "one",
    );
  }
  if (!names.includes(UNFINISHED_COPY)) {
    throw new LedgerError(
      "not_a_ledger",
      "Cannot copy there: the database belongs to another program (it has the " +
        `table ${JSON.stringify(names[0])}); name an empty one`,
    );
  }
  const [copies] = await target.batch([selectCopy], "write");
  const copied: CopiedLedger = copiedLedgerOf(copies?.rows[0] ?? []);
  if (copied.ledgerId !== stamp.ledgerId) {
    throw new LedgerError(
      "not_a_ledger",
      "Cannot copy there: the database holds an unfinished copy of another " +
        `ledger, ${copied.ledgerId}, and this one is ${stamp.ledgerId}; name ` +
        "an empty one",
    );
  }
  if (copied.schemaVersion !== stamp.schemaVersion) {
    throw new LedgerError(
      "not_a_ledger",
      `Cannot continue: the copy was begun with schema ${copied.schemaVersion}, ` +
        `and the ledger has ${stamp.schemaVersion} now; begin again in an ` +
        "empty database",
    );
  }
}

/** A process that polls, forwards or calls handlers holds a lease. */
async function requireRest(source: Driver): Promise<void> {
  const [held] = await source.batch([selectHeldLeases], "write");
  if ((held?.rows.length ?? 0) > 0) throw inUse();
}

function inUse(): LedgerError {
  return new LedgerError(
    "busy",
    "Cannot finish the copy: the ledger is in use; stop every serve and " +
      "program on it, wait half a minute where one was killed, then run this " +
      "again",
  );
}

/** Copies table by table, and counts. */
class Copying {
  /** Rows compared. */
  rows = 0;
  /** Rows written. */
  written = 0;
  readonly #sides: Sides;
  readonly #options: CopyOptions;

  constructor(sides: Sides, options: CopyOptions) {
    this.#sides = sides;
    this.#options = options;
  }

  /**
   * Copies a table. Where rows move while they are copied, two ranges may hold
   * the same one: then the table is copied anew, at the latest at rest.
   */
  async table(table: CopiedTable, atRest: boolean): Promise<void> {
    for (let attempt = 1;; attempt++) {
      try {
        return await this.#ranges(table);
      } catch (error) {
        const moved = error instanceof LedgerError &&
          error.code === "constraint";
        if (!moved || attempt > 1 && atRest) throw error;
        await this.#sides.target.batch(forgetTable(table), "write");
        if (attempt > 1) return;
      }
    }
  }

  async #ranges(table: CopiedTable): Promise<void> {
    const { source, target } = this.#sides;
    const { signal, onProgress, rangeRows: mostRows = 1000 } = this.#options;
    const [noted] = await target.batch([selectRanges(table)], "write");
    const ranges = new Map<string, CopiedRange>(
      noted?.rows.map(([after, end, digest]) => [
        String(after),
        { end: placeOfText(String(end)), digest: String(digest) },
      ]),
    );
    let after: Place = null;
    let notes: Statement[] = [];
    for (;;) {
      signal?.throwIfAborted();
      const stored = ranges.get(placeText(after));
      const end = stored?.end ?? null;
      const [found] = await source.batch([
        selectNextRows(table, { after, end, mostRows }),
      ], "read");
      // The last column says how many rows there were to take from.
      const taken = Number(found?.rows[0]?.at(-1) ?? 0);
      const rows = found?.rows.map((row) => row.slice(0, -1)) ?? [];
      if (stored === undefined && rows.length === 0) break;
      const whole = stored !== undefined && rows.length === taken;
      const to = whole
        ? stored.end
        : rows.at(-1)?.slice(0, table.key.length) ?? [];
      const digest = digestOf(rows);
      this.rows += rows.length;
      onProgress?.(this.rows);
      if (!whole || stored.digest !== digest) {
        await this.#write(table, { after, end: to, rows, digest }, notes);
        notes = [noteRange(table, after, { end: to, digest })];
        if (stored !== undefined && !whole) {
          const rest = { end: stored.end, digest: "" };
          notes.push(noteRange(table, to, rest));
          ranges.set(placeText(to), rest);
        }
      }
      after = to;
    }
    // Whatever a run that was killed has written and not noted.
    await target.batch([
      ...notes,
      ...replaceRange(table, { after, end: null, rows: [] }),
    ], "write");
  }

  async #write(
    table: CopiedTable,
    range: {
      readonly after: Place;
      readonly end: Place;
      readonly rows: readonly (readonly SqlValue[])[];
      readonly digest: string;
    },
    notes: readonly Statement[],
  ): Promise<void> {
    const { target } = this.#sides;
    const { after, end, rows, digest } = range;
    const results = await target.batch([
      ...notes,
      ...replaceRange(table, range),
      selectRange(table, after, end),
    ], "write");
    if (digestOf(results.at(-1)?.rows ?? []) !== digest) {
      throw new LedgerError(
        "failed",
        `The target gives back other rows of ${table.name} than were written; ` +
          "do not use it",
      );
    }
    this.written += rows.length;
  }
}

/** The columns of a ledger are strict: a text and a number are never in one. */
function digestOf(rows: readonly (readonly SqlValue[])[]): string {
  const parts = rows.flat().map((value) =>
    value === null || value instanceof Uint8Array ? value : String(value)
  );
  return hex.encode(sha256("rampkit/copied-rows/1", parts));
}

/** Counts the rows of both sides once more, apart from their ranges. */
async function compareCounts(
  { source, target }: Sides,
  tables: readonly CopiedTable[],
): Promise<void> {
  for (const table of tables) {
    const [theirs, ours] = await Promise.all([source, target].map(
      async (driver) =>
        (await driver.batch([countRows(table)], "read"))[0]?.rows[0]?.[0],
    ));
    if (theirs !== ours) {
      throw new LedgerError(
        "failed",
        `The copy is not whole: it has ${ours} rows of ${table.name}, and the ` +
          `ledger ${theirs}`,
      );
    }
  }
}

/** Makes the copy a ledger. */
async function end({ source, target }: Sides, model: Driver): Promise<void> {
  const [schema] = await model.batch([selectStampSchema], "read");
  const [stamp] = await source.batch([selectWholeStamp], "write");
  await target.batch(
    endCopy(
      String(schema?.rows[0]?.[0]),
      stamp?.columns ?? [],
      stamp?.rows[0] ?? [],
    ),
    "write",
  );
}
