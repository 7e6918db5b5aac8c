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

/** Every webhook there was, as the dashboard's log of sent events keeps it. */
export class SentLog {
  readonly #jobs: Job[] = [];
  readonly #limit: number;
  #numbered = 0;

  /** A log that forgets the oldest beyond `limit`. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Begins a delivery. */
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
    if (this.#jobs.length > this.#limit) this.#jobs.shift();
    return job;
  }

  /** The latest deliveries, all unless told how many, oldest first. */
  latest(count: number = this.#jobs.length): SandboxDelivery[] {
    return this.#jobs.slice(Math.max(0, this.#jobs.length - count))
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
