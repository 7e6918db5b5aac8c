/** Prunes old bodies: what the fold needs stays, and who is named as well. */
import { type EventKind, isExpectationKind } from "../machines/event_kind.ts";
import { ERASED_MARK } from "../events/record.ts";
import { isExpectation } from "../events/fact.ts";
import { isAbout } from "../orders/chain_readings.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { Driver } from "../store/driver/driver.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import { unpackOrder } from "../projection/doc.ts";
import { LookupHash } from "../projection/lookup_hash.ts";
import { listed, readDeciding, statement, write } from "../store/database.ts";
import {
  EVENT_COLUMNS,
  eventsOf,
  msOf,
  type StoredEvent,
} from "../store/events.ts";
import { erasableOrder, matchToKeep } from "./erase.ts";
import { readFolded } from "./person.ts";
import { isRedacted, redactEvent } from "./redact.ts";
import { type ErasureParts, replaceEvents } from "./rewrite.ts";

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

/** Kinds of event whose bodies are pruned; the others say nothing personal. */
const PRUNED: readonly EventKind[] = [
  ...["webhook", "order_snapshot", "user_snapshot"] as const,
  ...["session_created", "order_expected", "chain_reading"] as const,
];

/** Events looked at in one step. */
const STEP = 200;

/** An old event that is as it came. Text is compared with text, and ms with ms. */
const prunable = (first: number) =>
  `e.kind IN (${PRUNED.map((kind) => `'${kind}'`).join(", ")})
    AND length(e.body) > 0
    AND substr(e.body, -${ERASED_MARK.length}) <> CAST('${ERASED_MARK}' AS BLOB)
    AND CASE typeof(e.recorded_at) WHEN 'integer' THEN e.recorded_at < ?${first}
      ELSE e.recorded_at < ?${first + 1} END`;

/** Counts the bodies that were recorded before a time and could be pruned. */
export async function countOldBodies(
  driver: Driver,
  before: string,
): Promise<number> {
  const [rows] = await readDeciding(driver, [statement(
    `SELECT count(*) FROM events AS e WHERE ${prunable(1)}`,
    msOf(before) ?? 0,
    before,
  )]);
  return Number(rows?.[0]?.[0] ?? 0);
}

/**
 * Prunes bodies, some at a time. It may be stopped at any point: the next call skips
 * what is done.
 *
 * @param before Bodies that were recorded before go, UTC ISO 8601.
 */
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
      const [rows] = await readDeciding(parts.driver, [statement(
        `SELECT e.position FROM events AS e
          WHERE e.position > ?1 AND e.position <= (SELECT position FROM ledger)
            AND ${kinds} AND ${prunable(2)} ORDER BY e.position LIMIT ${STEP}`,
        ...[after, msOf(before) ?? 0, before],
      )]);
      const positions = (rows ?? []).map(([position]) => Number(position));
      const last = positions.at(-1);
      if (last === undefined) break;
      pruned += await retryLostRaces(() => pruneSome(parts, positions, before));
      onProgress?.(pruned);
      after = last;
    }
  }
  return { pruned, left: await countOldBodies(parts.driver, before) };
}

const OF_ORDERS = "e.kind IN ('webhook', 'order_snapshot', 'chain_reading')";
const OTHERS = `NOT (${OF_ORDERS})`;

async function pruneSome(
  parts: ErasureParts,
  positions: readonly number[],
  before: string,
): Promise<number> {
  const { driver, randomBytes, assets } = parts;
  const guard = await readFolded(parts, "prune");
  const [found] = await readDeciding(driver, [statement(
    `SELECT ${EVENT_COLUMNS} FROM events AS e
      WHERE e.position IN (SELECT value FROM json_each(?)) ORDER BY e.position`,
    listed(positions),
  )]);
  const events = eventsOf(found).filter((event) => !isRedacted(event));
  const folds = await readFolds(
    parts,
    "o.id IN (SELECT value FROM json_each(?))",
    events.flatMap(({ orderId }) => orderId ?? []),
  );
  const lasting = await latestReadings(parts, events);
  const shownSince = await readShownSince(parts, events, before);
  const pruned: StoredEvent[] = [];
  for (const event of events) {
    const { kind, orderId, position } = event;
    const blocks = isExpectationKind(kind)
      ? [...(await ordersOfTerms(parts, event, guard.key)).values()]
      : [folds.get(orderId ?? "")];
    const stays = lasting.has(position) ||
      blocks.some((fold) => fold !== undefined && isBlocked(fold, assets)) ||
      (kind === "chain_reading" && shownSince.has(orderId));
    if (!stays) pruned.push(event);
  }
  if (pruned.length === 0) return 0;
  const replaced = pruned.map((event) => {
    const fold = folds.get(event.orderId ?? "");
    return {
      before: event,
      after: redactEvent(event, {
        names: { userId: event.userId, clickId: event.clickId },
        match: fold === undefined ? null : matchToKeep(fold, assets),
        randomBytes,
      }),
    };
  });
  await write(driver, await replaceEvents(parts, { guard, replaced }));
  return replaced.length;
}

