import type { Entity } from "../../../machines/transition.ts";
import { CLOCK_TOLERANCE_MS } from "../../../../core/time/plausible_time.ts";
import type { Statement } from "../../driver/driver.ts";
import type { Waiting } from "./request_queues.ts";

/** An order or user that a webhook named: kind, id, when, and 1 if it is known. */
export type ConfirmRow = readonly [Entity, string, string, number];

/** An open order: id, 1 if it is known, when it was named, and when it is due. */
export type OpenRow = readonly [string, number, string, string];

/** A final order: id, when it was named, when it is due, and since when final. */
export type FinalRow = readonly [string, string, string, string];

/** Queues what webhooks named, to be read and confirmed. */
export function queueConfirms(rows: readonly ConfirmRow[]): Statement {
  return { sql: upsertConfirms, args: [JSON.stringify(rows)] };
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
const dueAt = `CASE WHEN o.rest_until > v.value ->> 2
    AND o.rest_until <= strftime('%Y-%m-%dT%H:%M:%fZ', v.value ->> 2,
      (o.rest_ms / 1000.0) || ' seconds')
  THEN o.rest_until ELSE v.value ->> 2 END`;

/** A want that waits keeps its place, however often it is named again. */
const upsertConfirms = `INSERT INTO confirm_queue
    (entity, entity_id, known, ready, wanted_at, due_at)
  SELECT entity, id, known, known OR due_at <= wanted_at, wanted_at, due_at
  FROM (SELECT v.value ->> 0 AS entity, v.value ->> 1 AS id,
      max(v.value ->> 3, coalesce(o.found, 0)) AS known,
      v.value ->> 2 AS wanted_at, ${dueAt} AS due_at
    FROM json_each(?) AS v LEFT JOIN observations AS o
      ON o.entity = v.value ->> 0 AND o.entity_id = v.value ->> 1)
  WHERE true
  ON CONFLICT (entity, entity_id) DO UPDATE SET
    wanted_at = max(excluded.wanted_at, confirm_queue.wanted_at),
    ready = max(excluded.known, confirm_queue.ready),
    known = max(excluded.known, confirm_queue.known)`;

const upsertOpen = `INSERT INTO open_queue
    (entity, entity_id, known, ready, wanted_at, due_at)
  SELECT 'order', value ->> 0, value ->> 1, value ->> 1,
    value ->> 2, value ->> 3
  FROM json_each(?) WHERE true
  ON CONFLICT (entity, entity_id) DO UPDATE SET
    due_at = min(excluded.due_at, open_queue.due_at),
    ready = max(excluded.known, open_queue.ready),
    known = max(excluded.known, open_queue.known),
    final_at = NULL`;

const upsertFinal = `INSERT INTO open_queue
    (entity, entity_id, known, ready, wanted_at, due_at, final_at)
  SELECT 'order', value ->> 0, 1, 1, value ->> 1, value ->> 2, value ->> 3
  FROM json_each(?) WHERE true
  ON CONFLICT (entity, entity_id) DO UPDATE SET
    known = 1, ready = 1, wanted_at = excluded.wanted_at,
    due_at = excluded.due_at, final_at = excluded.final_at
  WHERE open_queue.final_at IS NOT excluded.final_at`;

/** Takes orders out of the queue of open orders. */
export function deleteFromOpen(ids: readonly string[]): Statement {
  return {
    sql: `DELETE FROM open_queue WHERE entity = 'order'
      AND entity_id IN (SELECT value FROM json_each(?))`,
    args: [JSON.stringify(ids)],
  };
}

/** Takes orders out that have had their last read, unless they opened again. */
export function deleteFinal(ids: readonly string[]): Statement {
  return {
    sql: `DELETE FROM open_queue WHERE entity = 'order'
      AND entity_id IN (SELECT value FROM json_each(?))
      AND final_at IS NOT NULL`,
    args: [JSON.stringify(ids)],
  };
}

/** Takes out what was asked for, unless a webhook has named it again since. */
export function deleteConfirmed(waiting: readonly Waiting[]): Statement {
  return {
    sql: `DELETE FROM confirm_queue WHERE seq IN (
      SELECT q.seq FROM json_each(?) AS v
      JOIN confirm_queue AS q ON q.seq = v.value ->> 0
      WHERE q.wanted_at <= v.value ->> 1)`,
    args: [JSON.stringify(waiting.map(({ seq, wantedAt }) => [seq, wantedAt]))],
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
    sql: `DELETE FROM confirm_queue
      WHERE entity = ? AND +wanted_at <= ?
        AND entity_id IN (SELECT value FROM json_each(?))`,
    args: [
      entity,
      new Date(requestedAtMs - CLOCK_TOLERANCE_MS).toISOString(),
      JSON.stringify(ids.filter(isStorable)),
    ],
  };
}

/** Whether SQLite can hold a text. Other ids are never in a queue. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}
