import { Columns, plain } from "../columns.ts";
import type { Entity } from "../../../machines/transition.ts";
import type { ResultSet, Statement } from "../../driver/driver.ts";

/**
 * Ids that are asked for alone, because the service refuses a request that
 * holds them (`refused`, not before `again_at`) or because they match the
 * orders of others too (`crowded`).
 */
export const isolatedIdsSchema: readonly string[] = [
  `CREATE TABLE isolated_ids (
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    why TEXT NOT NULL,
    since TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    again_at TEXT NOT NULL,
    PRIMARY KEY (entity, entity_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX isolated_ids_by_kind ON isolated_ids(kind, since)`,
];

/** An id that is requested alone, and why. */
export interface IsolatedId {
  /** Orders or users. */
  readonly entity: Entity;
  /** The id. */
  readonly entityId: string;
  /**
   * - `refused`: the service fails each request that holds it.
   * - `crowded`: it is the click id or external id of many orders as well.
   * - `unnamed`: the service answers with a row without identifier.
   */
  readonly kind: "refused" | "crowded" | "unnamed";
  /** What the service said, in one sentence. */
  readonly why: string;
  /** Since when, UTC ISO 8601. */
  readonly since: string;
  /** Refusals in a row. */
  readonly attempts: number;
  /** When it is asked for again, UTC ISO 8601. */
  readonly nextAttemptAt: string;
}

const ISOLATED = new Columns<IsolatedId>({
  entity: ["entity", plain()],
  entityId: ["entity_id", plain()],
  kind: ["kind", plain()],
  why: ["why", plain()],
  since: ["since", plain()],
  attempts: ["attempts", plain()],
  nextAttemptAt: ["again_at", plain()],
});

/** Longest reason that is kept. */
const longestWhy = 300;

/**
 * The statement that forgets what was odd about ids.
 *
 * @param entity Orders or users.
 * @param ids Which ones.
 */
export function forgetIsolated(
  entity: Entity,
  ids: readonly string[],
): Statement {
  return {
    sql: `DELETE FROM isolated_ids
      WHERE entity = ? AND entity_id IN (SELECT value FROM json_each(?))`,
    args: [entity, JSON.stringify(ids)],
  };
}

/** Selects ids that are set aside, the oldest first, and how many there are. */
export function selectRefused(limit: number): Statement[] {
  return [{
    sql: "SELECT count(*) FROM isolated_ids WHERE kind = 'refused'",
    args: [],
  }, {
    sql: `SELECT ${ISOLATED.list()}
      FROM isolated_ids WHERE kind = 'refused' ORDER BY since LIMIT ?`,
    args: [limit],
  }];
}

/** Selects what is odd about one id. */
export function selectIsolated(entity: Entity, entityId: string): Statement {
  return {
    sql: `SELECT ${ISOLATED.list()}
      FROM isolated_ids WHERE entity = ? AND entity_id = ?`,
    args: [entity, entityId],
  };
}

/** Reads what {@linkcode selectRefused} or {@linkcode selectIsolated} found. */
export function isolatedIdsOf(found: ResultSet | undefined): IsolatedId[] {
  return (found?.rows ?? []).map((row) => ISOLATED.read(row));
}

/** Remembers what is odd about an id; `since` stays while it is the same. */
export function upsertIsolated(isolated: IsolatedId): Statement {
  const why = isolated.why.toWellFormed().replaceAll("\0", "").slice(
    0,
    longestWhy,
  );
  return {
    sql: `INSERT INTO isolated_ids (${ISOLATED.list()})
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
      ON CONFLICT (entity, entity_id) DO UPDATE SET
        kind = excluded.kind, why = excluded.why,
        since = CASE WHEN isolated_ids.kind = excluded.kind
          THEN isolated_ids.since ELSE excluded.since END,
        attempts = excluded.attempts, again_at = excluded.again_at`,
    args: ISOLATED.write({ ...isolated, why }),
  };
}
