import type { WebhookType } from "../../core/webhook_event/event_types.ts";
import type { OrderEventType } from "../../core/webhook_event/webhook_event.ts";
import type { OrderStatus } from "../../core/wire/order.ts";
import {
  type Machine,
  type Move,
  SAME,
  type StateRow,
  USUAL,
} from "./machine.ts";

/** A status that a webhook can claim. */
export type ClaimedStatus =
  | "progress"
  | "pending"
  | "failed"
  | "success"
  | "cancelled";

/** What a status of an order means. */
export type OrderMeaning =
  | "payment_not_processed"
  | "payment_not_completed"
  | "not_yet_sent"
  | "will_not_be_sent"
  | "sent"
  | "cancelled_after_payment"
  | "unlisted_status";

/** The kinds of anomaly that a move of an order raises. */
export type OrderMoveAnomaly =
  | "regression"
  | "final_changed"
  | "unrecognised_status";

/** Type of the machine of an order. */
export interface OrderMachine
  extends Machine<OrderStatus, ClaimedStatus, OrderMoveAnomaly> {
  /** The documented statuses, each with its meaning. */
  readonly states: Readonly<Record<OrderStatus, StateRow<OrderMeaning>>>;
  /** Any other status. */
  readonly unlisted: StateRow<OrderMeaning>;
  /** Each order event claims one status, and no other event claims any. */
  readonly webhooks:
    & Readonly<Record<OrderEventType, ClaimedStatus>>
    & Readonly<Record<Exclude<WebhookType, OrderEventType>, null>>;
}

/** An open status follows a higher open one. */
const back: Move<"regression"> = { kind: "unusual", anomaly: "regression" };
/** The same, although a processed payment cannot become unprocessed. */
const unpaid: Move<"regression"> = {
  kind: "impossible",
  anomaly: "regression",
};
/** The service takes a final status back. */
const reversed: Move<"final_changed"> = {
  kind: "unusual",
  anomaly: "final_changed",
};
/** The same, although a payment or transfer cannot be unmade. */
const undone: Move<"final_changed"> = {
  kind: "impossible",
  anomaly: "final_changed",
};
const unlisted: Move<"unrecognised_status"> = {
  kind: "unusual",
  anomaly: "unrecognised_status",
};

/** The moves away from a status that is not documented. */
const fromUnlisted = {
  created: USUAL,
  progress: USUAL,
  pending: USUAL,
  failed: USUAL,
  success: USUAL,
  cancelled: USUAL,
  unlisted,
} as const;

/** A reading that no claim moves: final claims of another status contest it. */
const finalReading = {
  none: "reading",
  progress: "reading",
  pending: "reading",
  failed: "reading_contested",
  success: "reading_contested",
  cancelled: "reading_contested",
} as const;

/**
 * The state machine of an order.
 *
 * Source: service interface, "Order status" and "Events". The service does not
 * say which moves there are: those here follow from what each status means.
 */
export const orderMachine: OrderMachine = {
  name: "order",
  states: {
    created: { meaning: "payment_not_processed", rank: 0, final: false },
    progress: { meaning: "payment_not_completed", rank: 1, final: false },
    pending: { meaning: "not_yet_sent", rank: 2, final: false },
    failed: { meaning: "will_not_be_sent", rank: 3, final: true },
    success: { meaning: "sent", rank: 4, final: true },
    cancelled: { meaning: "cancelled_after_payment", rank: 5, final: true },
  },
  unlisted: { meaning: "unlisted_status", rank: 6, final: false },
  initial: "created",
  webhooks: {
    payment_started: "progress",
    transfer_started: "pending",
    order_complete: "success",
    order_failed: "failed",
    order_cancelled: "cancelled",
    registration: null,
    login: null,
    logout: null,
    card_added: null,
    verify_start: null,
    verify_retry: null,
    verify_failed: null,
    verify_success: null,
    otp_status: null,
    test: null,
  },
  observations: {
    order_snapshot: "reads",
    order_absent: "absent",
    order_contradicted: "contradicts",
    user_snapshot: null,
    session_created: null,
    order_expected: null,
    delivery_unanswered: null,
    order_released: null,
    chain_reading: null,
    witness_required: null,
    order_redacted: "reads",
    month_closed: null,
    note: null,
    person_erased: null,
  },
  decisions: {
    none: {
      none: "initial",
      progress: "claim",
      pending: "claim",
      failed: "claim",
      success: "claim",
      cancelled: "claim",
    },
    created: {
      none: "reading",
      progress: "claim",
      pending: "claim",
      failed: "claim",
      success: "claim",
      cancelled: "claim",
    },
    progress: {
      none: "reading",
      progress: "reading",
      pending: "claim",
      failed: "claim",
      success: "claim",
      cancelled: "claim",
    },
    pending: {
      none: "reading",
      progress: "reading",
      pending: "reading",
      failed: "claim",
      success: "claim",
      cancelled: "claim",
    },
    failed: { ...finalReading, failed: "reading" },
    success: { ...finalReading, success: "reading" },
    cancelled: { ...finalReading, cancelled: "reading" },
    unlisted: finalReading,
  },
  moves: {
    created: {
      created: SAME,
      progress: USUAL,
      pending: USUAL,
      failed: USUAL,
      success: USUAL,
      cancelled: USUAL,
      unlisted,
    },
    progress: {
      created: back,
      progress: SAME,
      pending: USUAL,
      failed: USUAL,
      success: USUAL,
      cancelled: USUAL,
      unlisted,
    },
    pending: {
      created: unpaid,
      progress: back,
      pending: SAME,
      failed: USUAL,
      success: USUAL,
      cancelled: USUAL,
      unlisted,
    },
    failed: {
      created: reversed,
      progress: reversed,
      pending: reversed,
      failed: SAME,
      success: reversed,
      cancelled: reversed,
      unlisted: reversed,
    },
    success: {
      created: undone,
      progress: undone,
      pending: undone,
      failed: undone,
      success: SAME,
      cancelled: reversed,
      unlisted: reversed,
    },
    cancelled: {
      created: undone,
      progress: undone,
      pending: reversed,
      failed: reversed,
      success: reversed,
      cancelled: SAME,
      unlisted: reversed,
    },
    unlisted: fromUnlisted,
  },
};
