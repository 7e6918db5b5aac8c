/** Where transitions are forwarded to, and whether anything is sent there. */
import { type Rows, select, write } from "../store/database.ts";
import type { Driver } from "../store/driver/driver.ts";

/** Where the transitions of a subscription are forwarded to. */
export interface ForwardTarget {
  /** The address without its query, which may hold a secret. */
  readonly url: string;
  /** Since when nothing is sent to it, UTC ISO 8601; null while it is on. */
  readonly offAt: string | null;
  /** Why it was switched off; null while it is on. */
  readonly offReason: string | null;
}

/** Columns that {@linkcode targetOf} reads, of `targets AS f`. */
export const TARGET = "f.url, f.off_at, f.off_reason";

/** Reads a row of {@linkcode TARGET}; null where there is no target. */
export function targetOf(
  [url, offAt = null, offReason = null]: Rows[number] = [],
): ForwardTarget | null {
  return typeof url === "string"
    ? { url, offAt, offReason } as ForwardTarget
    : null;
}

/** Stores a target, unless it is known; one that is off stays off. */
export async function registerTarget(
  driver: Driver,
  name: string,
  url: string,
): Promise<ForwardTarget> {
  const [, found] = await write(driver, [{
    sql: `INSERT INTO targets (name, url) VALUES (?, ?)
      ON CONFLICT (name) DO UPDATE SET url = excluded.url`,
    args: [name, url],
  }, {
    sql: `SELECT ${TARGET} FROM targets AS f WHERE name = ?`,
    args: [name],
  }]);
  return targetOf(found?.[0]) ?? { url, offAt: null, offReason: null };
}

export async function isTargetOff(
  driver: Driver,
  name: string,
): Promise<boolean> {
  const sql = "SELECT 1 FROM targets WHERE name = ? AND off_at IS NOT NULL";
  return (await select(driver, sql, name)).length === 1;
}

/** Switches a target off, so that nothing is sent to it, or on. */
export async function switchTarget(
  driver: Driver,
  name: string,
  off: { readonly at: string; readonly reason: string } | null,
): Promise<boolean> {
  const [switched] = await driver.batch([{
    sql: `UPDATE targets SET off_at = ?1, off_reason = ?2
      WHERE name = ?3 AND (off_at IS NULL) <> (?1 IS NULL)`,
    args: [off?.at ?? null, off?.reason ?? null, name],
  }], "write");
  return (switched?.rowsAffected ?? 0) > 0;
}
