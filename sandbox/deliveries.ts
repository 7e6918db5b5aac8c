import type { DisableRule } from "./ladder.ts";

/** Why a webhook was sent. */
export type DeliveryCause =
  /** A life took a step. */
  | "life"
  /** Somebody triggered it. */
  | "triggered"
  /** The Test button. */
  | "test"
  /** The forger: nothing of the kind happened. */
  | "forged"
  /** The fault that sends types nobody documented. */
  | "unknownType";

/** What became of an event. */
export type DeliveryState =
  /** Waiting for its first attempt, an answer, or a retry. */
  | "pending"
  /** Answered 2xx in time, as far as the service knows. */
  | "received"
  /** No attempt was received and none will follow. */
  | "failed"
  /** Never sent, by fault. */
  | "dropped"
  /** Never sent: delivery was off or had no address. */
  | "notSent";

/** One event the service had to tell, and what became of it. */
export interface SandboxDelivery {
  /** Number of the event, from 1. */
  readonly number: number;
  /** Why it was sent. */
  readonly cause: DeliveryCause;
  /** Its type; undocumented ones too. */
  readonly type: string;
  /** Order it is about, or null. */
  readonly orderId: string | null;
  /** User it is about, or null. */
  readonly userId: string | null;
  /** The body exactly as sent. */
  readonly body: string;
  /** Whether the body was cut short. */
  readonly malformed: boolean;
  /** When it happened, in milliseconds since the epoch. */
  readonly happenedMs: number;
  /** What became of it. */
  readonly state: DeliveryState;
  /** Every attempt, oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
  /** When the next attempt is due, in milliseconds since the epoch. */
  readonly nextAttemptMs: number | null;
}

/** One attempt to deliver an event. */
export interface DeliveryAttempt {
  /** When it began, in milliseconds since the epoch. */
  readonly atMs: number;
  /** How long the answer took, in milliseconds. */
  readonly tookMs: number;
  /** Status in the service's log; 0 when no answer came in time. */
  readonly status: number;
  /** Whether it is a copy that the ladder does not know of. */
  readonly copy: boolean;
  /** The truth about it, which the service cannot see. */
  readonly truth: {
    /** Whether the request reached the endpoint. */
    readonly reached: boolean;
    /** Status the endpoint answered, in time or not; null when none. */
    readonly answered: number | null;
  };
}

/** Whether webhooks are being delivered. */
export interface DeliveryStatus {
  /** State of delivery. Source: service interface, "Webhook delivery". */
  readonly state: "enabled" | "retrying" | "disabled";
  /** Since when it is off, in milliseconds since the epoch, or null. */
  readonly disabledSinceMs: number | null;
  /** Where webhooks go, or null. */
  readonly webhookUrl: string | null;
  /** The reading in force. */
  readonly disableRule: DisableRule;
}

/** An event to be sent without anything having happened. */
export interface TriggerInput {
  /** Type of the event, documented or not. */
  readonly type: string;
  /** Order it is about; takes its object from there. */
  readonly orderId?: string;
  /** User it is about; the order's user when left out. */
  readonly userId?: string;
  /** Fields laid over the body; `undefined` removes one. */
  readonly fields?: Readonly<Record<string, unknown>>;
}
