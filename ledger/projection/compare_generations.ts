import type { Driver } from "../store/driver.ts";
import {
  type Checkpoints,
  checkpointsOf,
  selectCheckpoints,
} from "./checkpoint.ts";
import { diffStates, type StateDifference } from "./state_diff.ts";
import type { Entity } from "./transition.ts";

/** An order or user whose state differs between two generations. */
export interface StateChange {
  /** Whether it is an order or a user. */
  readonly entity: Entity;
  /** Order or user identifier. */
  readonly id: string;
  /** What differs. */
  readonly fields: readonly StateDifference[];
}

/** One page of a comparison. */
export interface ComparedPage {
  /** The checkpoints, as of the same moment as the states. */
  readonly checkpoints: Checkpoints;
  /** Entities that differ. */
  readonly changes: readonly StateChange[];
  /** Last id compared; null when everything has been. */
  readonly last: string | null;
}

/**
 * Compares the states of two generations, one page of ids. The database does
 * it, because nearly all states are the same and need not be read.
 *
 * @param driver The database.
 * @param what Which entities of which generations, after which id.
 */
export async function compareGenerations(
  driver: Driver,
  what: {
    readonly entity: Entity;
    readonly before: number;
    readonly after: number;
    readonly afterId: string;
    readonly limit?: number;
  },
): Promise<ComparedPage> {
  const { entity, before, after, afterId, limit = 2000 } = what;
  const { selectEnd, selectDifferent } = statementsOf[entity];
  const args = [before, after, afterId, limit - 1];
  const [checkpoints, end, different] = await driver.batch([
    selectCheckpoints,
    { sql: selectEnd, args },
    { sql: selectDifferent, args },
  ], "read");
  const changes = different?.rows.map(([id, was, is]) => ({
    entity,
    id: id as string,
    fields: diffStates(was as string | null, is as string | null),
  })).filter(({ fields }) => fields.length > 0) ?? [];
  return {
    checkpoints: checkpointsOf(checkpoints),
    changes,
    last: end?.rows[0]?.[0] as string | null ?? null,
  };
}

const statementsOf: Readonly<Record<Entity, ReturnType<typeof statements>>> = {
  order: statements("orders", "order_id"),
  user: statements("users", "user_id"),
};

/** Arguments: generation before, generation after, last id, ids less one. */
function statements(table: string, id: string) {
  const lastOfPage = (generation: string) =>
    `(SELECT ${id} FROM ${table} WHERE generation = ${generation} AND ${id} > ?3
      ORDER BY ${id} LIMIT 1 OFFSET ?4)`;
  // A page ends where the first of both has had its number of rows.
  const end = `(SELECT min(id) FROM (SELECT ${lastOfPage("?1")} AS id
    UNION ALL SELECT ${lastOfPage("?2")}))`;
  const inPage = (alias: string) =>
    `${alias}.${id} > ?3 AND (${end} IS NULL OR ${alias}.${id} <= ${end})`;
  return {
    selectEnd: `SELECT ${end}`,
    selectDifferent: `SELECT b.${id}, b.state, a.state
      FROM ${table} AS b LEFT JOIN ${table} AS a
        ON a.generation = ?2 AND a.${id} = b.${id}
      WHERE b.generation = ?1 AND ${inPage("b")} AND b.state IS NOT a.state
      UNION ALL SELECT a.${id}, NULL, a.state FROM ${table} AS a
      WHERE a.generation = ?2 AND ${inPage("a")} AND NOT EXISTS (
        SELECT 1 FROM ${table} AS b
        WHERE b.generation = ?1 AND b.${id} = a.${id})
      ORDER BY 1`,
  };
}
