import { Columns, flag, plain } from "../columns.ts";
import type { Entity, Status } from "../../../machines/transition.ts";
import type { Driver, Statement } from "../../driver/driver.ts";
import { compareTimes } from "../../../events/time.ts";
import { expectRow } from "../../driver/expect_row.ts";
import { CLOCK_TOLERANCE_MS } from "../../../../core/time/plausible_time.ts";
import { selectUnsettledUsers } from "../users.ts";

/**
 * What the service said last.
 *
 * - `observations`: the latest reading of each order and user; `digest` decides
 *   whether the next reading is new, `found` is 0 where the service did not
 *   know it. Rebuilt from the events where a row is missing. Until `rests_until`,
 *   in milliseconds since the epoch, no webhook makes the poller ask again;
 *   `rest_ms` is how long that rest was.
 * - `observation_version`: one counter that every batch of readings moves, so
 *   that two writers who compared with the same latest reading never both win.
 */
export const observationsSchema: readonly string[] = [
  `CREATE TABLE observations (
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    read_at TEXT NOT NULL,
    digest TEXT NOT NULL,
    found INTEGER NOT NULL,
    status TEXT,
    rest_ms INTEGER NOT NULL DEFAULT 0,
    rests_until INTEGER,
    PRIMARY KEY (entity, entity_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE observation_version (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
  ) STRICT`,
  `INSERT INTO observation_version (id, version) VALUES (1, 0)`,
];

/** The latest reading of an order or a user. */
export interface Observation {
  /** Which one. */
  readonly entityId: string;
  /** When we asked, by our clock, UTC ISO 8601 with milliseconds. */
  readonly requestedAt: string;
  /** When the service answered, UTC ISO 8601. */
  readonly readAt: string;
  /** Digest of what it said. */
  readonly digest: string;
  /** Whether it knew the entity. */
  readonly found: boolean;
  /** Status of an order; null for users and where there was none. */
  readonly status: Status | null;
}

const OBSERVATIONS = new Columns<Observation>({
  entityId: ["entity_id", plain()],
  requestedAt: ["asked_at", plain()],
  readAt: ["read_at", plain()],
  digest: ["digest", plain()],
  found: ["found", flag],
  status: ["status", plain()],
});

/** A reading in the ledger, as far as its rank among the others goes. */
export interface CountingReading {
  /** Effective time of the change that it states; empty for users. */
  readonly changedAt: string;
  /** Effective time of the reading, UTC ISO 8601. */
  readonly readAt: string;
  /** Digest of what it said. */
  readonly digest: string;
  /** Whether the change that it states lies ahead of it. */
  readonly isAhead: boolean;
}

/** When an order was last there and last not, by effective times. */
export interface Presence {
  /** Last reading that did not find it, UTC ISO 8601. */
  readonly absentAt: string;
  /** Last reading that showed it, UTC ISO 8601; null when none did. */
  readonly seenAt: string | null;
}

/** Latest readings, and the version they were true at. */
export interface ObservationsRead {
  /** By entity id; entities never read are left out. */
  readonly latest: ReadonlyMap<string, Observation>;
  /**
   * Users whom a webhook claims to be further than they were read. Only a later
   * reading can settle that, so one that says the same again is stored too.
   */
  readonly unsettled: ReadonlySet<string>;
  /**
   * The reading of each entity that counts in its state: the latest by
   * effective times. It is not the last one to arrive where the service's clock
   * or ours was set back.
   */
  readonly counting: ReadonlyMap<string, CountingReading>;
  /** Of orders that were absent once; others are left out. */
  readonly presence: ReadonlyMap<string, Presence>;
  /**
   * Entities of whose latest reading no event has the body any more: it was
   * erased, and must not come back because the service says the same again.
   */
  readonly erased: ReadonlySet<string>;
  /** Whether anybody was ever erased. */
  readonly anyErased: boolean;
  /** What {@linkcode moveVersion} compares with. */
  readonly version: number;
}

