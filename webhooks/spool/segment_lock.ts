/** The file by which a segment is claimed: the same before it is finished. */
export function lockOfSegment(path: string): string {
  return `${path.replace(/\.new$/, "")}-lock`;
}

/**
 * Claims a segment by a lock on a file beside it, as SQLite locks its files:
 * the one lock that every runtime has and that ends with its process. The
 * database is empty and stays so.
 *
 * @param segment Path of the segment.
 * @returns What gives the segment back; null while another process has it.
 */
export async function lockSegment(
  segment: string,
): Promise<Disposable | null> {
  // Loaded late: Node 22 warns that it is new.
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(lockOfSegment(segment));
  try {
    // A journal in a file would need room, and a full disk has none.
    database.exec("PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}

/** SQLite's code for a lock that another one holds. */
const BUSY = 5;

function isBusy(error: unknown): boolean {
  const { errcode, errno, message } = error as {
    readonly errcode?: number;
    readonly errno?: number;
    readonly message: string;
  };
  return errcode === BUSY || errno === BUSY || /is locked/.test(message);
}
