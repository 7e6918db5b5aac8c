/** Where transitions are forwarded to, and whether anything is sent there. */
import type { Statement } from "../store/driver/driver.ts";
import type { Rows } from "../store/database.ts";

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

/** Stores a target, unless it is known; one that is off stays off. */
export function upsertTarget(name: string, url: string): Statement {
  return {
    sql: `INSERT INTO targets (name, url) VALUES (?, ?)
      ON CONFLICT (name) DO UPDATE SET url = excluded.url`,
    args: [name, url],
  };
}

export function selectTarget(name: string): Statement {
  return {
    sql: `SELECT ${TARGET} FROM targets AS f WHERE name = ?`,
    args: [name],
  };
}

/** Reads a row of {@linkcode TARGET}; null where there is no target. */
export function targetOf(row: Rows[number] | undefined): ForwardTarget | null {
  const [url, offAt, offReason] = row ?? [];
  return typeof url !== "string" ? null : {
    url,
    offAt: (offAt ?? null) as string | null,
    offReason: (offReason ?? null) as string | null,
  };
}

/** Switches a target off, unless it is. */
export function switchTargetOff(
  name: string,
  { at, reason }: { readonly at: string; readonly reason: string },
): Statement {
  return {
    sql: `UPDATE targets SET off_at = ?, off_reason = ?
      WHERE name = ? AND off_at IS NULL`,
    args: [at, reason, name],
  };
}

/** Switches a target on, unless it is. */
export function switchTargetOn(name: string): Statement {
  return {
    sql: `UPDATE targets SET off_at = NULL, off_reason = NULL
      WHERE name = ? AND off_at IS NOT NULL`,
    args: [name],
  };
}
