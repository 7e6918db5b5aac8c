/** When the service should be asked again about an order or a user. */
import { isFinal } from "../../machines/order_rank.ts";
import type { OrderFold } from "../../orders/order_fold.ts";
import {
  contestingClaims,
  decideOrderStatus,
} from "../../orders/order_status.ts";
import {
  nextFinalReadMs,
  requestAgainAfterMs,
} from "../../orders/reread_schedule.ts";
import { lastMovedMs } from "../../projection/batch_statements.ts";
import type { SqlValue } from "../../store/driver/driver.ts";
import type { UserFold } from "../../users/user_fold.ts";
import type { ToConfirm } from "./urgency.ts";
import { msOf } from "../store/events.ts";

/** Columns of a row that say when to ask, in the order of the values below. */
export const DUE_COLUMNS = ["urgency", "due_at", "wanted_at"] as const;

/** An urgency of none: a reading came, and nothing asks for another. */
const READ = -1;

/**
 * What the columns become of a row that is there: what a webhook asked for after the
 * reading that comes now stays asked for, and what was asked in vain is not asked
 * again at once.
 */
export const DUE_CHANGES = `urgency = CASE
      WHEN excluded.urgency >= 0 THEN max(urgency, excluded.urgency)
      WHEN wanted_at > excluded.wanted_at THEN urgency ELSE 0 END,
    due_at = CASE
      WHEN excluded.urgency < 0 AND wanted_at > excluded.wanted_at THEN due_at
      WHEN excluded.urgency = 0 AND asked > 0 AND due_at IS NOT NULL THEN due_at
      ELSE excluded.due_at END,
    asked = CASE WHEN excluded.urgency = 0 THEN asked ELSE 0 END,
    wanted_at = max(coalesce(wanted_at, 0), coalesce(excluded.wanted_at, 0))`;

/**
 * @param named How fresh webhooks of the batch named the order, if they did.
 * @param isNew Whether the row is not there yet.
 */
export function dueOfOrder(
  fold: OrderFold,
  named: ToConfirm | undefined,
  isNew: boolean,
): SqlValue[] {
  if (named !== undefined) return dueOfNamed(named);
  const read = msOf(fold.activity.lastReadAt) ?? msOf(fold.activity.lastAt);
  return [isNew ? 0 : READ, dueAfter(fold), read];
}

/** The same of a user, of which nothing but a webhook asks for a reading. */
export function dueOfUser(
  fold: UserFold,
  named: ToConfirm | undefined,
  isNew: boolean,
): SqlValue[] {
  if (named !== undefined) return dueOfNamed(named);
  return [isNew ? 0 : READ, null, msOf(fold.activity.lastReadAt)];
}

function dueOfNamed({ at, urgency }: ToConfirm): SqlValue[] {
  const atMs = Date.parse(at);
  return [urgency, atMs, atMs];
}

/** When to ask again of an order that nothing new asks for; null: never. */
function dueAfter(fold: OrderFold): number | null {
  const lastMs = msOf(fold.activity.lastAt);
  if (lastMs === null) return null;
  const { status, trust } = decideOrderStatus(fold);
  const open = trust !== "confirmed" || !isFinal(status) ||
    contestingClaims(fold).length > 0;
  if (open) return lastMs + requestAgainAfterMs(lastMs - lastMovedMs(fold));
  const changedMs = msOf(fold.latest?.changedAt) ?? lastMs;
  return nextFinalReadMs(Math.min(changedMs, lastMs), lastMs);
}
