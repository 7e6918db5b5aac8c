import { openDriver } from "./connections/open_driver.ts";
import type {
  Driver,
  ResultSet,
  SqlValue,
  Statement,
} from "./driver/driver.ts";
import { LedgerError } from "./driver/errors.ts";
import { makeLedger, renewStamp, type StampOptions } from "./stamp.ts";

/** A database in memory with the tables of a ledger. */
interface Made {
  readonly driver: Driver;
  /** Makes all rows what they were when it was made. */
  readonly renew: readonly Statement[];
  /** Version of its tables, indexes and triggers. */
  readonly schema: SqlValue | undefined;
}

/** Those that nobody uses. */
const unused: Made[] = [];

/** More are closed. */
const MOST_UNUSED = 4;

/**
 * Opens a new ledger in memory, in a database that an earlier one has closed
 * where there is one: its tables are made and its statements compiled, which
 * takes longer than a test.
 *
 * @param options Whom it belongs to, and the clock.
 * @returns The database; closing it leaves it to the next ledger.
 */
export async function openMemoryLedger(
  options: StampOptions,
): Promise<Driver> {
  const { environment, now } = options;
  const made = unused.pop() ?? await make({ environment, now });
  await made.driver.batch([...made.renew, renewStamp(options)], "write");
  return new MemoryLedger(made);
}

async function make(
  options: StampOptions,
): Promise<Made> {
  const driver = await openDriver({ url: ":memory:", worker: false });
  await makeLedger(driver, options);
  const [tables] = await driver.batch([{
    sql: "SELECT name FROM sqlite_schema WHERE type = 'table'",
    args: [],
  }], "read");
  const names = tables?.rows.map(([name]) => `"${name}"`) ?? [];
  const stored = await driver.batch(
    names.map((name) => ({ sql: `SELECT * FROM ${name}`, args: [] })),
    "read",
  );
  return {
    driver,
    schema: await schemaOf(driver),
    renew: [
      ...names.map((name) => ({ sql: `DELETE FROM ${name}`, args: [] })),
      ...names.flatMap((name, at) =>
        (stored[at]?.rows ?? []).map((row) => ({
          sql: `INSERT INTO ${name} VALUES (${row.map(() => "?").join(", ")})`,
          args: row,
        }))
      ),
    ],
  };
}

/** Another number after each change of a table, an index or a trigger. */
async function schemaOf(driver: Driver): Promise<SqlValue | undefined> {
  const sql = "SELECT schema_version FROM pragma_schema_version";
  const [found] = await driver.batch([{ sql, args: [] }], "read");
  return found?.rows[0]?.[0];
}

/** One use of a database. */
class MemoryLedger implements Driver {
  readonly location = "memory";
  readonly #made: Made;
  #isClosed = false;

  constructor(made: Made) {
    this.#made = made;
  }

  async batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    if (this.#isClosed) {
      throw new LedgerError("closed", "The database was closed before");
    }
    return await this.#made.driver.batch(statements, mode);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { driver, schema } = this.#made;
    const isAsMade = await schemaOf(driver) === schema;
    if (isAsMade && unused.length < MOST_UNUSED) unused.push(this.#made);
    else await driver.close();
  }
}