async function readFolds(
  { driver }: ErasureParts,
  where: string,
  values: readonly (string | number)[],
): Promise<ReadonlyMap<string, OrderFold>> {
  const [rows] = await readDeciding(driver, [statement(
    `SELECT o.id, o.fold FROM orders AS o WHERE ${where}`,
    listed(values),
  )]);
  return new Map(
    (rows ?? []).map(([id, fold]) => [
      String(id),
      unpackOrder(String(id), String(fold)),
    ]),
  );
}

/** The orders that terms may be compared with. */
function ordersOfTerms(
  parts: ErasureParts,
  event: StoredEvent,
  key: Uint8Array,
): Promise<ReadonlyMap<string, OrderFold>> {
  const fact = parts.readFact(event);
  if (!isExpectation(fact)) return Promise.resolve(new Map());
  const { clickId, sessionId, reference } = fact.expectation;
  const hash = new LookupHash(key);
  return readFolds(
    parts,
    `o.no IN (SELECT no FROM lookup
      WHERE hash IN (SELECT value FROM json_each(?)))`,
    [
      ...clickId === null ? [] : [hash.of("click", clickId)],
      ...sessionId === null ? [] : [hash.of("session", sessionId)],
      ...reference === null ? [] : [hash.of("reference", reference)],
    ],
  );
}

/** The latest reading is what the ledger says of the user today. */
async function latestReadings(
  { driver }: ErasureParts,
  events: readonly StoredEvent[],
): Promise<ReadonlySet<number>> {
  const [rows] = await readDeciding(driver, [statement(
    `SELECT max(m.position) FROM users AS u
      JOIN mentions AS m ON m.no = u.no
      JOIN events AS e ON e.position = m.position AND e.kind = 'user_snapshot'
      WHERE u.id IN (SELECT value FROM json_each(?)) GROUP BY u.no`,
    listed(
      events.flatMap(({ kind, userId }) =>
        kind === "user_snapshot" ? userId ?? [] : []
      ),
    ),
  )]);
  return new Set((rows ?? []).map(([position]) => Number(position)));
}

/** Orders of which a reading is younger, and says at which transaction a look was. */
async function readShownSince(
  { driver }: ErasureParts,
  events: readonly StoredEvent[],
  before: string,
): Promise<ReadonlySet<unknown>> {
  const [rows] = await readDeciding(driver, [statement(
    `SELECT DISTINCT o.id FROM orders AS o
      JOIN mentions AS m ON m.no = o.no
      JOIN events AS e ON e.position = m.position AND e.kind = 'order_snapshot'
      WHERE o.id IN (SELECT value FROM json_each(?1)) AND e.recorded_at >= ?2`,
    listed(
      events.flatMap(({ kind, orderId }) =>
        kind === "chain_reading" ? orderId ?? [] : []
      ),
    ),
    msOf(before) ?? 0,
  )]);
  return new Set((rows ?? []).map(([id]) => id));
}

/**
 * Whether an order stays whole: it waits for something, or the chain was asked about
 * something else than the service shows now, which could not be seen without what
 * both name.
 */
function isBlocked(fold: OrderFold, assets: ErasureParts["assets"]): boolean {
  const { latest, looks } = fold;
  return erasableOrder(fold, { assets }).blocks.length > 0 ||
    looks.some((look) => latest === null || !isAbout(look, latest));
}
