/** The one row that every batch moves which folds, erases or begins a release. */
import type { Driver, Statement } from "../store/driver/driver.ts";
import { bytesOf, readDeciding, type Rows } from "../store/database.ts";
import { timeOf } from "../store/events.ts";
import { LookupHash } from "./lookup_hash.ts";

export interface Guard {
  readonly environment: string;
  readonly key: Uint8Array;
  readonly hash: LookupHash;
  /** UTC ISO 8601. */
  readonly createdAt: string;
  /** From when on transitions are sent, UTC ISO 8601; null before. */
  readonly goLive: string | null;
  readonly foldVersion: number;
  /** Position of the last event that is folded. */
  readonly position: number;
  readonly turn: number;
  readonly erasures: number;
  readonly counts: Readonly<Record<string, number>>;
}

export const selectGuard: Statement = {
  sql: `SELECT environment, key, created_at, live_from, fold_version, position,
    turn, erasures, counts FROM ledger`,
  args: [],
};

export function guardOf(rows: Rows | undefined): Guard {
  const [row = []] = rows ?? [];
  return {
    environment: String(row[0]),
    key: bytesOf(row[1]),
    hash: new LookupHash(bytesOf(row[1])),
    createdAt: timeOf(row[2]) ?? "",
    goLive: timeOf(row[3]),
    foldVersion: Number(row[4]),
    position: Number(row[5]),
    turn: Number(row[6]),
    erasures: Number(row[7]),
    counts: JSON.parse(String(row[8] ?? "{}")),
  };
}

export async function readGuard(driver: Driver): Promise<Guard> {
  return guardOf((await readDeciding(driver, [selectGuard]))[0]);
}

/**
 * Begins a write batch that leaves what `to` says in the row. If another process was
 * first the batch fails with `conflict`, and nothing of it is written.
 */
export function moveGuard(
  from: Guard,
  to: Partial<Guard> = {},
): Statement {
  const { position, foldVersion, erasures, counts } = { ...from, ...to };
  const args = [from.turn, from.foldVersion, position, foldVersion];
  return {
    sql: `UPDATE ledger SET position = ?3, fold_version = ?4, erasures = ?5,
      counts = ?6, environment = ?7,
      turn = CASE WHEN turn = ?1 AND fold_version = ?2 THEN turn + 1 END`,
    args: [...args, erasures, JSON.stringify(counts), from.environment],
    expects: true,
  };
}
