import * as fs from "node:fs";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { Sqlite, SqliteError, type SqliteStatement } from "../core/sqlite.ts";
import { firstTimeOf } from "../core/wire/delivery_records.ts";

export interface Group {
  readonly count: number;
  /** Bytes of those with large bodies. */
  readonly largeBytes: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A group in a file, in which the numbers rise. */
export interface KeptGroup extends Group {
  readonly number: number;
}

/** One file of an inbox, which one process works on. */
export type InboxFile = Omit<SqliteFile, "make" | "open">;

/** The folder of an inbox: the files of all processes that work on it. */
export interface InboxFolder {
  list(): readonly string[];
  create(name: string): InboxFile;
  /** Takes a file whose process has ended; null while a process holds it. */
  claim(name: string): InboxFile | null;
  remove(name: string): void;
  /** Keeps a damaged file for a person to look at. */
  setAside(name: string): void;
}

const END = ".inbox.db";
const DAMAGED = ".damaged";

/** Most records, and about the most bytes, that are handed over at once. */
const MOST_RECORDS = 1_024;
const MOST_BYTES = 1 << 20;
const TABLE = `CREATE TABLE IF NOT EXISTS kept (number INTEGER PRIMARY KEY,
  at REAL NOT NULL, count INTEGER NOT NULL, large INTEGER NOT NULL,
  crc INTEGER NOT NULL, records BLOB NOT NULL) STRICT`;

/** Room that a new file takes on the disk, so that a small body finds some. */
const FIRST_BYTES = 64 << 10;

const syncData = promisify(fs.fdatasync);

/** The folder of an inbox on a local disk. It is made whenever it is missing. */
export function inboxFolder(directory: string): InboxFolder {
  const at = (name: string): string => `${directory}/${name}`;
  return {
    list() {
      fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
      return fs.readdirSync(directory).filter((name) => name.endsWith(END));
    },
    create(name) {
      fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
      const path = at(name);
      fs.closeSync(fs.openSync(path, "wx", 0o600));
      fs.chmodSync(path, 0o600);
      let file: SqliteFile | null = null;
      try {
        file = new SqliteFile(path, name);
        file.make();
        const folder = fs.openSync(directory, "r");
        fs.fsyncSync(folder);
        fs.closeSync(folder);
        return file;
      } catch (error) {
        file?.close();
        removeFile(path);
        throw error;
      }
    },
    claim(name) {
      if (!fs.existsSync(at(name))) return null;
      const file = new SqliteFile(at(name), name);
      try {
        file.open();
        return file;
      } catch (error) {
        file.close();
        if (error instanceof SqliteError && error.code === "SQLITE_BUSY") {
          return null;
        }
        throw error;
      }
    },
    remove: (name) => removeFile(at(name)),
    setAside(name) {
      for (const end of ["-wal", ""]) {
        if (!fs.existsSync(at(name) + end)) continue;
        fs.renameSync(at(name) + end, at(name) + DAMAGED + end);
      }
    },
  };
}

/** Whether a file of an inbox was set aside. */
export function isSetAside(name: string): boolean {
  return name.endsWith(END + DAMAGED);
}

/**
 * Whether a file is of an inbox, holds deliveries, and no process holds it. A
 * damaged one may hold some.
 */
export function isLeft(path: string): boolean {
  const [folder, name = ""] = [dirname(path), basename(path)];
  if (!name.endsWith(END)) return false;
  try {
    const file = inboxFolder(folder).claim(name);
    if (file === null) return false;
    const { count } = file.kept();
    file.close();
    return count > 0;
  } catch (error) {
    if (isDamage(error)) return true;
    throw error;
  }
}

function removeFile(path: string): void {
  for (const end of ["-wal", "-journal", ""]) {
    fs.rmSync(path + end, { force: true });
  }
}

/** Whether an error says that a file is no database, or not whole. */
export function isDamage(error: unknown): boolean {
  return error instanceof SqliteError &&
    ["SQLITE_CORRUPT", "SQLITE_NOTADB"].includes(error.code);
}

/**
 * A file that its process holds by SQLite's own lock, which ends with the
 * process. A commit goes to the log without a sync, and `sync()` syncs the log
 * without holding up the thread. Before SQLite copies the log into the database
 * it syncs the log itself.
 */
class SqliteFile {
  readonly name: string;
  /** Whether something in it cannot be read. */
  isDamaged = false;
  readonly #path: string;
  readonly #database: Sqlite;
  readonly #compiled = new Map<string, SqliteStatement>();
  #log = -1;
  #places = "";
  /** Number of the last group; it never goes back. */
  #last = 0;

