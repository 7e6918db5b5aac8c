import type { DisableRule } from "./retry_schedule.ts";

/** A webhook ready to be sent. */
export interface Message {
  readonly cause: DeliveryCause;
  readonly type: string;
  readonly orderId: string | null;
  readonly userId: string | null;
  readonly body: string;
}

/** A delivery while it can still change. */
export interface Job extends SandboxDelivery {
  state: DeliveryState;
  body: string;
  malformed: boolean;
  attempts: DeliveryAttempt[];
  nextAttemptMs: number | null;
  failures: number;
  firstFailedMs: number;
  inFlight: boolean;
}

/** The log of sent webhooks, as the dashboard has it. */
export class DeliveryLog {
  readonly #jobs: Job[] = [];
  readonly #limit: number;
  #numbered = 0;

  /** Makes a log that drops the oldest deliveries beyond `limit`. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a delivery that has not been tried yet. */
  add(message: Message, happenedMs: number): Job {
    const job: Job = {
      ...message,
      number: ++this.#numbered,
      malformed: false,
      happenedMs,
      state: "pending",
      attempts: [],
      nextAttemptMs: null,
      failures: 0,
      firstFailedMs: 0,
      inFlight: false,
    };
    this.#jobs.push(job);
    // Only now and then, because removing the first rows moves all others.
    if (this.#jobs.length > 2 * this.#limit) {
      this.#jobs.splice(0, this.#jobs.length - this.#limit);
    }
    return job;
  }

  /** The latest `count` deliveries, oldest first. */
  latest(count: number = this.#limit): SandboxDelivery[] {
    const most = Math.min(count, this.#limit);
    return this.#jobs.slice(Math.max(0, this.#jobs.length - most))
      .map(snapshot);
  }
}

/** A copy that later attempts do not change. */
export function snapshot(job: Job): SandboxDelivery {
  return {
    number: job.number,
    cause: job.cause,
    type: job.type,
    orderId: job.orderId,
    userId: job.userId,
    body: job.body,
    malformed: job.malformed,
    happenedMs: job.happenedMs,
    state: job.state,
    attempts: [...job.attempts],
    nextAttemptMs: job.nextAttemptMs,
  };
}

/** Why a webhook was sent. */
export type DeliveryCause =
  /** An order or a user took a step. */
  | "life"
  /** A test or a person triggered it. */
  | "triggered"
  /** The Test button was pressed. */
  | "test"
  /** The fault `forge`: the event did not happen. */
  | "forged"
  /** The fault `unknownType`: a type that is not documented. */
  | "unknownType";

/** The state of an event. */
export type DeliveryState =
  /** Waiting for its first attempt, an answer, or a retry. */
  | "pending"
  /** Answered 2xx in time, as far as the service knows. */
  | "received"
  /** No attempt was received and none will follow. */
  | "failed"
  /** Never sent, because of the fault `drop`. */
  | "dropped"
  /** Never sent, because delivery was off or had no address. */
  | "notSent";

/** One webhook of the service, and its delivery. */
export interface SandboxDelivery {
  /** Number of the event, from 1. */
  readonly number: number;
  /** Why it was sent. */
  readonly cause: DeliveryCause;
  /** Its type, documented or not. */
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
  /** State of its delivery. */
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
  /** Whether it is a copy sent outside the retry schedule. */
  readonly copy: boolean;
  /** What really happened, which the service cannot see. */
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
  /** The rule in force. */
  readonly disableRule: DisableRule;
}

/** An event to send although nothing happened. */
export interface TriggerInput {
  /** Type of the event, documented or not. */
  readonly type: string;
  /** Order it is about; the order object is taken from it. */
  readonly orderId?: string;
  /** User it is about; the order's user when left out. */
  readonly userId?: string;
  /** Fields that replace those of the body; `undefined` removes one. */
  readonly fields?: Readonly<Record<string, unknown>>;
}
