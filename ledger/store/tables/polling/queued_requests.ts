import type { Entity } from "../../../machines/transition.ts";
import { CLOCK_TOLERANCE_MS } from "../../../../core/time/plausible_time.ts";
import type { Statement } from "../../driver/driver.ts";
import { firstEventOf, placesOfIds } from "./request_places.ts";
import { QUEUES, type Urgency, type Waiting } from "./request_queues.ts";

/** An order or user that a webhook named. */
export interface Named {
  /** Which kind. */
  readonly entity: Entity;
  /** Which one. */
  readonly entityId: string;
  /** When the webhook came, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Whether the service has shown it. */
  readonly known: boolean;
  /** How urgent it is to ask for it. @default 0 */
  readonly urgency?: Urgency;
  /** Position of the webhook that made it urgent. @default 0 */
  readonly claimedBy?: number;
}

/** An open order: id, 1 if it is known, when it was named, and when it is due. */
export type OpenRow = readonly [string, number, number, number];

/** A final order: id, when it was named, when it is due, and since when final. */
export type FinalRow = readonly [string, number, number, number];

/**
 * Queues what webhooks named, to be read and confirmed. What is urgent is due at
 * once, though it rests; not so an id that the service refuses.
 */
export function queueNamed(named: readonly Named[]): Statement {
  const rows = named.map((one) => [
    one.entity,
    one.entityId,
    Math.floor(one.atMs),
    one.known ? 1 : 0,
    one.urgency ?? 0,
    one.claimedBy ?? 0,
  ]);
  return { sql: upsertNamed, args: [JSON.stringify(rows)] };
}

/** Queues open orders. */
export function queueOpen(rows: readonly OpenRow[]): Statement {
  return { sql: upsertOpen, args: [JSON.stringify(rows)] };
}

/** Queues orders that are final, to be read again a few times. */
export function queueFinal(rows: readonly FinalRow[]): Statement {
  return { sql: upsertFinal, args: [JSON.stringify(rows)] };
}

/** The rest that the last ask began; one that never ends counts as none. */
const dueAt = `CASE WHEN urgency = 0 AND rests_until > wanted_at
    AND rests_until <= wanted_at + rest_ms
  THEN rests_until ELSE wanted_at END`;

/**
 * A want that waits keeps its place, however often it is named again. The limits
 * have no effect on the result: they stop SQLite from working out a value again
 * wherever it is used, the first event of each id among them.
 */
const upsertNamed = `INSERT INTO requests (queue, entity, place, entity_id,
    urgency, claimed_by, known, ready, wanted_at, due_at)
  SELECT ${QUEUES.named}, entity, place, iif(place IS NULL, entity_id, NULL),
    urgency, claimed_by, known, known OR due_at <= wanted_at, wanted_at, due_at
  FROM (SELECT *, ${dueAt} AS due_at,
      CASE entity WHEN 'order' THEN ${firstEventOf("order", "entity_id")}
        ELSE ${firstEventOf("user", "entity_id")} END AS place
    FROM (SELECT v.entity, v.entity_id, v.wanted_at,
        max(v.known, coalesce(o.found, 0)) AS known,
        iif(a.kind IS 'refused', 0, v.urgency) AS urgency,
        iif(a.kind IS 'refused', 0, v.claimed_by) AS claimed_by,
        o.rests_until, o.rest_ms
      FROM (SELECT value ->> 0 AS entity, value ->> 1 AS entity_id,
          value ->> 2 AS wanted_at, value ->> 3 AS known,
          value ->> 4 AS urgency, value ->> 5 AS claimed_by
        FROM json_each(?) LIMIT -1) AS v
      LEFT JOIN observations AS o
        ON o.entity = v.entity AND o.entity_id = v.entity_id
      LEFT JOIN isolated_ids AS a
        ON a.entity = v.entity AND a.entity_id = v.entity_id
      LIMIT -1)
    LIMIT -1)
  WHERE true ${
  onConflict(`
    wanted_at = max(excluded.wanted_at, requests.wanted_at),
    due_at = iif(excluded.urgency = 0, requests.due_at,
      min(excluded.due_at, requests.due_at)),
    urgency = max(excluded.urgency, requests.urgency),
    claimed_by = max(excluded.claimed_by, requests.claimed_by),
    ready = max(excluded.known, requests.ready, excluded.urgency > 0),
    known = max(excluded.known, requests.known)`)
}`;