  constructor(path: string, name: string) {
    this.#path = path;
    this.name = name;
    this.#database = new Sqlite(path);
    // The first read takes the lock; other files are beside no other process.
    this.#database.exec("PRAGMA locking_mode = EXCLUSIVE");
    // Bodies are personal data.
    this.#database.exec("PRAGMA secure_delete = ON");
  }

  make(): void {
    // Few large writes for a group. Its file is removed before the log is long,
    // so the log is copied into it only while nothing waits.
    this.#database.exec("PRAGMA page_size = 16384");
    this.#database.all("PRAGMA journal_mode = WAL");
    this.#database.exec(`PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = 0;
      ${TABLE};
      BEGIN;
      INSERT INTO kept VALUES (1, 0, 0, 0, 0, zeroblob(${FIRST_BYTES}));
      DELETE FROM kept;
      COMMIT`);
    this.#log = fs.openSync(`${this.#path}-wal`, "r+");
    // Before it was locked, another process may have taken it for a left one.
    fs.statSync(this.#path);
    this.#places = this.#found();
  }

  open(): void {
    // A process may have died before it made the table.
    this.#database.exec(TABLE);
  }

  /** Adds groups; a crash keeps them only after `sync()`. */
  write(groups: readonly Group[]): number {
    const insert = this.#statement(
      "INSERT INTO kept VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      for (const { count, largeBytes, bytes } of groups) {
        const [at, crc] = [firstTimeOf(bytes), crc32(bytes)];
        insert.run([++this.#last, at, count, largeBytes, crc, bytes]);
      }
      this.#database.exec("COMMIT");
      return this.#last;
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** Makes sure that a crash keeps what was written. */
  async sync(): Promise<void> {
    await syncData(this.#log);
    // A removed file is lost when the process ends.
    if (this.#found() === this.#places) return;
    throw Object.assign(new Error(`${this.#path} was replaced`), {
      code: "ENOENT",
    });
  }

  kept(): Omit<Group, "bytes"> & { readonly bytes: number } {
    const [[count, largeBytes, bytes] = []] = this.#database.all(
      "SELECT total(count), total(large), total(length(records)) FROM kept",
    );
    return {
      count: Number(count),
      largeBytes: Number(largeBytes),
      bytes: Number(bytes),
    };
  }

  /** When the first record after a group was received, ms since 1970; or null. */
  oldestMs(after: number): number | null {
    const [[at] = []] = this.#database.all(
      "SELECT at FROM kept WHERE number > ? ORDER BY number LIMIT 1",
      [after],
    );
    return at === undefined ? null : Number(at);
  }

  read(after: number, upTo: number): readonly KeptGroup[] {
    const rows = this.#statement(
      `WITH sums AS (
          SELECT number, row_number() OVER seen AS nth,
            sum(count) OVER seen AS counted,
            sum(length(records)) OVER seen AS bytes
          FROM kept WHERE number > ? AND number <= ?
          WINDOW seen AS (ORDER BY number) LIMIT ${MOST_RECORDS}
        )
        SELECT number, count, large, crc, records FROM kept
        WHERE number IN (SELECT number FROM sums WHERE nth = 1 OR
          (counted <= ${MOST_RECORDS} AND bytes <= ${MOST_BYTES}))
        ORDER BY number`,
    ).all([after, Math.min(upTo, Number.MAX_SAFE_INTEGER)]);
    return rows.map(([number, count, large, crc, found]) => {
      const bytes = found as Uint8Array<ArrayBuffer>;
      const isWhole = crc32(bytes) === crc;
      if (!isWhole) this.isDamaged = true;
      return {
        number: Number(number),
        count: isWhole ? Number(count) : 0,
        largeBytes: Number(large),
        bytes: isWhole ? bytes : new Uint8Array(0),
      };
    });
  }

  forget(number: number): void {
    this.#database.all("DELETE FROM kept WHERE number <= ?", [number]);
  }

  /** Spares the work of keeping what closing would copy: it is not needed. */
  discard(): void {
    this.#database.exec("PRAGMA synchronous = OFF");
  }

  tidy(): void {
    this.#database.all("PRAGMA wal_checkpoint(TRUNCATE)");
  }

  close(): void {
    if (this.#log >= 0) fs.closeSync(this.#log);
    this.#log = -1;
    this.#database.close();
  }

  #statement(sql: string): SqliteStatement {
    const compiled = this.#compiled.get(sql) ?? this.#database.prepare(sql);
    this.#compiled.set(sql, compiled);
    return compiled;
  }

  #found(): string {
    return ["", "-wal"].map((end) => {
      const found = fs.statSync(this.#path + end, { throwIfNoEntry: false });
      return `${found?.dev}:${found?.ino}`;
    }).join();
  }
}
