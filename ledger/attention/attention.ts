import {
  ATTENTION_KINDS,
  type AttentionKind,
  type Outcome,
  outcomeOf,
} from "../outcomes/outcome_table.ts";
import { settle } from "../outcomes/match.ts";
import { transitionKey } from "../machines/transition.ts";
import type { OrderState } from "../states/order_state.ts";

/**
 * How long an order may be paid and not delivered, and a success not seen on the
 * chain, until it is overdue, in milliseconds.
 */
export const OVERDUE_AFTER_MS = {
  stuck: 3_600_000,
  witness_missing: 86_400_000,
};

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
  const { facts, context, byHand } = order;
  const outcome = outcomeOf({
    ...facts,
    overdue: isOverdue(order, nowMs) ? "yes" : "no",
    twice: context?.twice === true && facts.match === "matched" ? "yes" : "no",
  });
  const attention = ATTENTION_KINDS.filter((kind) =>
    kind === "yes_withheld"
      ? typeof context?.withheld === "string"
      : outcome.attention.includes(kind) &&
        (kind !== "not_comparable" || context?.compares !== false)
  );
  return settle({ ...outcome, attention }, facts, byHand);
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

function isOverdue(order: OrderState, nowMs: number): boolean {
  const { changedAt, facts } = order;
  if (changedAt === null) return false;
  const ageMs = nowMs - Date.parse(changedAt);
  if (isPaid(order)) return ageMs >= OVERDUE_AFTER_MS.stuck;
  return facts.shown === "success" && facts.required === "yes" &&
    ageMs >= OVERDUE_AFTER_MS.witness_missing;
}

/** Whether it is paid, as confirmed by the service, and not delivered. */
export function isPaid({ confirmed, transferSeen }: OrderState): boolean {
  return confirmed?.status === "pending" ||
    (confirmed?.status === "progress" && transferSeen);
}