/**
 * Reads the latest observations. Where a row is missing, as after an import,
 * it is worked out from the events.
 *
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
  const [versions, rows, events, readings, more] = await driver.batch([
    {
      sql: `SELECT version, EXISTS (SELECT 1 FROM erased_names)
          OR EXISTS (SELECT 1 FROM erased_orders) FROM observation_version`,
      args: [],
    },
    {
      sql: `SELECT ${OBSERVATIONS.list()}
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
    countingReadings(entity, wanted),
    entity === "order" ? selectPresence(wanted) : selectUnsettledUsers(ids),
  ], "read");
  const latest = new Map<string, Observation>();
  for (const set of [events, rows]) {
    for (const row of set?.rows ?? []) {
      const observation = OBSERVATIONS.read(row);
      latest.set(observation.entityId, observation);
    }
  }
  const counting = new Map<string, CountingReading>();
  const erased = new Set<string>();
  for (const row of readings?.rows ?? []) {
    const [id, plausible, plausibleAt, ahead, isErased] = row;
    const entityId = String(id);
    if (isErased === 1) erased.add(entityId);
    const reading = countingReading(plausible, plausibleAt, ahead);
    if (reading !== null) counting.set(entityId, reading);
  }
  const ofOrders = entity === "order" ? more?.rows ?? [] : [];
  const ofUsers = entity === "user" ? more?.rows ?? [] : [];
  return {
    latest,
    unsettled: new Set(ofUsers.map(([userId]) => String(userId))),
    counting,
    presence: new Map(ofOrders.map(([orderId, absentAt, seenAt]) => [
      String(orderId),
      {
        absentAt: String(absentAt),
        seenAt: seenAt === null ? null : String(seenAt),
      },
    ])),
    erased,
    anyErased: versions?.rows[0]?.[1] === 1,
    version: Number(versions?.rows[0]?.[0] ?? 0),
  };
}

/** The reading that counts, chosen as `latestReading()` chooses it. */
function countingReading(
  plausible: unknown,
  plausibleAt: unknown,
  ahead: unknown,
): CountingReading | null {
  const dated = parts(ahead);
  const isAhead = dated !== null &&
    (plausibleAt === null ||
      compareTimes(dated.readAt, String(plausibleAt)) > 0);
  const counts = isAhead ? dated : parts(plausible);
  return counts === null ? null : { ...counts, isAhead };
}

function parts(
  reading: unknown,
): { changedAt: string; readAt: string; digest: string } | null {
  if (typeof reading !== "string") return null;
  const [changedAt = "", readAt = "", digest = ""] = reading.split(" ");
  return { changedAt, readAt, digest };
}

/** As `effectiveReadAt()` has it. */
const effectiveReadAt =
  `CASE WHEN abs(julianday(read_at) - julianday(recorded_at)) <= 2 / 1440.0
    THEN read_at ELSE recorded_at END`;

/** When each order was last there and last not, if it was not there once. */
function selectPresence(wanted: string): Statement {
  return {
    sql: `SELECT order_id, max(iif(kind = 'order_absent', at, NULL)) AS absent,
        max(iif(kind = 'order_snapshot', at, NULL))
      FROM (SELECT order_id, kind, ${effectiveReadAt} AS at FROM events
        WHERE kind IN ('order_absent', 'order_snapshot')
          AND order_id IN (SELECT value FROM json_each(?)))
      GROUP BY order_id HAVING absent IS NOT NULL`,
    args: [wanted],
  };
}

/**
 * The statement that reads which reading of each entity counts, by the rules of
 * `effective_time.ts`: a stated time of reading further than two minutes from
 * ours counts as ours, and a change dated five minutes after its reading counts
 * as that reading. A status does not count here: it decides only between
 * changes of the same second.
 */
function countingReadings(entity: Entity, wanted: string): Statement {
  const column = `${entity}_id`;
  const changedAt = entity === "user" ? "''" : "coalesce(e.occurred_at, '')";
  const ahead = entity === "user" ? "0" : `coalesce(julianday(e.occurred_at)
    > julianday(e.effective_read_at) + 5 / 1440.0, 0)`;
  return {
    sql: `SELECT e.entity_id,
        max(iif(${ahead}, NULL,
          ${changedAt} || ' ' || e.effective_read_at || ' ' || e.digest)),
        max(iif(${ahead}, NULL, e.effective_read_at)),
        max(iif(${ahead}, e.effective_read_at || ' ' || e.effective_read_at
          || ' ' || e.digest, NULL)),
        o.digest IS NOT NULL AND coalesce(max(e.digest = o.digest), 0) = 0
      FROM (SELECT ${column} AS entity_id, occurred_at, digest,
          ${effectiveReadAt} AS effective_read_at
        FROM events WHERE kind = '${entity}_snapshot'
          AND ${column} IN (SELECT value FROM json_each(?2))) AS e
      LEFT JOIN observations AS o
        ON o.entity = ?1 AND o.entity_id = e.entity_id
      GROUP BY e.entity_id`,
    args: [entity, wanted],
  };
}

