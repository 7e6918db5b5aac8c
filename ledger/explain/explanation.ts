import type { OrderContext } from "../attention/attention.ts";
import type { Anomaly } from "../anomalies/anomaly.ts";
import {
  type ActivityLabel,
  type Fact,
  isExpectation,
} from "../events/fact.ts";
import type { OrderState } from "../states/order_state.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { EffectReason, EventContent } from "./effect.ts";
import type { Decision, Move } from "../machines/machine.ts";
import type { OrderMoveAnomaly } from "../machines/order_machine.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { orderMove } from "../orders/readings.ts";
import {
  type DecidedStatus,
  decideOrderStatus,
  highestClaim,
  orderDecision,
} from "../orders/order_status.ts";
import type { Status } from "../machines/transition.ts";

/** Why the state of an order is what it is, event by event. */
export interface Explanation {
  /** Order identifier. */
  readonly orderId: string;
  /** The state that the events lead to. */
  readonly state: OrderState;
  /**
   * What was known besides the state.
   *
   * @default {a ledger that compares, and no other order}
   */
  readonly context?: OrderContext;
  /**
   * The events of the order, by position. If there are too many, the later ones
   * are left out.
   */
  readonly events: readonly ExplainedEvent[];
  /** How many events are left out: anybody can send any number of webhooks. */
  readonly leftOut: number;
  /** Where each field of the state that has a value comes from. */
  readonly fields: readonly ExplainedField[];
}

/** What one event did to the state. */
export interface ExplainedEvent {
  /** Place in the ledger. */
  readonly position: number;
  /** Identifier of the event. */
  readonly eventId: string;
  /** Kind of fact. */
  readonly kind: EventKind;
  /** What it is counted as. */
  readonly label: ActivityLabel;
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** What it says. */
  readonly content: EventContent;
  /**
   * - `changed`: it changed the visible state; see `changes`.
   * - `noted`: it changed only what was heard (`history`, `sessions`), on which
   *   nothing depends: a late webhook, for example.
   * - `unchanged`: it changed nothing at all.
   */
  readonly effect: "changed" | "noted" | "unchanged";
  /**
   * The move that it made on the state machine of the order; null where status,
   * trust and latest reading stay.
   */
  readonly move: ExplainedMove | null;
  /** What changed; empty where `effect` is `unchanged`. */
  readonly changes: readonly FieldChange[];
  /** Why the effect is what it is. */
  readonly why: EffectReason;
}

/** The value of a field of the visible state: text, or an anomaly. */
export type FieldValue = string | Anomaly;

/** A change of one field of the visible state. */
export interface FieldChange {
  /** Field, dotted inside objects: `fees.partnerFee`. */
  readonly field: string;
  /** Value before; null is none. */
  readonly before: FieldValue | null;
  /** Value after; null is none. */
  readonly after: FieldValue | null;
}

/** Where a field of the state comes from. */
export interface ExplainedField {
  /** Field, dotted inside objects. */
  readonly field: string;
  /** Value. */
  readonly value: FieldValue;
  /** What kind of source it is. */
  readonly source: "snapshot" | "webhook" | "session";
  /** Place of the event in the ledger. */
  readonly position: number;
  /** Identifier of the event. */
  readonly eventId: string;
}

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
 * The move that an event made on the state machine of an order; null where status,
 * trust and latest reading stay.
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
