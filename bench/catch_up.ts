import Database from "libsql";

/** How long a ledger may take to store what was answered, ms. */
const patienceMs = 180_000;
/** How long folding and chaining are waited for, ms. */
const foldingMs = 30_000;

/** Events that are not folded, or not chained. */
const behind = `SELECT (SELECT coalesce(max(position), 0) FROM events) -
  min((SELECT position FROM projections WHERE name = 'live'),
    (SELECT coalesce(max(position), 0) FROM chain_checkpoint))`;

/** What is left to do for a ledger that took deliveries. */
export interface CatchUp {
  /** Seconds until everything that was answered was in the ledger. */
  readonly storedSeconds: number;
  /**
   * Seconds until all of it was folded and chained, or until that was waited
   * for no longer; null if not awaited.
   */
  readonly foldedSeconds: number | null;
  /** Events that were not folded and chained by then. */
  readonly behind: number;
  /** Deliveries in the ledger then. */
  readonly stored: number;
}

/**
 * Waits until a ledger holds what was answered, and has folded and chained it.
 *
 * @param file The ledger; another process writes it.
 * @param expected The least it has to hold, and whether folding is awaited.
 * @throws {Error} When that takes longer than three minutes.
 */
export async function catchUp(
  file: string,
  { answered, folding }: {
    readonly answered: number;
    readonly folding: boolean;
  },
): Promise<CatchUp> {
  const database = new Database(file, { readonly: true });
  try {
    const one = (sql: string): number =>
      Number((database.prepare(sql).raw().get([]) as unknown[])[0] ?? 0);
    const start = performance.now();
    const seconds = (): number => (performance.now() - start) / 1000;
    let storedSeconds: number | null = null;
    let last = -1;
    while (seconds() * 1000 < patienceMs) {
      const head = one("SELECT max(position) FROM events");
      if (storedSeconds === null && head >= answered && head === last) {
        storedSeconds = seconds();
      }
      last = head;
      if (storedSeconds !== null) {
        const left = folding ? one(behind) : 0;
        if (left === 0 || seconds() * 1000 >= foldingMs) {
          const foldedSeconds = folding ? seconds() : null;
          return { storedSeconds, foldedSeconds, behind: left, stored: head };
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    throw new Error("The ledger did not catch up within three minutes");
  } finally {
    database.close();
  }
}
