import type { ResolveOptions } from "../orders/resolve_order.ts";
import type { Statement } from "../store/driver/driver.ts";
import {
  type Checkpoint,
  expectCheckpoint,
  moveCheckpoint,
  type ProjectionSlot,
} from "../store/tables/checkpoints.ts";
import { insertExpectations } from "../store/tables/events/expectations.ts";
import { insertOrderLinks } from "../store/tables/events/links.ts";
import type { LoggedReleases } from "../releases/log_releases.ts";
import { deleteHistoric, insertHistoric } from "../store/tables/go_live.ts";
import { insertTransitions } from "../store/tables/transitions.ts";
import { insertUnanswered } from "../store/tables/deliveries.ts";
import { ORDERS, upsertOrders } from "../store/tables/orders.ts";
import { upsertUsers } from "../store/tables/users.ts";
import type { Changes, ToConfirm } from "./batch.ts";
import { orderRow, userRow } from "./codec/rows.ts";
import {
  deletePurchaseWaits,
  upsertPurchases,
  upsertPurchaseWaits,
} from "../store/tables/purchases.ts";
import type { Entity } from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { normaliseTime } from "../../core/time/service_time.ts";
import {
  nextFinalReadMs,
  requestAgainAfterMs,
} from "../orders/reread_schedule.ts";
import {
  deleteFromOpen,
  type FinalRow,
  type Named,
  type OpenRow,
  queueFinal,
  queueNamed,
  queueOpen,
} from "../store/tables/polling/queued_requests.ts";

/** Where a batch is written. */
export interface WriteOptions {
  /** Which states. */
  readonly slot: ProjectionSlot;
  /** The checkpoint that the batch was loaded at. */
  readonly from: Checkpoint;
  /** The checkpoint that it moves to. */
  readonly to: Checkpoint;
  /** How states are worked out of folds. */
  readonly resolve: ResolveOptions;
  /** What is logged, and which purchases are taken. */
  readonly releases: LoggedReleases;
}

/**
 * The statements that write what a batch changed and move the checkpoint. All of
 * them are refused with `conflict` when another process moved it.
 *
 * @param changes What changed.
 * @param options Where it goes.
 */
export function batchStatements(
  changes: Changes,
  { slot, from, to, resolve, releases }: WriteOptions,
): Statement[] {
  return [
    expectCheckpoint(slot, from),
    moveCheckpoint(slot, to.position),
    ...writeChanges(changes, { slot, from, resolve, releases }),
  ];
}

/** The statements that write what changed, one or two a table. */
function writeChanges(
  changes: Changes,
  { slot, from: { generation }, resolve, releases }: Omit<WriteOptions, "to">,
): Statement[] {
  const statements: Statement[] = [];
  const orders = [...changes.orders.values()].map((fold) => ({
    fold,
    row: orderRow(fold, {
      ...resolve,
      place: changes.places.orders.get(fold.orderId) ?? 0,
    }),
  }));
  if (orders.length > 0) {
    statements.push(upsertOrders(generation, orders.map(({ row }) => row)));
  }
  if (changes.users.size > 0) {
    statements.push(
      upsertUsers(
        generation,
        [...changes.users.values()].map((fold) =>
          userRow(fold, changes.places.users.get(fold.userId) ?? 0)
        ),
      ),
    );
  }
  const { orderLinks, expectations, unanswered } = changes;
  if (orderLinks.length > 0) {
    statements.push(
      ...insertOrderLinks(generation, orderLinks, changes.places.orders),
    );
  }
  if (expectations.length > 0) {
    statements.push(insertExpectations(generation, expectations));
  }
  if (unanswered.length > 0) statements.push(insertUnanswered(unanswered));
  if (slot !== "live") return statements;
  const { historic, revived } = changes;
  if (historic.size > 0) statements.push(insertHistoric(historic));
  if (revived.size > 0) statements.push(deleteHistoric([...revived]));
  statements.push(...purchaseStatements(releases));
  if (releases.transitions.length > 0) {
    statements.push(insertTransitions(releases.transitions));
  }
  const changed = orders.map(({ fold, row }) => ({
    fold,
    open: row.columns[ORDERS.at.open] === 1,
  }));
  statements.push(...queueChanges(changes, changed));
  return statements;
}

