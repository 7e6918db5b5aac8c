/** What the service said last of orders and users, and which changes that showed. */
import { CLOCK_TOLERANCE_MS } from "../../core/time/service_time.ts";
import {
  ANNOUNCED,
  type Entity,
  type ObservedChange,
  type Status,
  type WatchedChange,
} from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { orderRows, selectRows, userRows } from "../projection/rows.ts";
import {
  type Driver,
  insertMany,
  listed,
  read,
  readDeciding,
  type Statement,
} from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf } from "../store/events.ts";
import { ATTEMPTS_FROM_PREVIOUS_MS } from "../../core/waiting/waiting.ts";
import { compareTimes } from "../events/time.ts";
import { type UserFold, userState } from "../users/user_state.ts";

/** The latest reading of an order or a user. */
export interface Observation {
  readonly entityId: string;
  /** When we asked, by our clock, UTC ISO 8601 with milliseconds. */
  readonly requestedAt: string;
  /** When the service answered, UTC ISO 8601. */
  readonly readAt: string;
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

/** What is known of an order or a user before a reading. */
interface Known {
  /** Null where it was never read. */
  readonly latest: Observation | null;
  /**
   * The reading that counts in its state: the latest by effective times. It is not the
   * last one to arrive where a clock was set back.
   */
  readonly counting: CountingReading | null;
  /** Of an order that was absent once. */
  readonly presence: Presence | null;
  /**
   * A user whom a webhook claims to be further than it was read. Only a later reading
   * can settle that, so one that says the same again is stored too.
   */
  readonly isUnsettled: boolean;
  /**
   * No event has the body of its latest reading any more: it was erased, and must not
   * come back because the service says the same again.
   */
  readonly isErased: boolean;
}

/** What is known, and the version it was true at. */
export interface ObservationsRead {
  readonly known: ReadonlyMap<string, Known>;
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
  const [versions, rows = [], folds] = await readDeciding(driver, [
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
    selectRows(
      entity === "order" ? "orders" : "users",
      "r.id IN (SELECT value FROM json_each(?))",
      wanted,
    ),
  ]);
  const known = new Map(
    entity === "order"
      ? [...orderRows(folds)].map(([id, { fold }]) => [id, ofOrder(fold)])
      : [...userRows(folds)].map(([id, { fold }]) => [id, ofUser(fold)]),
  );
  const [version, hasErased] = versions?.[0] ?? [];
  const anyErased = hasErased === 1;
  const isCounting = (id: string, digest: string) =>
    known.get(id)?.counting?.digest === digest;
  // Where a clock was set back, another reading than the last one counts.
  const others = rows.filter(([id, , , digest, found]) =>
    anyErased && found === 1 && !isCounting(String(id), String(digest))
  ).map(([id]) => String(id));
  const bodies = others.length === 0
    ? new Set()
    : await digestsOf(driver, entity, others);
  for (const [id, requestedAt, readAt, digest, found, status = null] of rows) {
    const entityId = String(id);
    const folded = known.get(entityId) ?? UNKNOWN;
    const isErased = others.includes(entityId) &&
      !bodies.has(`${entityId} ${digest}`);
    const latest = {
      ...{ entityId, requestedAt: String(requestedAt) },
      ...{ readAt: String(readAt), digest: String(digest) },
      ...{ found: found === 1, status: status as string | null },
    };
    known.set(entityId, { ...folded, latest, isErased });
  }
  return { known, anyErased, version: String(version ?? "0") };
}

/** Digests of the readings of these that still have their bodies, each behind its id. */
async function digestsOf(
  driver: Driver,
  entity: Entity,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const [rows] = await readDeciding(driver, [{
    sql: `SELECT ${EVENT_COLUMNS} FROM json_each(?) AS w
      CROSS JOIN ${entity}s AS q ON q.id = w.value
      CROSS JOIN mentions AS m ON m.no = q.no
      CROSS JOIN events AS e ON e.position = m.position
        AND e.kind = '${entity}_snapshot'`,
    args: [listed(ids)],
  }]);
  return new Set(
    eventsOf(rows).map((event) => `${event[`${entity}Id`]} ${event.digest}`),
  );
}

const UNKNOWN: Known = {
  ...{ latest: null, counting: null, presence: null },
  ...{ isUnsettled: false, isErased: false },
};

/** What is folded, as if it were observed. */
function ofOrder(
  { orderId: entityId, absentAt, seenAt, latest, ahead, statusless }: OrderFold,
): Known {
  const isAbsent = absentAt !== null &&
    (seenAt === null || compareTimes(absentAt, seenAt) > 0);
  const shown = isAbsent ? null : latest;
  const readAt = isAbsent ? absentAt : latest?.readAt ?? "";
  // One without a status that seems later is told of until a reading overtakes it.
  const last = latest !== null && statusless !== null &&
      compareTimes(statusless.readAt, latest.readAt) >= 0
    ? statusless
    : latest;
  return {
    ...UNKNOWN,
    presence: absentAt === null ? null : { absentAt, seenAt },
    latest: latest === null && absentAt === null ? null : {
      ...{ entityId, readAt, requestedAt: readAt, found: !isAbsent },
      ...{ digest: shown?.digest ?? "", status: shown?.status || null },
    },
    counting: last && {
      ...{ readAt: last.readAt, digest: last.digest },
      // A new reading states it with milliseconds, and the text decides.
      changedAt: last.changedAt.replace(/:(\d\d)Z$/, ":$1.000Z"),
      isAhead: last === ahead,
    },
  };
}

function ofUser(fold: UserFold): Known {
  const isUnsettled = userState(fold).needsConfirm;
  if (fold.latest === null) return { ...UNKNOWN, isUnsettled };
  const { userId: entityId, latest: { readAt, digest } } = fold;
  const more = { requestedAt: readAt, found: true, status: null };
  return {
    ...{ ...UNKNOWN, isUnsettled },
    latest: { entityId, readAt, digest, ...more },
    counting: { changedAt: "", readAt, digest, isAhead: false },
  };
}

/**
 * The statement that begins a batch of observations. The batch fails with `conflict`
 * when others were written since they were read.
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
  return {
    sql: `INSERT INTO observations
        (entity, id, asked_at, read_at, digest, found, status)
      SELECT ?1, value ->> 'entityId', value ->> 'requestedAt', value ->> 'readAt',
        value ->> 'digest', value ->> 'found', value ->> 'status'
      FROM json_each(?2) WHERE true
      ON CONFLICT (entity, id) DO UPDATE SET
        asked_at = excluded.asked_at, read_at = excluded.read_at,
        digest = excluded.digest, found = excluded.found,
        status = excluded.status
      WHERE excluded.asked_at >= asked_at OR asked_at > ?3`,
    args: [
      entity,
      JSON.stringify(observations),
      new Date(nowMs + CLOCK_TOLERANCE_MS).toISOString(),
    ],
  };
}

/**
 * Lets ids rest after a confirming read: for the shortest time, and twice as long each
 * time that webhooks named it again and nothing had changed.
 */
export function restAfterRead(
  entity: Entity,
  { ids, changed, requestedAtMs, shortestMs, longestMs }: {
    readonly ids: readonly string[];
    /** Those of them whose reading was new: their pause starts again. */
    readonly changed: readonly string[];
    /** When they were asked for, in milliseconds since the epoch. */
    readonly requestedAtMs: number;
    readonly shortestMs: number;
    readonly longestMs: number;
  },
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

/** Rows of kind and number. */
export const countObserved: Statement = {
  sql: `SELECT entity, count(*) FROM observations
    WHERE found = 1 GROUP BY entity`,
  args: [],
};

export const KEEP_CHANGES_MS: number = 3 * 24 * 3_600_000;

export function insertObservedChanges(
  moves: readonly (ObservedChange & { readonly orderId: string })[],
): Statement[] {
  return insertMany(
    "INSERT INTO observed (order_id, status, moved_at, seen_at)",
    moves.map((one) => [one.orderId, one.status, one.movedAt, one.seenAt]),
    "ON CONFLICT (order_id, status) DO NOTHING",
  );
}

/** How long after a move was seen its webhook may come, in seconds. */
const ANNOUNCED_WITHIN_SECONDS =
  (Math.max(...ATTEMPTS_FROM_PREVIOUS_MS) + CLOCK_TOLERANCE_MS) / 1000;

/** When the webhook that announces a move must be there, in our form of times. */
const LATEST = `strftime('%Y-%m-%dT%H:%M:%fZ', m.seen_at,
  '+${ANNOUNCED_WITHIN_SECONDS} seconds')`;

/** Our form of the time of an event, which is stored as ms where that loses nothing. */
const RECORDED_AT = `CASE typeof(e.recorded_at) WHEN 'integer'
  THEN strftime('%Y-%m-%dT%H:%M:%fZ', e.recorded_at / 1000.0, 'unixepoch')
  ELSE e.recorded_at END`;

const TYPE = `CASE WHEN json_valid(CAST(e.body AS TEXT))
  THEN CAST(e.body AS TEXT) ->> '$.type' END`;

/**
 * Whether the webhook that announces a move was recorded: before the move was seen, or
 * while the service was still trying.
 */
const IS_ANNOUNCED = `CASE m.status ${
  Object.entries(ANNOUNCED).map(([status, types]) =>
    `WHEN '${status}' THEN EXISTS (SELECT 1 FROM orders AS o
        CROSS JOIN mentions AS n ON n.no = o.no
        CROSS JOIN events AS e ON e.position = n.position
      WHERE o.id = m.order_id AND e.kind = 'webhook'
        AND ${RECORDED_AT} <= ${LATEST}
        AND ${TYPE} IN (${types.map((type) => `'${type}'`).join(", ")}))`
  ).join(" ")
} ELSE 1 END`;

/** Reads the last moves, by time, and whether a webhook announced each. */
export async function readObservedChanges(
  driver: Driver,
  { watchedSince, nowMs }: {
    readonly watchedSince: string;
    readonly nowMs: number;
  },
  limit: number,
): Promise<WatchedChange[]> {
  const [rows = []] = await read(driver, [{
    sql: `SELECT m.order_id, m.status, m.moved_at, m.seen_at, ${IS_ANNOUNCED}
      FROM observed AS m WHERE m.moved_at > ? AND m.moved_at <= ?
      ORDER BY m.moved_at DESC LIMIT ?`,
    args: [watchedSince, new Date(nowMs).toISOString(), limit],
  }]);
  return rows.map(([orderId, status, movedAt, seenAt, announced]) => ({
    orderId: String(orderId),
    status: String(status),
    movedAt: String(movedAt),
    seenAt: String(seenAt),
    announced: announced === 1,
  })).reverse();
}

/**
 * Deletes moves that are old, but for the last ones. Those that were seen at a time to
 * come, before our clock was set back, are dated to now: they are past, and not
 * reported again when the clock comes to that time again.
 */
export function tidyObservedChanges(nowMs: number, keep: number): Statement[] {
  const time = (ms: number) => new Date(ms).toISOString();
  return [{
    sql: `UPDATE observed SET moved_at = min(moved_at, ?1), seen_at = ?1
      WHERE seen_at > ?2`,
    args: [time(nowMs), time(nowMs + CLOCK_TOLERANCE_MS)],
  }, {
    sql: `DELETE FROM observed WHERE moved_at < min(?1, (SELECT moved_at
      FROM observed ORDER BY moved_at DESC LIMIT 1 OFFSET ?2))`,
    args: [time(nowMs - KEEP_CHANGES_MS), keep - 1],
  }];
}
