/** Prunes old bodies: what the fold needs stays, and who is named as well. */
import { ERASED_MARK } from "../events/record.ts";
import { isAbout } from "../orders/compare.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { unpackOrder } from "../projection/doc.ts";
import { readDeciding, statement, write } from "../store/database.ts";
import type { Driver } from "../store/driver/driver.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import { msOf, readEvents } from "../store/events.ts";
import { redactEvent } from "./redact.ts";
import {
  erasableOrder,
  type ErasureParts,
  linksOf,
  matchToKeep,
  readFolded,
  replaceEvents,
} from "./rewrite.ts";

/** Result of pruning. */
export interface Pruning {
  /** Bodies that were deleted. */
  readonly pruned: number;
  /** Bodies that are as old and were kept: see {@linkcode Erasures.prune}. */
  readonly left: number;
}

/** How bodies are pruned. */
export interface PruneOptions {
  /** Called with the number of bodies deleted so far. */
  readonly onProgress?: (pruned: number) => void;
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
}

const OF_ORDERS = "e.kind IN ('webhook', 'order_snapshot', 'chain_reading')";
const OTHERS =
  "e.kind IN ('user_snapshot', 'session_created', 'order_expected')";

const STEP = 200;

/** An old event that is as it came. Text is compared with text, and ms with ms. */
const PRUNABLE = `length(e.body) > 0
  AND substr(e.body, -${ERASED_MARK.length}) <> CAST('${ERASED_MARK}' AS BLOB)
  AND CASE typeof(e.recorded_at) WHEN 'integer' THEN e.recorded_at < ?1
    ELSE e.recorded_at < ?2 END`;

export async function countOldBodies(
  driver: Driver,
  before: string,
): Promise<number> {
  const [rows] = await readDeciding(driver, [statement(
    `SELECT count(*) FROM events AS e
      WHERE (${OF_ORDERS} OR ${OTHERS}) AND ${PRUNABLE}`,
    msOf(before) ?? 0,
    before,
  )]);
  return Number(rows?.[0]?.[0] ?? 0);
}

/** Prunes some at a time; the next call skips what is done. */
export async function pruneBodies(
  parts: ErasureParts,
  before: string,
  { onProgress, signal }: PruneOptions = {},
): Promise<Pruning> {
  let pruned = 0;
  // How an order compares is kept with its readings before its terms go.
  for (const kinds of [OF_ORDERS, OTHERS]) {
    for (let after = 0;;) {
      signal?.throwIfAborted();
      const step = await retryLostRaces(() =>
        pruneSome(parts, { before, kinds, after })
      );
      if (step.last === undefined) break;
      after = step.last;
      pruned += step.pruned;
      onProgress?.(pruned);
    }
  }
  return { pruned, left: await countOldBodies(parts.driver, before) };
}

/**
 * What is not said again: the latest reading is what the ledger says of a user today,
 * and a younger reading says at which transaction a look was.
 */
const SUPERSEDED = `CASE e.kind
  WHEN 'user_snapshot' THEN e.position IS NOT (
    SELECT max(m.position) FROM mentions AS n JOIN mentions AS m ON m.no = n.no
      JOIN events AS x ON x.position = m.position
    WHERE n.position = e.position AND x.kind = 'user_snapshot')
  WHEN 'chain_reading' THEN NOT EXISTS (
    SELECT 1 FROM mentions AS n JOIN mentions AS m ON m.no = n.no
      JOIN events AS x ON x.position = m.position
    WHERE n.position = e.position AND x.kind = 'order_snapshot'
      AND x.recorded_at >= ?1)
  ELSE true END`;

async function pruneSome(
  parts: ErasureParts,
  { before, kinds, after }: {
    readonly before: string;
    readonly kinds: string;
    readonly after: number;
  },
): Promise<{ readonly pruned: number; readonly last: number | undefined }> {
  const { driver, fold: { readFact } } = parts;
  const guard = await readFolded(parts, "prune");
  const events = await readEvents(
    driver,
    `events AS e WHERE ${kinds} AND ${PRUNABLE} AND ${SUPERSEDED}
      AND e.position > ?3 AND e.position <= ?4
      ORDER BY e.position LIMIT ${STEP}`,
    ...[msOf(before) ?? 0, before, after, guard.position],
  );
  const links = events.flatMap((event) =>
    linksOf(readFact(event), guard.hash).map((link) => [event.position, link])
  );
  // Its order, or the orders that terms may be compared with.
  const [rows] = await readDeciding(driver, [statement(
    `SELECT value ->> 0, o.id, o.fold FROM json_each(?1)
      JOIN orders AS o ON o.id = value ->> 1
    UNION ALL SELECT value ->> 0, o.id, o.fold FROM json_each(?2)
      JOIN lookup AS l ON l.hash = value ->> 1
      JOIN orders AS o ON o.no = l.no`,
    JSON.stringify(events.map(({ position, orderId }) => [position, orderId])),
    JSON.stringify(links),
  )]);
  const found = Map.groupBy(rows ?? [], ([position]) => Number(position));
  const replaced = events.flatMap((event) => {
    const folds = (found.get(event.position) ?? []).map(([, id, fold]) =>
      unpackOrder(String(id), String(fold))
    );
    if (folds.some((fold) => isBlocked(fold, parts))) return [];
    const { userId, clickId } = event;
    const match = matchToKeep(folds[0], parts);
    const after = redactEvent(event, { ...parts, userId, clickId, match });
    return [{ before: event, after }];
  });
  if (replaced.length > 0) {
    await write(driver, await replaceEvents(parts, { guard, replaced }));
  }
  return { pruned: replaced.length, last: events.at(-1)?.position };
}

/**
 * An order that waits for something stays whole, and one of which the chain was asked
 * about something else than the service shows now: that could not be seen any more.
 */
function isBlocked(fold: OrderFold, parts: ErasureParts): boolean {
  const { latest, looks } = fold;
  return erasableOrder(fold, parts).blocks.length > 0 ||
    looks.some((look) => latest === null || !isAbout(look, latest));
}