/**
 * The statements that write which orders have purchases or wait for them.
 *
 * @param releases What was decided.
 */
export function purchaseStatements(
  { purchases, waits }: Pick<LoggedReleases, "purchases" | "waits">,
): Statement[] {
  const statements: Statement[] = [];
  if (purchases.size > 0) statements.push(upsertPurchases(purchases));
  const ended = [...waits].filter(([, wait]) => wait === null);
  if (ended.length > 0) {
    statements.push(deletePurchaseWaits(ended.map(([orderId]) => orderId)));
  }
  const begun = [...waits.values()].filter((wait) => wait !== null);
  if (begun.length > 0) statements.push(upsertPurchaseWaits(begun));
  return statements;
}

/** An order that a batch of events changed. */
export interface ChangedOrder {
  /** What is known of it now. */
  readonly fold: OrderFold;
  /** Whether it is not final, not confirmed, or contested. */
  readonly open: boolean;
}

/**
 * The statements that put into the request queues what the poller has to read:
 * what fresh webhooks named, open orders, and orders that lately became final.
 *
 * @param changes What a batch of events changed.
 * @param orders The orders among it.
 */
export function queueChanges(
  changes: Changes,
  orders: readonly ChangedOrder[],
): Statement[] {
  const statements: Statement[] = [];
  const named = [
    ...namedIn("order", changes.ordersToConfirm, changes.orders),
    ...namedIn("user", changes.usersToConfirm, changes.users),
  ];
  const closed: string[] = [];
  const open: OpenRow[] = [];
  const final: FinalRow[] = [];
  for (const { fold, open: isOpen } of orders) {
    const at = fold.activity.lastAt;
    if (at === null) continue;
    const atMs = Date.parse(at);
    if (isOpen) {
      const dueMs = atMs + requestAgainAfterMs(atMs - lastMovedMs(fold));
      open.push([fold.orderId, isObserved(fold) ? 1 : 0, atMs, dueMs]);
      continue;
    }
    const finalMs = finalSinceMs(fold, atMs);
    const dueMs = nextFinalReadMs(finalMs, atMs);
    if (dueMs === null) closed.push(fold.orderId);
    else final.push([fold.orderId, atMs, dueMs, finalMs]);
  }
  if (named.length > 0) statements.push(queueNamed(named));
  if (open.length > 0) statements.push(queueOpen(open));
  if (final.length > 0) statements.push(queueFinal(final));
  if (closed.length > 0) statements.push(deleteFromOpen(closed));
  return statements;
}

/**
 * When an order last changed, as far as is known, in milliseconds since the
 * epoch.
 *
 * @param fold Folded facts of the order.
 */
export function lastMovedMs(fold: OrderFold): number {
  const times = [
    fold.latest?.changedAt ?? "",
    ...fold.claims.map((claim) => claim.lastAt),
  ].map((time) => Date.parse(time));
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}

/** Since when an order is final; a time yet to come counts as now. */
function finalSinceMs(fold: OrderFold, nowMs: number): number {
  const changedAt = normaliseTime(fold.latest?.changedAt ?? null);
  const changedMs = changedAt === null ? NaN : Date.parse(changedAt);
  return changedMs <= nowMs ? changedMs : nowMs;
}

function namedIn(
  entity: Entity,
  named: ReadonlyMap<string, ToConfirm>,
  folds: ReadonlyMap<string, Observable>,
): Named[] {
  return [...named].map(([entityId, { at, urgency, claimedBy }]) => ({
    entity,
    entityId,
    atMs: Date.parse(at),
    known: isObserved(folds.get(entityId)),
    urgency,
    claimedBy,
  }));
}

/** An order or user, as far as it may have been read. */
type Observable = { readonly latest: unknown };

function isObserved(fold: Observable | undefined): boolean {
  return fold !== undefined && fold.latest !== null;
}
