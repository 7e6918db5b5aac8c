import type { OrderFold } from "../orders/order_fold.ts";
import { normaliseTime } from "../../core/time/service_time.ts";
import { requestAgainAfterMs } from "../orders/age_backoff.ts";
import { nextFinalReadMs } from "../orders/final_reads.ts";
import type { Statement } from "../store/driver/driver.ts";
import {
  type ConfirmRow,
  deleteFromOpen,
  type FinalRow,
  type OpenRow,
  queueConfirms,
  queueFinal,
  queueOpen,
} from "../store/tables/polling/queued_requests.ts";
import type { Changes } from "./batch.ts";

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
  const confirms: ConfirmRow[] = [];
  for (const [id, at] of changes.ordersToConfirm) {
    confirms.push(["order", id, at, isObserved(changes.orders.get(id))]);
  }
  for (const [id, at] of changes.usersToConfirm) {
    confirms.push(["user", id, at, isObserved(changes.users.get(id))]);
  }
  const closed: string[] = [];
  const open: OpenRow[] = [];
  const final: FinalRow[] = [];
  for (const { fold, open: isOpen } of orders) {
    const at = fold.activity.lastAt;
    if (at === null) continue;
    const atMs = Date.parse(at);
    if (isOpen) {
      const dueMs = atMs + requestAgainAfterMs(atMs - lastMovedMs(fold));
      open.push([fold.orderId, isObserved(fold), at, isoTime(dueMs)]);
      continue;
    }
    const finalMs = finalSinceMs(fold, atMs);
    const dueMs = nextFinalReadMs(finalMs, atMs);
    if (dueMs === null) closed.push(fold.orderId);
    else final.push([fold.orderId, at, isoTime(dueMs), isoTime(finalMs)]);
  }
  if (confirms.length > 0) statements.push(queueConfirms(confirms));
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

function isObserved(fold: { readonly latest: unknown } | undefined): number {
  return fold === undefined || fold.latest === null ? 0 : 1;
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
