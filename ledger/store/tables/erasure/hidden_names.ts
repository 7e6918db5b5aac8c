import type { Statement } from "../../driver/driver.ts";

/** Stores a key, where there is none. */
export function insertOwnKey(key: Uint8Array): Statement {
  return {
    sql: `INSERT INTO erasure_keys (id, key) VALUES (1, ?)
      ON CONFLICT DO NOTHING`,
    args: [key],
  };
}

/** Selects all keys, our own first. */
export const selectKeys: Statement = {
  sql: "SELECT key FROM erasure_keys ORDER BY id",
  args: [],
};

/** Selects hidden names: rows of hash, kind, when erased, when returned. */
export function selectNames(hashes: readonly Uint8Array[]): Statement {
  const names = hashes.map(() => "?").join(", ");
  return {
    sql: `SELECT hash, kind, erased_at, returned_at FROM erased_names
      WHERE hash IN (${names})`,
    args: hashes,
  };
}

/** A hidden name. */
export interface HiddenName {
  /** Its keyed hash. */
  readonly hash: Uint8Array;
  /** What kind of name it is. */
  readonly kind: string;
  /** When it was erased, UTC ISO 8601. */
  readonly erasedAt: string;
}

/** Stores hidden names; one that came back is gone again. */
export function insertNames(names: readonly HiddenName[]): Statement[] {
  return names.map(({ hash, kind, erasedAt }) => ({
    sql: `INSERT INTO erased_names (hash, kind, erased_at) VALUES (?, ?, ?)
      ON CONFLICT (hash) DO UPDATE SET
        erased_at = max(erased_at, excluded.erased_at), returned_at = NULL`,
    args: [hash, kind, erasedAt],
  }));
}

/** Marks users as customers again, unless they are already. */
export function markReturned(
  hashes: readonly Uint8Array[],
  at: string,
): Statement[] {
  return hashes.map((hash) => ({
    sql: `UPDATE erased_names SET returned_at = ?
      WHERE hash = ? AND returned_at IS NULL`,
    args: [at, hash],
  }));
}
