import { Columns, plain } from "../columns.ts";
import type { ResultSet, Statement } from "../../driver/driver.ts";

/**
 * Where transitions are forwarded to. A target's checkpoint and queue are those
 * of the subscription with its name. The address is stored without its query,
 * which may hold a secret.
 */
export const forwardTargetsSchema: readonly string[] = [
  `CREATE TABLE forward_targets (
    name TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    off_at TEXT,
    off_reason TEXT
  ) STRICT, WITHOUT ROWID`,
];

/** Where the transitions of a subscription are forwarded to. */
export interface ForwardTarget {
  /** The address without its query. */
  readonly url: string;
  /** Since when nothing is sent to it, UTC ISO 8601; null while it is on. */
  readonly offAt: string | null;
  /** Why it was switched off; null while it is on. */
  readonly offReason: string | null;
}

/** The columns of a target; {@linkcode targetOf} reads them. */
export const TARGET: Columns<ForwardTarget> = new Columns({
  url: ["url", plain()],
  offAt: ["off_at", plain()],
  offReason: ["off_reason", plain()],
});

/** Stores a target, unless it is known; one that is off stays off. */
export function upsertTarget(name: string, url: string): Statement {
  return {
    sql: `INSERT INTO forward_targets (name, url) VALUES (?, ?)
      ON CONFLICT (name) DO UPDATE SET url = excluded.url`,
    args: [name, url],
  };
}

/** Selects {@linkcode ForwardTarget} of a name. */
export function selectTarget(name: string): Statement {
  return {
    sql: `SELECT ${TARGET.list()} FROM forward_targets WHERE name = ?`,
    args: [name],
  };
}

/**
 * Reads a row of a target.
 *
 * @param row Address, since when it is off, and why; none without a target.
 */
export function targetOf(
  row: ResultSet["rows"][number] | undefined,
): ForwardTarget | null {
  return typeof row?.[TARGET.at.url] !== "string" ? null : TARGET.read(row);
}

/** Switches a target off, unless it is. */
export function switchTargetOff(
  name: string,
  off: { readonly at: string; readonly reason: string },
): Statement {
  return {
    sql: `UPDATE forward_targets SET off_at = ?, off_reason = ?
      WHERE name = ? AND off_at IS NULL`,
    args: [off.at, off.reason, name],
  };
}

/** Switches a target on, unless it is. */
export function switchTargetOn(name: string): Statement {
  return {
    sql: `UPDATE forward_targets SET off_at = NULL, off_reason = NULL
      WHERE name = ? AND off_at IS NOT NULL`,
    args: [name],
  };
}
