import { orderActivity } from "../../orders/order_activity.ts";
import { userActivityOf } from "../../orders/activity_fold.ts";
import {
  canonicalOrder,
  canonicalUser,
  encodeOrderFold,
  encodeUserFold,
} from "./fold_codec.ts";
import { effectiveTime } from "../../events/time.ts";
import type { OrderFold } from "../../orders/order_fold.ts";
import { isFinal } from "../../machines/order_rank.ts";
import type { OrderState } from "../../states/order_state.ts";
import type { ResolveOptions } from "../../orders/resolve_order.ts";
import { orderState } from "../../states/state_of_order.ts";
import type { UserFold } from "../../users/user_fold.ts";
import { userState } from "../../users/user_state.ts";
import type { PackedRow } from "../../store/tables/packed_rows.ts";

/** Where the row of an order says whether the order is open. */
export const OPEN_COLUMN = 3;

/**
 * The row of an order: what is searched by, what readers see, and the fold.
 *
 * @param fold Folded facts of the order.
 * @param options How to work out its state.
 */
export function orderRow(fold: OrderFold, options: ResolveOptions): PackedRow {
  const state = orderState(fold, options);
  const activity = orderActivity(fold);
  // Where the service shows another click id, only a webhook names the session.
  const expected = state.expected?.clickId === fold.latest?.clickId
    ? state.expected
    : null;
  return {
    columns: [
      fold.orderId,
      state.status,
      state.trust,
      isOpen(state) ? 1 : 0,
      state.userId,
      state.commodity,
      sortTime(fold.latest?.createdAt || null, activity.firstRecordedAt),
      spaced(state.anomalies.map(({ kind }) => kind)),
      spaced(state.attention),
      state.release,
      state.releaseReason,
      state.txId,
      state.address,
      expected?.reference ?? null,
      expected?.sessionId ?? null,
      state.case?.state === "open" ? null : state.case?.state ?? null,
    ],
    texts: [
      canonicalOrder(state),
      JSON.stringify(activity),
      encodeOrderFold(fold),
    ],
  };
}

/**
 * The row of a user.
 *
 * @param fold Folded facts of the user.
 */
export function userRow(fold: UserFold): PackedRow {
  const state = userState(fold);
  const activity = userActivityOf(fold.activity);
  const { latest } = fold;
  const createdAt = latest === null || latest.createdAt === null
    ? null
    : effectiveTime(latest.createdAt, latest.readAt).counts;
  return {
    columns: [
      fold.userId,
      state.status,
      state.trust,
      sortTime(createdAt, activity.firstRecordedAt),
    ],
    texts: [
      canonicalUser(state),
      JSON.stringify(activity),
      encodeUserFold(fold),
    ],
  };
}

/** Whether the service should go on being asked about the order. */
function isOpen(state: OrderState): boolean {
  return state.trust !== "confirmed" || !isFinal(state.status) ||
    state.anomalies.some(({ kind }) => kind === "contested");
}

/** The kinds between spaces, so that one is found by ` kind `. */
function spaced(kinds: readonly string[]): string | null {
  return kinds.length === 0 ? null : ` ${[...new Set(kinds)].join(" ")} `;
}

/** Nearly every time of the service, as far as it is one without a calendar. */
const wholeSeconds =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

/**
 * What rows are sorted by: the service's effective time of creation, and until that is
 * known the time of the first event; in one form, so that text order is time
 * order.
 */
function sortTime(createdAt: string | null, firstAt: string | null): string {
  if (createdAt !== null) {
    if (wholeSeconds.test(createdAt)) return `${createdAt.slice(0, 19)}.000Z`;
    const ms = Date.parse(createdAt);
    if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  }
  return firstAt ?? "";
}
