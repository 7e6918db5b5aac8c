/** What the service said last of orders and users, by which the next reading is news. */
import { CLOCK_TOLERANCE_MS } from "../../core/time/plausible_time.ts";
import { compareTimes } from "../events/time.ts";
import type { Entity, Status } from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import type { UserFold } from "../users/user_fold.ts";
import { userState } from "../users/user_state.ts";
import {
  addOrderRows,
  addUserRows,
  selectOrderRows,
  selectUserRows,
} from "../projection/load.ts";
import type { Row } from "../projection/doc.ts";
import { listed, readDeciding, type Rows } from "../store/database.ts";

/** The latest reading of an order or a user. */
export interface Observation {
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

/** A reading in the ledger, as far as its rank among the others goes. */
export interface CountingReading {
  /** Effective time of the change that it states; empty for users. */
  readonly changedAt: string;
  /** Effective time of the reading, UTC ISO 8601. */
  readonly readAt: string;
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
   * The reading of each entity that counts in its state: the latest by effective
   * times. It is not the last one to arrive where a clock was set back.
   */
  readonly counting: ReadonlyMap<string, CountingReading>;
  /** Of orders that were absent once; others are left out. */
  readonly presence: ReadonlyMap<string, Presence>;
  /**
   * Entities of whose latest reading no event has the body any more: it was erased,
   * and must not come back because the service says the same again.
   */
  readonly erased: ReadonlySet<string>;
  /** Whether anybody was ever erased. */
  readonly anyErased: boolean;
  /** What {@linkcode moveVersion} compares with. */
  readonly version: string;
}

/** Counter that every batch of readings moves, so that two writers never both win. */
const VERSION = "observations";

/**
 * Reads the latest observations. Where there is none, as after an import, it is worked
 * out from what is folded.
 */
export async function readObservations(
  driver: Driver,
  entity: Entity,
  ids: readonly string[],
): Promise<ObservationsRead> {
  const wanted = listed(ids);
  const [versions, rows, folds] = await readDeciding(driver, [
    {
      sql:
        `SELECT coalesce((SELECT value FROM cursors WHERE name = '${VERSION}'),
        '0'), erasures > 0 FROM ledger`,
      args: [],
    },
    {
      sql:
        `SELECT id, asked_at, read_at, digest, found, status FROM observations
        WHERE entity = ? AND id IN (SELECT value FROM json_each(?))`,
      args: [entity, wanted],
    },
    entity === "order"
      ? selectOrderRows("o.id IN (SELECT value FROM json_each(?))", wanted)
      : selectUserRows("u.id IN (SELECT value FROM json_each(?))", wanted),
  ]);
  const [version, anyErased] = versions?.[0] ?? [];
  const known = entity === "order" ? ofOrders(folds) : ofUsers(folds);
  const latest = new Map(known.latest);
  const erased = new Set<string>();
  for (const row of rows ?? []) {
    const observation = observationOf(row);
    const { entityId, digest, found } = observation;
    const counts = known.counting.get(entityId);
    if (anyErased === 1 && found && counts?.digest !== digest) {
      erased.add(entityId);
    }
    latest.set(entityId, observation);
  }
  return {
    ...known,
    latest,
    erased,
    anyErased: anyErased === 1,
    version: String(version ?? "0"),
  };
}

type Known = Pick<
  ObservationsRead,
  "latest" | "unsettled" | "counting" | "presence"
>;

function observationOf(
  [id, requestedAt, readAt, digest, found, status]: Rows[number],
): Observation {
  return {
    entityId: String(id),
    requestedAt: String(requestedAt),
    readAt: String(readAt),
    digest: String(digest),
    found: found === 1,
    status: status === null || status === undefined ? null : String(status),
  };
}

function ofOrders(rows: Rows | undefined): Known {
  const orders = new Map<string, Row<OrderFold>>();
  addOrderRows(orders, rows);
  const latest = new Map<string, Observation>();
  const counting = new Map<string, CountingReading>();
  const presence = new Map<string, Presence>();
  for (const [entityId, { fold }] of orders) {
    const { absentAt, seenAt } = fold;
    const isAbsent = absentAt !== null &&
      (seenAt === null || compareTimes(absentAt, seenAt) > 0);
    if (absentAt !== null) presence.set(entityId, { absentAt, seenAt });
    const reading = fold.latest;
    if (reading !== null) {
      const { readAt, digest, statedChangedAt } = reading;
      // A new reading states it with milliseconds, and the text decides.
      const changedAt = reading.changedAt.replace(/:(\d\d)Z$/, ":$1.000Z");
      const isAhead = reading === fold.ahead && statedChangedAt !== null;
      counting.set(entityId, { changedAt, readAt, digest, isAhead });
    }
    if (reading === null && absentAt === null) continue;
    const readAt = isAbsent ? absentAt : reading?.readAt ?? "";
    latest.set(entityId, {
      ...{ entityId, readAt, requestedAt: readAt, found: !isAbsent },
      digest: isAbsent ? "" : reading?.digest ?? "",
      status: isAbsent ? null : reading?.status || null,
    });
  }
  return { latest, counting, presence, unsettled: new Set() };
}

function ofUsers(rows: Rows | undefined): Known {
  const users = new Map<string, Row<UserFold>>();
  addUserRows(users, rows);
  const latest = new Map<string, Observation>();
  const counting = new Map<string, CountingReading>();
  const unsettled = new Set<string>();
  for (const [entityId, { fold }] of users) {
    if (userState(fold).needsConfirm) unsettled.add(entityId);
    if (fold.latest === null) continue;
    const { readAt, digest } = fold.latest;
    counting.set(entityId, { changedAt: "", readAt, digest, isAhead: false });
    latest.set(entityId, {
      ...{ entityId, readAt, digest, requestedAt: readAt },
      ...{ found: true, status: null },
    });
  }
  return { latest, counting, unsettled, presence: new Map() };
}

/**
 * The statement that begins a batch of observations. The batch fails with `conflict`
 * when others were written since they were read.
 *
 * @param version From {@linkcode readObservations}.
 */
export function moveVersion(version: string): Statement[] {
  return [{
    sql: `INSERT INTO cursors VALUES ('${VERSION}', '1', 0)
      ON CONFLICT (name) DO UPDATE SET value = CASE value WHEN ?
        THEN CAST(value + 1 AS TEXT) END`,
    args: [version],
    expects: true,
  }];
}

/**
 * The statement that stores observations, unless a later one is stored. A stored time
 * in the future does not count as later: our clock was set back.
 */
export function writeObservations(
  entity: Entity,
  observations: readonly Observation[],
  nowMs: number,
): Statement {
  const rows = observations.map((one) => [
    ...[one.entityId, one.requestedAt, one.readAt, one.digest],
    ...[one.found ? 1 : 0, one.status],
  ]);
  const values = [0, 1, 2, 3, 4, 5].map((at) => `value ->> ${at}`).join(", ");
  return {
    sql: `INSERT INTO observations
        (entity, id, asked_at, read_at, digest, found, status)
      SELECT ?1, ${values} FROM json_each(?2) WHERE true
      ON CONFLICT (entity, id) DO UPDATE SET
        asked_at = excluded.asked_at, read_at = excluded.read_at,
        digest = excluded.digest, found = excluded.found,
        status = excluded.status
      WHERE excluded.asked_at >= asked_at OR asked_at > ?3`,
    args: [
      entity,
      JSON.stringify(rows),
      new Date(nowMs + CLOCK_TOLERANCE_MS).toISOString(),
    ],
  };
}

/** A confirming read, after which ids rest. */
export interface ConfirmingRead {
  readonly ids: readonly string[];
  /** Those of them whose reading was new: their pause starts again. */
  readonly changed: readonly string[];
  /** When they were asked for, in milliseconds since the epoch. */
  readonly requestedAtMs: number;
  readonly shortestMs: number;
  readonly longestMs: number;
}

/**
 * Lets ids rest after a confirming read: for the shortest time, and twice as long each
 * time that webhooks named it again and nothing had changed.
 */
export function restAfterRead(
  entity: Entity,
  { ids, changed, requestedAtMs, shortestMs, longestMs }: ConfirmingRead,
): Statement {
  // Left in peace for as long as it rested, it begins anew.
  const rest = `CASE WHEN rests_until IS NULL
      OR id IN (SELECT value FROM json_each(?6))
      OR rests_until > ?3 + rest_ms OR rests_until < ?3 - rest_ms
    THEN ?4 ELSE min(?5, max(?4, 2 * rest_ms)) END`;
  return {
    sql: `UPDATE observations SET rest_ms = ${rest}, rests_until = ?3 + ${rest}
      WHERE entity = ?1 AND id IN (SELECT value FROM json_each(?2))`,
    args: [
      ...[entity, listed(ids), Math.floor(requestedAtMs)],
      ...[shortestMs, longestMs, listed(changed)],
    ],
  };
}

/** Counts what the service has shown: rows of kind and number. */
export const countObserved: Statement = {
  sql: `SELECT entity, count(*) FROM observations
    WHERE found = 1 GROUP BY entity`,
  args: [],
};
