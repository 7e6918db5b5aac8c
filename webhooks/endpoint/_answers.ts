import { messageOf } from "../../core/guards.ts";
import type { Delivery } from "../../core/wire/delivery.ts";
import { SENDER_TIMEOUT_MS } from "../../core/waiting/retry_delay.ts";
import { LastingAlarm, type WriteLog } from "./endpoint_log.ts";
import type { EndpointCounts, WebhookEndpointStats } from "./endpoint_stats.ts";
import type { RefusalReason } from "./refusal.ts";
import type { DeliveryStore } from "./delivery_store.ts";
import type { AnsweredRequest } from "./endpoint_options.ts";
import type { NoBody } from "./_read_body.ts";

const STORED = { status: 204 };
const RETRY_LATER = { "retry-after": "60" };

/** The status of each refusal. */
const STATUS: Readonly<Record<RefusalReason, number>> = {
  wrong_secret: 404,
  misplaced_secret: 404,
  not_allowed: 404,
  method: 405,
  too_large: 413,
  late: 408,
  broken: 400,
  read_before: 503,
  overload: 503,
  large_share: 503,
  nearly_full: 503,
};

/** What answers are made with. */
interface AnswersParts {
  readonly now: () => number;
  /** A clock that is never set back, in ms. */
  readonly clock: () => number;
  readonly log: WriteLog;
  readonly counts: EndpointCounts;
  readonly store: DeliveryStore;
  readonly onAnswer: ((answered: AnsweredRequest) => void) | undefined;
  readonly maxBodyBytes: number;
  readonly maxHeldBytes: number;
  readonly bodyDeadlineMs: number;
}

/**
 * Makes the answers of an endpoint. Each is counted, logged where a person has
 * to know, and reported to `onAnswer`.
 */
export class Answers {
  readonly #parts: AnswersParts;
  readonly #large: LastingAlarm;
  readonly #nearlyFull: LastingAlarm;

  constructor(parts: AnswersParts) {
    this.#parts = parts;
    this.#large = new LastingAlarm({
      ...parts,
      raised: {
        code: "large_bodies_refused",
        message: "Bodies above 64 KiB have used up what they share",
      },
      cleared: {
        code: "large_bodies_taken",
        message: "No body above 64 KiB was refused for a minute",
      },
    });
    this.#nearlyFull = new LastingAlarm({
      ...parts,
      raised: {
        code: "spool_nearly_full",
        message: "The spool takes only bodies of at most 8 KiB",
      },
      cleared: {
        code: "spool_has_room",
        message: "The spool takes bodies of every size again",
      },
    });
  }

  /** Since when bodies are refused because of their size; null while none is. */
  get refusing(): WebhookEndpointStats["refusing"] {
    return {
      large: this.#large.since,
      allButSmall: this.#nearlyFull.since,
    };
  }

  /** Answers 503: the caller's ids, times or address reader failed. */
  fail(error: unknown, arrivedAt: number): Response {
    this.#parts.log({
      level: "error",
      code: "delivery_refused",
      message: "A request could not be handled",
      detail: messageOf(error),
    });
    return this.#respond(503, arrivedAt, { headers: RETRY_LATER });
  }

  /** Answers 204. A delivery answered too late is noted as unanswered. */
  stored(
    delivery: Delivery,
    receivedAtMs: number,
    arrivedAt: number,
  ): Response {
    const durationMs = this.#parts.clock() - arrivedAt;
    if (durationMs > SENDER_TIMEOUT_MS) this.#noteUnanswered(delivery, "late");
    this.#parts.counts.stored(receivedAtMs);
    this.#large.settle();
    this.#nearlyFull.settle();
    this.#parts.counts.answered(204, durationMs);
    if (this.#parts.onAnswer !== undefined) {
      this.#report({ delivery, status: 204, refusal: null, durationMs });
    }
    return new Response(null, STORED);
  }

  /** Answers 503. The delivery may be stored after all, by a late append. */
  notStored(delivery: Delivery, arrivedAt: number): Response {
    this.#noteUnanswered(delivery, "503");
    this.#parts.log({
      level: "error",
      code: "delivery_refused",
      message: "A delivery could not be kept",
      answer: 503,
    });
    return this.#respond(503, arrivedAt, { headers: RETRY_LATER, delivery });
  }

  #noteUnanswered(delivery: Delivery, answer: "late" | "503"): void {
    this.#parts.log({
      level: "error",
      code: "delivery_unanswered",
      message: `A delivery that may be stored was answered ${answer}`,
      deliveryId: delivery.id,
    });
    this.#parts.store.note({
      id: delivery.id,
      noticedAt: new Date(this.#parts.now()).toISOString(),
      answer,
    });
  }

  /** Refuses a request for its body. */
  refuseBody(reason: NoBody, arrivedAt: number): Response {
    const message = {
      too_large: `A body has more than ${this.#parts.maxBodyBytes} bytes`,
      late: `A body was not there after ${this.#parts.bodyDeadlineMs} ms`,
      broken: "A body broke off",
      read_before: "A body was read before the endpoint got it: mount the " +
        "endpoint ahead of body parsers, such as express.json()",
      overload: `Bodies of ${this.#parts.maxHeldBytes} bytes are held already`,
      large_share: "Large bodies have used up what they share",
      nearly_full: "What is left of the spool is kept for small bodies",
    }[reason];
    const level = reason === "late" || reason === "broken" ? "warn" : "error";
    const answer = STATUS[reason];
    if (reason === "large_share") this.#large.raise();
    if (reason === "nearly_full") this.#nearlyFull.raise();
    this.#parts.log({ level, code: "body_refused", message, answer });
    return this.refuse(reason, arrivedAt, {
      connection: "close",
      ...(answer === 503 && RETRY_LATER),
    });
  }

  /** Refuses a request. */
  refuse(
    reason: RefusalReason,
    arrivedAt: number,
    headers?: Record<string, string>,
  ): Response {
    this.#parts.counts.refused(reason);
    return this.#respond(STATUS[reason], arrivedAt, {
      headers: reason === "method" ? { allow: "POST" } : headers,
      refusal: reason,
    });
  }

  /** Makes an answer other than 204. */
  #respond(
    status: number,
    arrivedAt: number,
    { headers, delivery = null, refusal = null }: {
      readonly headers: Record<string, string> | undefined;
      readonly delivery?: Delivery | null;
      readonly refusal?: RefusalReason | null;
    },
  ): Response {
    const durationMs = this.#parts.clock() - arrivedAt;
    this.#parts.counts.answered(status, durationMs);
    this.#report({ delivery, status, refusal, durationMs });
    return new Response(null, headers ? { status, headers } : { status });
  }

  #report(answered: AnsweredRequest): void {
    try {
      this.#parts.onAnswer?.(answered);
    } catch {
      // A failing observer must not cost a delivery.
    }
  }
}
