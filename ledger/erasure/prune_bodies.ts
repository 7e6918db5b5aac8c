import { isExpectationKind } from "../machines/event_kind.ts";
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import type { MatchFact } from "../events/order_facts.ts";
import { readFact } from "../events/read_fact.ts";
import { decodeOrderFold } from "../projection/codec/fold_codec.ts";
import { isAbout } from "../orders/chain_readings.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { orderLinks } from "../events/links.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import {
  type Checkpoint,
  expectCheckpoint,
  expectLast,
  moveToLast,
} from "../store/tables/checkpoints.ts";
import { blankEvents } from "../store/tables/erasure/blanked_events.ts";
import {
  type ErasableEvent,
  erasableEvents,
  selectErasableAt,
  selectErasableOfOrders,
  selectErasableOfUsers,
} from "../store/tables/erasure/erasable_events.ts";
import { countErasure } from "../store/tables/erasure/erasures.ts";
import {
  countPrunable,
  PRUNE_STEPS,
  PRUNED_KINDS,
  type PruneStep,
  selectPrunable,
} from "../store/tables/erasure/prunable.ts";
import { deleteLinks, deleteStates } from "../store/tables/erasure/traces.ts";
import { selectOrderFolds } from "../store/tables/orders.ts";
import { type ErasureParts, readFoldedEvents } from "./erasure_parts.ts";
import { erasableOrder, matchToKeep } from "./erasure_plan.ts";
import { redactEvents } from "./redact_events.ts";
import { statesAfter, touchedBy } from "./states_after.ts";

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

/** Orders, users or events of one transaction. */
const AT_ONCE = 50;

/** Counts the bodies that were recorded before a time and could be pruned. */
export async function countOldBodies(
  driver: Driver,
  before: string,
): Promise<number> {
  const [counted] = await readPrimary(driver, [countPrunable(before)]);
  return Number(counted?.rows[0]?.[0] ?? 0);
}

/**
 * Prunes bodies, some orders or users per transaction. It may be stopped at any
 * point: the next call skips what is done.
 *
 * @param before Bodies that were recorded before go, UTC ISO 8601.
 */
export async function pruneBodies(
  parts: ErasureParts,
  before: string,
  { onProgress, signal }: PruneOptions,
): Promise<Pruning> {
  let pruned = 0;
  for (const step of PRUNE_STEPS) {
    let after: string | number = step === "others" ? 0 : "";
    for (;;) {
      signal?.throwIfAborted();
      const [page] = await readPrimary(parts.driver, [
        selectPrunable(step, { before, after, limit: AT_ONCE }),
      ]);
      const keys = page?.rows.map(([key]) => key as string | number) ?? [];
      const last = keys.at(-1);
      if (last === undefined) break;
      pruned += await retryLostRaces(() => prune(parts, step, keys, before));
      onProgress?.(pruned);
      after = last;
    }
  }
  return { pruned, left: await countOldBodies(parts.driver, before) };
}

async function prune(
  parts: ErasureParts,
  step: PruneStep,
  keys: readonly (string | number)[],
  before: string,
): Promise<number> {
  const { driver, randomBytes, assets = "production" } = parts;
  const { live, isLast } = await readFoldedEvents(parts, "prune");
  const found = await readEvents(driver, step, keys, live.position);
  const events = found.filter(({ event }) =>
    event.body !== null && event.recordedAt < before
  );
  const touched = await touchedBy(driver, {
    userId: null,
    orderIds: [],
    events,
  });
  const { blocked, matches } = await lookAtOrders(parts, live, touched);
  const shownSince = new Set(
    found.filter(({ event: { kind, recordedAt } }) =>
      kind === "order_snapshot" && recordedAt >= before
    ).map(({ event }) => event.orderId),
  );
  // A session stays while an order of it waits for something, and a look at the
  // chain while a reading says whether it was at the same transaction.
  const pruned = step === "orders"
    ? events.filter(({ event: { kind, orderId } }) =>
      !blocked.has(orderId ?? "") &&
      !(kind === "chain_reading" && shownSince.has(orderId))
    )
    : blocked.size === 0
    ? events
    : events.filter(({ event }) => !isExpectationKind(event.kind));
  if (pruned.length === 0) return 0;
  const redacted = redactEvents(pruned, {
    part: "body",
    randomBytes,
    names: ({ userId, clickId }) => ({ userId, clickId }),
    isErased: () => false,
    matchOf: (orderId) => matches.get(orderId) ?? null,
  });
  const states = await touchedBy(driver, {
    userId: null,
    orderIds: [],
    events: pruned,
  });
  const kept = redacted.flatMap((one) => one.retained ?? []);
  await driver.batch([
    expectCheckpoint("live", live),
    ...(isLast ? [expectLast(live.position)] : []),
    ...countErasure,
    ...blankEvents(redacted),
    ...(kept.length === 0 ? [] : [appendStatement(kept)]),
    deleteLinks(
      pruned.flatMap(({ event }) =>
        orderLinks(readFact(event)).map(({ kind, link }) =>
          [kind, link, event.orderId ?? ""] as const
        )
      ),
    ),
    ...deleteStates({
      ...states,
      sessions: pruned.filter(({ event }) => isExpectationKind(event.kind))
        .map(({ event }) => event.position),
    }),
    ...await statesAfter(driver, {
      ...states,
      assets,
      redacted,
      position: live.position,
      generation: live.generation,
      readFact: parts.fold?.readFact ?? readFact,
    }),
    ...(isLast ? [moveToLast] : []),
  ], "write");
  return pruned.length;
}

async function readEvents(
  driver: Driver,
  step: PruneStep,
  keys: readonly (string | number)[],
  position: number,
): Promise<ErasableEvent[]> {
  const [rows] = await readPrimary(driver, [
    step === "orders"
      ? selectErasableOfOrders(keys as string[], position)
      : step === "users"
      ? selectErasableOfUsers(keys as string[], position)
      : selectErasableAt(keys as number[]),
  ]);
  const events = erasableEvents(rows).filter(({ event }) =>
    event.position <= position && PRUNED_KINDS.includes(event.kind)
  );
  if (step !== "users") return events;
  // The latest reading is what the ledger says of the user today.
  const latest = new Map(
    events.filter(({ event }) => event.kind === "user_snapshot")
      .map(({ event }) => [event.userId, event.position]),
  );
  return events.filter(({ event }) =>
    event.orderId === null && latest.get(event.userId) !== event.position
  );
}

/** Orders that stay whole, and how each compares with what was recorded. */
async function lookAtOrders(
  { driver, assets = "production" }: ErasureParts,
  live: Checkpoint,
  { orderIds }: { readonly orderIds: readonly string[] },
): Promise<{
  readonly blocked: ReadonlySet<string>;
  readonly matches: ReadonlyMap<string, MatchFact | null>;
}> {
  const [rows] = await readPrimary(driver, [
    selectOrderFolds(live.generation, orderIds),
  ]);
  const folds = rows?.rows.map(([, fold]) => decodeOrderFold(String(fold))) ??
    [];
  return {
    blocked: new Set(
      folds.filter((fold) =>
        erasableOrder(fold, { assets }).blocks.length > 0 ||
        looksElsewhere(fold)
      ).map(({ orderId }) => orderId),
    ),
    matches: new Map(
      folds.map((fold) => [fold.orderId, matchToKeep(fold, { assets })]),
    ),
  };
}

/**
 * Whether the chain was asked about something else than the service shows now,
 * which could not be seen without what both name.
 */
function looksElsewhere({ latest, looks }: OrderFold): boolean {
  return looks.some((look) => latest === null || !isAbout(look, latest));
}
