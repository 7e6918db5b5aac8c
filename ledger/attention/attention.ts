import {
  ATTENTION_KINDS,
  type AttentionKind,
} from "../outcomes/attention_kind.ts";
import { type Outcome, outcomeOf } from "../outcomes/outcome.ts";
import { settle } from "../outcomes/settled_by_hand.ts";
import { transitionKey } from "../machines/transition.ts";
import type { OrderState } from "../states/order_state.ts";

/** Paid and not delivered for this long is overdue, in milliseconds. */
export const STUCK_AFTER_MS = 3_600_000;

/** A success that the chain has not shown for this long is missing, in ms. */
export const UNSEEN_AFTER_MS = 86_400_000;

/** What is known of an order besides its state. */
export interface OrderContext {
  /**
   * Whether an expectation was ever recorded in this ledger. Without any, no
   * order can be compared, which is reported once for the ledger and not for
   * each order.
   */
  readonly compares: boolean;
  /** Whether another order holds the reference of this one. */
  readonly twice: boolean;
  /**
   * Key of its last release transition if neither handlers nor targets received
   * it; else null.
   */
  readonly withheld: string | null;
}

/** An order, and what is known besides its state. */
export type OrderInContext = OrderState & {
  /** @default {a ledger that compares, and no other order} */
  readonly context?: OrderContext;
};

/**
 * Outcome of an order now: the state holds the same without what time and other
 * orders make of it. What a person has settled is not among its reasons to
 * wait.
 */
export function outcomeNow(order: OrderInContext, nowMs: number): Outcome {
  return settle(unsettled(order, nowMs), order.facts, order.byHand);
}

function unsettled(order: OrderInContext, nowMs: number): Outcome {
  const { facts, context } = order;
  const outcome = outcomeOf({
    ...facts,
    overdue: isOverdue(order, nowMs) ? "yes" : "no",
    twice: context?.twice === true && facts.match === "matched" ? "yes" : "no",
  });
  return {
    ...outcome,
    attention: ATTENTION_KINDS.filter((kind) =>
      kind === "yes_withheld"
        ? typeof context?.withheld === "string"
        : outcome.attention.includes(kind) &&
          (kind !== "not_comparable" || context?.compares !== false)
    ),
  };
}

/** What a row tells of an order besides its state. */
export interface Beside {
  /** Whether another order holds its purchase. */
  readonly twice: boolean;
  /** What its release entered, and which time, where nobody was told of it. */
  readonly withheld?: readonly [status: string, entry: number] | undefined;
}

/**
 * An order as readers see it: one whose purchase another order holds waits. The stored
 * state ignores other orders.
 */
export function orderOf<Order extends OrderState>(
  order: Order,
  compares: boolean,
  { twice, withheld }: Beside,
): Order & { readonly context: OrderContext } {
  const context = {
    ...{ compares, twice },
    withheld: withheld === undefined ? null : transitionKey({
      ...{ entity: "order", machine: "release", id: order.orderId },
      ...{ trust: "release", status: withheld[0], entry: withheld[1] },
    }),
  };
  if (!twice || order.facts.match !== "matched") return { ...order, context };
  const { facts, byHand } = order;
  const outcome = settle(outcomeOf({ ...facts, twice: "yes" }), facts, byHand);
  return {
    ...order,
    outcome: outcome.code,
    release: outcome.release,
    releaseReason: outcome.reason,
    booked: outcome.booked,
    attention: outcome.attention,
    context,
  };
}

/** Why an order waits for a person now. */
export function attentionOf(
  order: OrderInContext,
  nowMs: number,
): readonly AttentionKind[] {
  return outcomeNow(order, nowMs).attention;
}

/**
 * Paid, as confirmed by the service, and unchanged for an hour; or a success that
 * has waited for the chain for a day.
 */
function isOverdue(
  { confirmed, transferSeen, changedAt, facts }: OrderState,
  nowMs: number,
): boolean {
  if (changedAt === null) return false;
  const ageMs = nowMs - Date.parse(changedAt);
  const paid = confirmed?.status === "pending" ||
    (confirmed?.status === "progress" && transferSeen);
  if (paid) return ageMs >= STUCK_AFTER_MS;
  return facts.shown === "success" && facts.required === "yes" &&
    ageMs >= UNSEEN_AFTER_MS;
}
