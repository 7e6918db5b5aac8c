import { closeSync, existsSync, openSync } from "node:fs";
import { Sqlite, SqliteError } from "../../core/sqlite.ts";

/** Mode of a lock. */
export type FileLockMode = "shared" | "exclusive";

/**
 * Locks a file that holds nothing, as SQLite locks its databases: the system lets
 * go of the lock when the process ends, and every runtime sees it. It is advisory,
 * and as good as the file system's locks are. The file stays: removing it would let
 * two processes each hold a lock on a file of that name.
 *
 * @throws {Error} When the file cannot be made, or is not such a file.
 */
export function lockFile(path: string, mode: FileLockMode): Disposable | null {
  // Closing a file lets go of every lock that its process has on it.
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  const database = new Sqlite(path);
  try {
    database.exec(mode === "shared" ? "BEGIN" : "BEGIN EXCLUSIVE");
    // The first read is what locks it.
    database.all("SELECT count(*) FROM sqlite_schema");
  } catch (error) {
    database.close();
    if (error instanceof SqliteError && error.code === "SQLITE_BUSY") {
      return null;
    }
    throw error;
  }
  return {
    [Symbol.dispose]: () => {
      // Closing alone lets go of it only once the statement is collected.
      database.exec("ROLLBACK");
      database.close();
    },
  };
}
