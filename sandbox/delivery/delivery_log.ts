import type {
  DeliveryAttempt,
  DeliveryCause,
  DeliveryState,
  SandboxDelivery,
} from "./deliveries.ts";

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