/** Orders of rows that begin with an id, and their first events. */
const givenOrders = `(SELECT value,
    ${firstEventOf("order", "value ->> 0")} AS place
  FROM json_each(?) LIMIT -1)`;

const upsertOpen = `INSERT INTO requests
    (queue, entity, place, entity_id, known, ready, wanted_at, due_at)
  SELECT ${QUEUES.open}, 'order', place, iif(place IS NULL, value ->> 0, NULL),
    value ->> 1, value ->> 1, value ->> 2, value ->> 3
  FROM ${givenOrders} WHERE true ${
  onConflict(`
    due_at = min(excluded.due_at, requests.due_at),
    ready = max(excluded.known, requests.ready),
    known = max(excluded.known, requests.known),
    final_at = NULL`)
}`;

const upsertFinal = `INSERT INTO requests (queue, entity, place, entity_id,
    known, ready, wanted_at, due_at, final_at)
  SELECT ${QUEUES.open}, 'order', place, iif(place IS NULL, value ->> 0, NULL),
    1, 1, value ->> 1, value ->> 2, value ->> 3
  FROM ${givenOrders} WHERE true ${
  onConflict(`
    known = 1, ready = 1, wanted_at = excluded.wanted_at,
    due_at = excluded.due_at, final_at = excluded.final_at
  WHERE requests.final_at IS NOT excluded.final_at`)
}`;

/** The end of an upsert, whether an event names the entity or none does. */
function onConflict(update: string): string {
  return [
    "(place, entity, queue)",
    "(entity_id, entity, queue) WHERE entity_id IS NOT NULL",
  ].map((key) => `ON CONFLICT ${key} DO UPDATE SET${update}`).join("\n  ");
}

/** Takes orders out of the queue of open orders. */
export function deleteFromOpen(ids: readonly string[]): Statement {
  return {
    sql: `DELETE FROM requests WHERE seq IN (${
      placesOfIds("order", `queue = ${QUEUES.open}`)
    })`,
    args: [JSON.stringify(ids)],
  };
}

/** Takes orders out that have had their last read, unless they opened again. */
export function deleteFinal(ids: readonly string[]): Statement {
  return {
    sql: `DELETE FROM requests WHERE final_at IS NOT NULL AND seq IN (${
      placesOfIds("order", `queue = ${QUEUES.open}`)
    })`,
    args: [JSON.stringify(ids)],
  };
}

/** Takes out what was asked for, unless a webhook has named it again since. */
export function deleteConfirmed(waiting: readonly Waiting[]): Statement {
  const read = waiting.map((one) => [one.seq, one.wantedAtMs, one.claimedBy]);
  return {
    sql: `DELETE FROM requests WHERE seq IN (
      SELECT q.seq FROM json_each(?) AS v
      CROSS JOIN requests AS q ON q.seq = v.value ->> 0
      WHERE q.queue = ${QUEUES.named} AND q.wanted_at <= v.value ->> 1
        AND q.claimed_by <= v.value ->> 2)`,
    args: [JSON.stringify(read)],
  };
}

/**
 * Removes ids that were read after a webhook had named them.
 *
 * @param entity Orders or users.
 * @param ids Which ones.
 * @param requestedAtMs When they were asked for, in milliseconds since the epoch.
 */
export function deleteRead(
  entity: Entity,
  ids: readonly string[],
  requestedAtMs: number,
): Statement {
  return {
    sql: `DELETE FROM requests WHERE wanted_at <= ?2 AND seq IN (${
      placesOfIds(entity, `queue = ${QUEUES.named}`)
    })`,
    args: [
      JSON.stringify(ids.filter(isStorable)),
      requestedAtMs - CLOCK_TOLERANCE_MS,
    ],
  };
}

/** Whether SQLite can hold a text. Other ids are never in a queue. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
