import { storeOrderActivity } from "../../orders/order_activity.ts";
import { encodeOrderFold, storeUser } from "./fold_codec.ts";
import { spaced, storeOrderState } from "./stored_state.ts";
import { effectiveTime } from "../../events/time.ts";
import type { OrderFold } from "../../orders/order_fold.ts";
import { isFinal } from "../../machines/order_rank.ts";
import type { OrderState } from "../../states/order_state.ts";
import type { ResolveOptions } from "../../orders/resolve_order.ts";
import { orderState } from "../../states/state_of_order.ts";
import type { UserFold } from "../../users/user_fold.ts";
import { storeUserActivity } from "../../users/user_activity.ts";
import { userState } from "../../users/user_state.ts";
import { amountColumn, ORDERS } from "../../store/tables/orders.ts";
import { USERS } from "../../store/tables/users.ts";
import type { PackedRow } from "../../store/tables/packed_rows.ts";

/** How the row of an order is made. */
export interface OrderRowOptions extends ResolveOptions {
  /** Position of the first event that names the order, for a new row. */
  readonly place: number;
}

/**
 * The row of an order: what is searched by, what readers see, and the fold.
 *
 * @param fold Folded facts of the order.
 * @param options How to work out its state, and where it stands.
 */
export function orderRow(fold: OrderFold, options: OrderRowOptions): PackedRow {
  const state = orderState(fold, options);
  // Where the service shows another click id, only a webhook names the session.
  const expected = state.expected?.clickId === fold.latest?.clickId
    ? state.expected
    : null;
  // The terms that count of a basket may be of a later click id than its own.
  const isOwn = fold.expectations.some(({ clickId, reference }) =>
    clickId === fold.latest?.clickId &&
    reference === state.expected?.reference
  );
  return {
    columns: ORDERS.write({
      place: options.place,
      orderId: fold.orderId,
      status: state.status,
      trust: state.trust,
      open: isOpen(state),
      userId: state.userId,
      commodity: state.commodity,
      network: state.network,
      currency: state.currency,
      amount: amountColumn(state.currencyAmount),
      sortAt: sortTime(fold.latest?.createdAt || null, fold.activity.firstAt),
      anomalies: spaced(state.anomalies.map(({ kind }) => kind)),
      attention: spaced(state.attention),
      release: state.release,
      releaseReason: state.releaseReason,
      outcome: state.outcome,
      txId: state.txId,
      address: state.address,
      reference: isOwn ? state.expected?.reference ?? null : null,
      sessionId: expected?.sessionId ?? null,
    }),
    texts: [
      storeOrderState(state),
      storeOrderActivity(fold),
      encodeOrderFold(fold, state),
    ],
  };
}

/**
 * The row of a user.
 *
 * @param fold Folded facts of the user.
 * @param place Position of the first event that names the user, for a new row.
 */
export function userRow(fold: UserFold, place: number): PackedRow {
  const state = userState(fold);
  const stored = storeUser(fold, state);
  const { latest } = fold;
  const createdAt = latest === null || latest.createdAt === null
    ? null
    : effectiveTime(latest.createdAt, latest.readAt).counts;
  return {
    columns: USERS.write({
      place,
      userId: fold.userId,
      status: state.status,
      trust: state.trust,
      sortAt: sortTime(createdAt, fold.activity.firstAt),
    }),
    texts: [stored.state, storeUserActivity(fold.activity), stored.fold],
  };
}

/** Whether the service should go on being asked about the order. */
function isOpen(state: OrderState): boolean {
  return state.trust !== "confirmed" || !isFinal(state.status) ||
    state.anomalies.some(({ kind }) => kind === "contested");
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
