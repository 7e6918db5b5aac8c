import type { WebhookType } from "../../core/webhook_event/event_types.ts";
import type { OrderEventType } from "../../core/webhook_event/webhook_event.ts";
import type { OrderStatus } from "../../core/wire/order.ts";
import {
  type Decision,
  type Machine,
  type Move,
  observationsOf,
  type Outside,
  recordOf,
  SAME,
  type StateRow,
  tableOf,
  USUAL,
  WEBHOOKS,
} from "./machine.ts";
import type { Status } from "./transition.ts";

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
  readonly webhooks: Readonly<Record<WebhookType, ClaimedStatus | null>>;
}

const states: Readonly<Record<OrderStatus, StateRow<OrderMeaning>>> = {
  created: { meaning: "payment_not_processed", rank: 0, final: false },
  progress: { meaning: "payment_not_completed", rank: 1, final: false },
  pending: { meaning: "not_yet_sent", rank: 2, final: false },
  failed: { meaning: "will_not_be_sent", rank: 3, final: true },
  success: { meaning: "sent", rank: 4, final: true },
  cancelled: { meaning: "cancelled_after_payment", rank: 5, final: true },
};
const NAMES = Object.keys(states) as OrderStatus[];
const CLAIMED = NAMES.filter((name) => name !== "created");

/** What a webhook claims; every other type claims nothing. */
const CLAIMS = new Map<string, ClaimedStatus>(Object.entries(
  {
    payment_started: "progress",
    transfer_started: "pending",
    order_complete: "success",
    order_failed: "failed",
    order_cancelled: "cancelled",
  } satisfies Record<OrderEventType, ClaimedStatus>,
));

/** Ways back that no payment and no transfer can take. */
const IMPOSSIBLE: Readonly<Record<string, readonly string[]>> = {
  pending: ["created"],
  success: ["created", "progress", "pending", "failed"],
  cancelled: ["created", "progress"],
};

/** An open reading gives way to a higher claim; a final one is contested by another. */
function decide(
  read: OrderStatus | Outside,
  claim: ClaimedStatus | "none",
): Decision {
  if (read === "none") return claim === "none" ? "initial" : "claim";
  if (claim === "none") return "reading";
  if (read === "unlisted" || states[read].final) {
    return states[claim].final && claim !== read
      ? "reading_contested"
      : "reading";
  }
  return states[claim].rank > states[read].rank ? "claim" : "reading";
}

/** A final status that changes is an anomaly, and so is a way back. */
function move(
  from: OrderStatus | "unlisted",
  to: OrderStatus | "unlisted",
): Move<OrderMoveAnomaly> {
  const kind = IMPOSSIBLE[from]?.includes(to) ? "impossible" : "unusual";
  if (from !== "unlisted" && from === to) return SAME;
  if (from !== "unlisted" && states[from].final) {
    return { kind, anomaly: "final_changed" };
  }
  if (to === "unlisted") return { kind, anomaly: "unrecognised_status" };
  return from === "unlisted" || states[to].rank > states[from].rank
    ? USUAL
    : { kind, anomaly: "regression" };
}

/**
 * The state machine of an order.
 *
 * Source: service interface, "Order status" and "Events". The service does not
 * say which moves there are: those here follow from what each status means.
 */
export const orderMachine: OrderMachine = {
  name: "order",
  states,
  unlisted: { meaning: "unlisted_status", rank: 6, final: false },
  initial: "created",
  webhooks: recordOf(WEBHOOKS, (type) => CLAIMS.get(type) ?? null),
  observations: observationsOf({
    order_snapshot: "reads",
    order_absent: "absent",
    order_contradicted: "contradicts",
    order_redacted: "reads",
  }),
  decisions: tableOf(
    ["none", ...NAMES, "unlisted"],
    ["none", ...CLAIMED],
    decide,
  ),
  moves: tableOf([...NAMES, "unlisted"], [...NAMES, "unlisted"], move),
};

const rows: ReadonlyMap<string, StateRow> = new Map(Object.entries(states));

/** created < progress < pending < failed < success < cancelled < any other: 0 to 6. */
export function orderRank(status: Status): number {
  return rowOf(status).rank;
}

/** Whether nothing but a later reading changes the status: of one not known, never. */
export function isFinal(status: Status): boolean {
  return rowOf(status).final;
}

/** Whether the status is documented. */
export function isKnown(status: Status): status is OrderStatus {
  return rows.has(status);
}

/**
 * Reads a status as sent: documented ones whatever their case, and `canceled`
 * with one l, as the service itself is seen to mix; others are kept.
 */
export function normaliseStatus(text: string): Status {
  const lower = text.trim().toLowerCase();
  if (lower === "canceled") return "cancelled";
  return isKnown(lower) ? lower : text;
}

function rowOf(status: Status): StateRow {
  return rows.get(status) ?? orderMachine.unlisted;
}