/**
 * The statements that begin a batch of observations. It fails with `conflict`
 * when others were written since they were read.
 *
 * @param version From {@linkcode readObservations}.
 */
export function moveVersion(version: number): Statement[] {
  return [
    expectRow("observation_version", { version }),
    {
      sql: "UPDATE observation_version SET version = version + 1",
      args: [],
    },
  ];
}

/**
 * The statement that stores observations, unless a later one is stored. A stored
 * time in the future does not count as later: our clock was set back.
 *
 * @param entity Which kind.
 * @param observations What was read.
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function writeObservations(
  entity: Entity,
  observations: readonly Observation[],
  nowMs: number,
): Statement {
  const rows = observations.map((one) => OBSERVATIONS.write(one));
  return {
    sql: `INSERT INTO observations (entity, ${OBSERVATIONS.list()})
      SELECT ?1, ${OBSERVATIONS.values} FROM json_each(?2) WHERE true
      ON CONFLICT (entity, entity_id) DO UPDATE SET
        asked_at = excluded.asked_at, read_at = excluded.read_at,
        digest = excluded.digest, found = excluded.found,
        status = excluded.status
      WHERE excluded.asked_at >= observations.asked_at
        OR observations.asked_at > ?3`,
    args: [
      entity,
      JSON.stringify(rows),
      new Date(nowMs + CLOCK_TOLERANCE_MS).toISOString(),
    ],
  };
}

/** A confirming read, after which ids rest. */
export interface ConfirmingRead {
  /** Ids that were read. */
  readonly ids: readonly string[];
  /** Those of them whose reading was new: their pause starts again. */
  readonly changed: readonly string[];
  /** When they were asked for, in milliseconds since the epoch. */
  readonly requestedAtMs: number;
  /** Shortest rest, in milliseconds. */
  readonly shortestMs: number;
  /** Longest rest, in milliseconds. */
  readonly longestMs: number;
}

/**
 * Lets ids rest after a confirming read: for the shortest time, and twice as
 * long each time that webhooks named it again and nothing had changed.
 *
 * @param entity Orders or users.
 * @param read What was read.
 */
export function restAfterRead(
  entity: Entity,
  read: ConfirmingRead,
): Statement {
  // Left in peace for as long as it rested, it begins anew.
  const rest = `CASE WHEN rests_until IS NULL
      OR entity_id IN (SELECT value FROM json_each(?6))
      OR rests_until > ?3 + rest_ms OR rests_until < ?3 - rest_ms
    THEN ?4 ELSE min(?5, max(?4, 2 * rest_ms)) END`;
  return {
    sql: `UPDATE observations SET rest_ms = ${rest}, rests_until = ?3 + ${rest}
      WHERE entity = ?1 AND entity_id IN (SELECT value FROM json_each(?2))`,
    args: [
      entity,
      JSON.stringify(read.ids),
      Math.floor(read.requestedAtMs),
      read.shortestMs,
      read.longestMs,
      JSON.stringify(read.changed),
    ],
  };
}

/** Counts what the service has shown: rows of kind and number. */
export const countObserved: Statement = {
  sql: `SELECT entity, count(*) FROM observations
    WHERE found = 1 GROUP BY entity`,
  args: [],
};

/** Selects when the service was last asked for orders: rows of id and time. */
export function selectAskedOrders(orderIds: readonly string[]): Statement {
  return {
    sql: `SELECT entity_id, asked_at FROM observations
      WHERE entity = 'order' AND entity_id IN
        (SELECT value FROM json_each(?))`,
    args: [JSON.stringify(orderIds)],
  };
}

/** Selects what was last read of orders: rows of order id and digest. */
export function selectObservedDigests(orderIds: readonly string[]): Statement {
  return {
    sql: `SELECT entity_id, digest FROM observations WHERE entity = 'order'
      AND found = 1 AND entity_id IN (SELECT value FROM json_each(?))`,
    args: [JSON.stringify(orderIds)],
  };
}
