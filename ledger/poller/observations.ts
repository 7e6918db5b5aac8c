import type { Status } from "../fold/order_state.ts";
import type { Driver, ResultSet, Statement } from "../store/driver.ts";

/** What can be observed at the service. */
export type Entity = "order" | "user";

/** The latest reading of an order or a user. */
export interface Observation {
  /** Which one. */
  readonly entityId: string;
  /** When we asked, by our clock, UTC ISO 8601 with milliseconds. */
  readonly askedAt: string;
  /** When the service answered, UTC ISO 8601. */
  readonly readAt: string;
  /** Digest of what it said. */
  readonly digest: string;
  /** Whether it knew the entity. */
  readonly found: boolean;
  /** Status of an order; null for users and where there was none. */
  readonly status: Status | null;
}

/** A reading of a user, as far as its rank among the others goes. */
export interface CountingReading {
  /** When the service answered, UTC ISO 8601. */
  readonly readAt: string;
  /** Digest of what it said. */
  readonly digest: string;
}

/** Latest readings, and the version they were true at. */
export interface ObservationsRead {
  /** By entity id; entities never read are left out. */
  readonly latest: ReadonlyMap<string, Observation>;
  /**
   * Users whom a webhook claims to be further than they were read. Only a later
   * reading can settle that, so one that says the same again is news.
   */
  readonly unsettled: ReadonlySet<string>;
  /**
   * The reading of each user that counts: the latest by the service's clock,
   * which is not the last one to arrive where that clock was set back.
   */
  readonly counting: ReadonlyMap<string, CountingReading>;
  /**
   * Users of whose latest reading no event has the body any more: it was
   * erased, and is not to come back for the service's saying the same again.
   */
  readonly erased: ReadonlySet<string>;
  /** What {@linkcode versionGuard} compares with. */
  readonly version: number;
}

/**
 * Reads the latest observations. Where a row is missing, as after an import,
 * it is worked out from the events.
 *
 * @param driver The database.
 * @param entity Which kind.
 * @param ids Which ones.
 *
 * @example What was said last time
 * ```ts ignore
 * const { latest } = await readObservations(driver, "order", ["01J…"]);
 * ```
 */
export async function readObservations(
  driver: Driver,
  entity: Entity,
  ids: readonly string[],
): Promise<ObservationsRead> {
  const column = entity === "order" ? "order_id" : "user_id";
  const kinds = entity === "order"
    ? "'order_snapshot', 'order_absent'"
    : "'user_snapshot'";
  const wanted = JSON.stringify(ids);
  const [versions, rows, events, claimed, readings] = await driver.batch([
    { sql: "SELECT version FROM observation_version", args: [] },
    {
      sql: `SELECT entity_id, asked_at, read_at, digest, found, status
        FROM observations
        WHERE entity = ? AND entity_id IN (SELECT value FROM json_each(?))`,
      args: [entity, wanted],
    },
    {
      sql: `SELECT e.${column}, e.recorded_at, e.read_at, e.digest,
          e.kind <> 'order_absent', NULL
        FROM json_each(?2) AS w JOIN events AS e ON e.${column} = w.value
        WHERE e.kind IN (${kinds}) AND e.digest IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM observations AS o
            WHERE o.entity = ?1 AND o.entity_id = w.value)
        ORDER BY e.read_at, e.position`,
      args: [entity, wanted],
    },
    ...(entity === "order" ? [] : [{
      // The status of a banned user is confirmed, whatever is claimed beside.
      sql: `SELECT user_id FROM users
        WHERE instr(state, '"needsConfirm":true') > 0
        AND generation = (SELECT generation FROM projections
          WHERE name = 'live')
        AND user_id IN (SELECT value FROM json_each(?))`,
      args: [wanted],
    }, {
      sql: `SELECT e.user_id, max(e.read_at || ' ' || e.digest),
          o.digest IS NOT NULL AND coalesce(max(e.digest = o.digest), 0) = 0
        FROM events AS e LEFT JOIN observations AS o
          ON o.entity = 'user' AND o.entity_id = e.user_id
        WHERE e.kind = 'user_snapshot'
          AND e.user_id IN (SELECT value FROM json_each(?))
        GROUP BY e.user_id`,
      args: [wanted],
    }]),
  ], "read");
  const latest = new Map<string, Observation>();
  for (const set of [events, rows]) {
    for (const row of set?.rows ?? []) {
      const observation = fromRow(row);
      latest.set(observation.entityId, observation);
    }
  }
  const counting = new Map<string, CountingReading>();
  const erased = new Set<string>();
  for (const [id, reading, isErased] of readings?.rows ?? []) {
    const userId = String(id);
    if (isErased === 1) erased.add(userId);
    if (reading === null) continue;
    const [readAt = "", digest = ""] = String(reading).split(" ");
    counting.set(userId, { readAt, digest });
  }
  return {
    latest,
    unsettled: new Set(claimed?.rows.map(([userId]) => String(userId))),
    counting,
    erased,
    version: Number(versions?.rows[0]?.[0] ?? 0),
  };
}

function fromRow(row: ResultSet["rows"][number]): Observation {
  return {
    entityId: String(row[0]),
    askedAt: String(row[1]),
    readAt: String(row[2]),
    digest: String(row[3]),
    found: row[4] === 1,
    status: row[5] === null ? null : String(row[5]),
  };
}

/**
 * The statement that aborts a batch when observations were written since they
 * were read.
 *
 * @param version From {@linkcode readObservations}.
 */
export function versionGuard(version: number): Statement {
  return {
    sql: `UPDATE observation_version
      SET version = CASE WHEN version = ? THEN version + 1 END`,
    args: [version],
  };
}

/**
 * The statement that stores observations, unless a later one is there.
 *
 * @param entity Which kind.
 * @param observations What was read.
 */
export function writeObservations(
  entity: Entity,
  observations: readonly Observation[],
): Statement {
  const rows = observations.map((one) => [
    one.entityId,
    one.askedAt,
    one.readAt,
    one.digest,
    one.found ? 1 : 0,
    one.status,
  ]);
  return {
    sql: `INSERT INTO observations
        (entity, entity_id, asked_at, read_at, digest, found, status)
      SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3,
        value ->> 4, value ->> 5
      FROM json_each(?2) WHERE true
      ON CONFLICT (entity, entity_id) DO UPDATE SET
        asked_at = excluded.asked_at, read_at = excluded.read_at,
        digest = excluded.digest, found = excluded.found,
        status = excluded.status
      WHERE excluded.asked_at >= observations.asked_at`,
    args: [entity, JSON.stringify(rows)],
  };
}
