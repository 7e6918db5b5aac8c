import { type Fact, isExpectation } from "../events/fact.ts";
import type { Decision, Move } from "../machines/machine.ts";
import type { OrderMoveAnomaly } from "../machines/order_machine.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { orderMove } from "../orders/order_move.ts";
import {
  type DecidedStatus,
  decideOrderStatus,
  highestClaim,
  orderDecision,
} from "../orders/order_status.ts";
import type { Status } from "../machines/status.ts";

/** The move that an event made on the state machine of an order. */
export interface ExplainedMove {
  /** Status and trust before; null where nothing was known of the order. */
  readonly from: DecidedStatus | null;
  /** Status and trust after. */
  readonly to: DecidedStatus;
  /** What the table says of the latest reading and the highest claim. */
  readonly decision: Decision;
  /**
   * How the latest reading follows the one before it; null unless the event
   * brought one with another status.
   */
  readonly reading:
    | (Move<OrderMoveAnomaly> & {
      /** Status of the reading before. */
      readonly from: Status;
      /** Status of the latest reading. */
      readonly to: Status;
    })
    | null;
}

/**
 * Tells the move that an event made on the state machine of an order.
 *
 * @param before The fold before the event.
 * @param after The fold after it.
 * @param fact The event.
 * @returns The move; null where status, trust and latest reading stay.
 */
export function explainMove(
  before: OrderFold,
  after: OrderFold,
  fact: Fact,
): ExplainedMove | null {
  if (isExpectation(fact)) return null;
  const from = before.activity.firstAt === null
    ? null
    : decideOrderStatus(before);
  const to = decideOrderStatus(after);
  const reading = readingMove(before.latest, after.latest);
  if (
    reading === null && from?.status === to.status && from.trust === to.trust
  ) return null;
  const read = after.latest?.status ?? null;
  const decision = orderDecision(read, highestClaim(after));
  return { from, to, decision, reading };
}

function readingMove(
  before: OrderFold["latest"],
  after: OrderFold["latest"],
): ExplainedMove["reading"] {
  if (before === null || after === null || before.status === after.status) {
    return null;
  }
  const { status: from } = before;
  const { status: to } = after;
  return { from, to, ...orderMove(from, to) };
}
