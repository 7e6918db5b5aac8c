import process from "node:process";
import type { backup, DatabaseSync, StatementSync } from "node:sqlite";

/** A value that SQLite holds. */
type Value = null | string | number | bigint | Uint8Array;

/** Before it, a checkpoint beside a commit of another process can lose commits. */
const FIRST_SAFE = [3, 51, 3];

/** What has it, for messages. */
export const SAFE_RUNTIMES =
  "Deno 2.9.2, Bun 1.4, Node 22.22.3 or 24.15, or later";

/** A refusal of SQLite. */
export class SqliteError extends Error {
  override readonly name = "SqliteError";
  /** Such as `SQLITE_BUSY`. */
  readonly code: string;

  constructor(message: string, code: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Whether several processes may write a file, each by this version or later. */
export function isSafeSqlite(version: string): boolean {
  const parts = version.split(".").map(Number);
  for (const [at, least] of FIRST_SAFE.entries()) {
    const part = parts[at] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}

let version: string | undefined;

/** The version of the runtime's SQLite. */
export function sqliteVersion(): string {
  if (version !== undefined) return version;
  const database = new Sqlite(":memory:");
  const [[found] = []] = database.all("SELECT sqlite_version()");
  database.close();
  return version = String(found);
}

/** A connection of the runtime's own SQLite: every call waits for its end. */
export class Sqlite implements Disposable {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    const { DatabaseSync } = load();
    this.#database = told(() =>
      new DatabaseSync(path, { enableForeignKeyConstraints: false })
    );
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Runs statements that have neither arguments nor answers. */
  exec(sql: string): void {
    told(() => this.#database.exec(sql));
  }

  prepare(sql: string): SqliteStatement {
    return told(() => new SqliteStatement(this.#database.prepare(sql)));
  }

  /** Compiles a statement for once, and gives its rows. */
  all(sql: string, args: readonly Value[] = []): Value[][] {
    return this.prepare(sql).all(args);
  }

  /** Copies the database as it is at one moment; an empty file is filled. */
  async copyTo(path: string): Promise<void> {
    // In one step: between two, another process could begin the copy anew.
    const options = { rate: 0x7fffffff };
    try {
      await load().backup(this.#database, path, options);
    } catch (error) {
      throw sqliteError(error);
    }
  }

  close(): void {
    this.#database.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Deno's types do not know it. */
interface ArrayStatement extends StatementSync {
  setReturnArrays(on: boolean): void;
}

/** A compiled statement. */
export class SqliteStatement {
  /** Names of the columns of its rows; none when it answers none. */
  readonly columns: readonly string[];
  readonly #statement: StatementSync;

  constructor(statement: StatementSync) {
    this.#statement = statement;
    this.columns = statement.columns().map(({ name }) => name);
    (statement as ArrayStatement).setReturnArrays(true);
  }

  /** All rows, each an array in the order of `columns`. */
  all(args: readonly Value[]): Value[][] {
    return told(() =>
      this.#statement.all(...args.map(bindable)) as unknown as Value[][]
    );
  }

  /** How many rows it changed. */
  run(args: readonly Value[]): number {
    return told(() =>
      Number(this.#statement.run(...args.map(bindable)).changes)
    );
  }
}

/** A number would be bound as a float. */
function bindable(value: Value): Value {
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

/** What is used of `node:sqlite`. */
interface Module {
  readonly DatabaseSync: typeof DatabaseSync;
  readonly backup: typeof backup;
}

let loaded: Module | undefined;

/** Node 22 warns that its SQLite is new; only that warning is held back. */
function load(): Module {
  if (loaded !== undefined) return loaded;
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...more: unknown[]) => {
    if (!/SQLite is an experimental/.test(String(warning))) {
      Reflect.apply(emitWarning, process, [warning, ...more]);
    }
  }) as typeof emitWarning;
  try {
    loaded = process.getBuiltinModule?.("node:sqlite");
  } finally {
    process.emitWarning = emitWarning;
  }
  if (loaded !== undefined) return loaded;
  throw new Error(
    `Cannot open a database: this runtime has no SQLite; use ${SAFE_RUNTIMES}`,
  );
}

/** By the primary result code. */
const CODES: Readonly<Record<number, string>> = {
  3: "SQLITE_PERM",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  18: "SQLITE_TOOBIG",
  19: "SQLITE_CONSTRAINT",
  20: "SQLITE_MISMATCH",
  23: "SQLITE_AUTH",
  26: "SQLITE_NOTADB",
};

/** Deno gives no number for what fails on opening or in `exec`. */
const TEXTS: readonly (readonly [text: RegExp, code: string])[] = [
  [/is locked/, "SQLITE_BUSY"],
  [/unable to open/, "SQLITE_CANTOPEN"],
  [/not a database/, "SQLITE_NOTADB"],
  [/malformed/, "SQLITE_CORRUPT"],
  [/readonly database/, "SQLITE_READONLY"],
  [/disk is full/, "SQLITE_FULL"],
  [/disk I\/O/, "SQLITE_IOERR"],
  [/constraint failed|cannot store/, "SQLITE_CONSTRAINT"],
];

function told<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sqliteError(error);
  }
}

function sqliteError(error: unknown): unknown {
  const { code, errcode, message } = error as Error & {
    readonly code?: string;
    readonly errcode?: number;
  };
  if (code !== "ERR_SQLITE_ERROR") return error;
  const name = errcode === undefined
    ? TEXTS.find(([text]) => text.test(message))?.[1]
    : CODES[errcode & 0xff];
  return new SqliteError(message, name ?? "SQLITE_ERROR", error);
}
