import { messageOf } from "../../core/guards.ts";
import { monotonicFactory } from "ulid";
import type { Delivery } from "../../core/wire/delivery.ts";
import { classify } from "./classify.ts";
import { Deadlines } from "./deadlines.ts";
import { DeliveryStore } from "../storing/delivery_store.ts";
import { EndpointCounts } from "./_endpoint_counts.ts";
import { endpointLog, type WriteLog } from "./endpoint_log.ts";
import { positive } from "./_options.ts";
import { type BodyBounds, type NoBody, readBody } from "./_read_body.ts";
import { RequestGate } from "../admission/request_gate.ts";
import { EndpointTelemetry } from "./_telemetry.ts";
import type {
  ConnectionInfo,
  WebhookEndpointOptions,
} from "./endpoint_options.ts";
import type { WebhookEndpointStats } from "./endpoint_stats.ts";
import type { RefusalReason } from "../admission/refusal.ts";

const RETRY_LATER = { "retry-after": "60" };
/** How long the service waits for an answer. */
const SENDER_TIMEOUT_MS = 5_000;
const WEAK_SECRET_LENGTH = 16;

/** The status of each refusal. */
const STATUS: Readonly<Record<RefusalReason, number>> = {
  wrong_secret: 404,
  not_allowed: 404,
  method: 405,
  too_large: 413,
  late: 408,
  broken: 400,
  overload: 503,
};

/** Answers requests: checks, reads the body, stores it, counts. */
export class RequestHandler {
  readonly #gate: RequestGate;
  readonly #maxBodyBytes: number;
  readonly #maxHeldBytes: number;
  readonly #deadlineMs: number;
  readonly #bodyDeadlineMs: number;
  readonly #now: () => number;
  readonly #clock: () => number;
  readonly #newId: (receivedAtMs: number) => string;
  readonly #log: WriteLog;
  readonly #logsDeliveries: boolean;
  readonly #deadlines: Deadlines;
  readonly #store: DeliveryStore;
  readonly #telemetry: EndpointTelemetry;
  readonly #counts: EndpointCounts;
  #inFlight = 0;
  #heldBytes = 0;
  #onIdle: (() => void)[] = [];

  constructor(options: WebhookEndpointOptions) {
    this.#gate = new RequestGate(options);
    this.#maxBodyBytes = positive(options, "maxBodyBytes", 1024 * 1024);
    this.#maxHeldBytes = positive(options, "maxHeldBytes", 64 * 1024 * 1024);
    this.#deadlineMs = positive(options, "deadlineMs", 4_500);
    this.#bodyDeadlineMs = Math.min(
      positive(options, "bodyDeadlineMs", this.#deadlineMs / 2),
      this.#deadlineMs,
    );
    this.#now = options.now ?? Date.now;
    this.#clock = options.clock ?? ((): number => performance.now());
    this.#newId = options.newId ?? monotonicFactory();
    const { secret } = this.#gate;
    this.#log = endpointLog(
      options.log,
      this.#now,
      (text) => secret.redact(text),
    );
    this.#logsDeliveries = options.log !== undefined;
    this.#deadlines = new Deadlines(this.#clock);
    this.#store = new DeliveryStore({
      append: options.append,
      unanswered: options.unanswered,
      deadlines: this.#deadlines,
      clock: this.#clock,
      log: this.#log,
    });
    this.#telemetry = new EndpointTelemetry({
      prefix: options.path ?? null,
      route: secret.route,
      tracedPaths: options.tracedPaths ?? [],
      meter: options.meter,
    });
    this.#counts = new EndpointCounts(this.#telemetry);
    for (const { length } of options.secrets) {
      if (length >= WEAK_SECRET_LENGTH) continue;
      this.#log({
        level: "warn",
        code: "weak_secret",
        message: `A secret has ${length} characters, use 32 random ones`,
      });
    }
  }

  /** Answers a request. Never rejects. */
  async answer(
    request: Request,
    info: ConnectionInfo | undefined,
  ): Promise<Response> {
    const arrivedAt = this.#clock();
    this.#telemetry.hideAddress();
    try {
      const refusal = this.#gate.refusalOf(request, info);
      if (refusal !== null) return this.#refuse(refusal, arrivedAt);
      return await this.#receive(request, arrivedAt);
    } catch (error) {
      // The caller's clock, ids or address reader failed.
      this.#log({
        level: "error",
        code: "delivery_refused",
        message: "A request could not be handled",
        detail: messageOf(error),
      });
      return this.#respond(503, "none", arrivedAt, RETRY_LATER);
    }
  }

  /** Counts and gauges, for health checks. */
  stats(): WebhookEndpointStats {
    return {
      inFlight: this.#inFlight,
      heldBytes: this.#heldBytes,
      ...this.#counts.snapshot(),
      lastNotAllowed: this.#gate.lastNotAllowed,
      appending: this.#store.appending,
      unansweredNotes: this.#store.notes,
    };
  }

  /** Waits for the requests in flight, then for the store. */
  async drain(timeoutMs: number): Promise<void> {
    const dueAt = this.#clock() + timeoutMs;
    if (this.#inFlight > 0) {
      const idle = new Promise<void>((resolve) => this.#onIdle.push(resolve));
      await this.#deadlines.race(idle, dueAt, undefined);
      this.#onIdle = [];
    }
    await this.#store.drain(dueAt);
    this.#deadlines.settle();
  }

  /** Reads the body and delivers it; its bytes are held until the answer. */
  async #receive(request: Request, arrivedAt: number): Promise<Response> {
    this.#inFlight++;
    let held = 0;
    const hold = (bytes: number): boolean => {
      if (this.#heldBytes + bytes > this.#maxHeldBytes) return false;
      held += bytes;
      this.#heldBytes += bytes;
      return true;
    };
    try {
      const body = await readBody(request, this.#boundsOf(arrivedAt, hold));
      return typeof body === "string"
        ? this.#refuseBody(body, arrivedAt)
        : await this.#deliver(body, arrivedAt);
    } finally {
      this.#heldBytes -= held;
      this.#inFlight--;
      if (this.#inFlight === 0) {
        for (const resolve of this.#onIdle) resolve();
      }
    }
  }

  #boundsOf(arrivedAt: number, hold: BodyBounds["hold"]): BodyBounds {
    return {
      maxBytes: this.#maxBodyBytes,
      dueAt: arrivedAt + this.#bodyDeadlineMs,
      deadlines: this.#deadlines,
      hold,
    };
  }

  /** Stores a body, and answers according to where it is then. */
  async #deliver(body: Uint8Array, arrivedAt: number): Promise<Response> {
    const receivedAtMs = this.#now();
    const id = this.#newId(receivedAtMs);
    const receivedAt = new Date(receivedAtMs).toISOString();
    const delivery: Delivery = { id, receivedAt, body };
    const storing = this.#store.store(delivery, arrivedAt + this.#deadlineMs);
    // Meanwhile: the type is only counted and logged.
    const type = this.#typeOf(delivery);
    return await storing
      ? this.#stored(delivery, type, arrivedAt)
      : this.#notStored(delivery, type, arrivedAt);
  }

  #stored(delivery: Delivery, type: string, arrivedAt: number): Response {
    const durationMs = this.#clock() - arrivedAt;
    if (durationMs > SENDER_TIMEOUT_MS) this.#noteUnanswered(delivery, "late");
    this.#counts.stored(type, delivery.receivedAt);
    if (this.#logsDeliveries) {
      this.#log({
        level: "debug",
        code: "delivered",
        message: "A delivery was stored",
        deliveryId: delivery.id,
        answer: 204,
        type,
        bytes: delivery.body.length,
        durationMs,
      });
    }
    return this.#respond(204, type, arrivedAt);
  }

  /** Answers 503. The delivery may be stored after all, by a late append. */
  #notStored(delivery: Delivery, type: string, arrivedAt: number): Response {
    this.#noteUnanswered(delivery, "503");
    this.#log({
      level: "error",
      code: "delivery_refused",
      message: "A delivery could not be kept",
      answer: 503,
      type,
    });
    return this.#respond(503, type, arrivedAt, RETRY_LATER);
  }

  #noteUnanswered(delivery: Delivery, answer: "late" | "503"): void {
    this.#log({
      level: "error",
      code: "delivery_unanswered",
      message: `A delivery that may be stored was answered ${answer}`,
      deliveryId: delivery.id,
    });
    this.#store.note({
      id: delivery.id,
      noticedAt: new Date(this.#now()).toISOString(),
      answer,
    });
  }

  /** The documented type, `other`, or `quarantined`. */
  #typeOf(delivery: Delivery): string {
    const { type, why } = classify(delivery.body);
    if (why === null) return type;
    const quarantined = type === "quarantined";
    this.#log({
      level: "warn",
      code: quarantined ? "quarantined" : "unrecognised",
      message: quarantined
        ? "A delivery is no JSON object"
        : "A delivery is none of the documented events",
      deliveryId: delivery.id,
      detail: why,
    });
    return type;
  }

  #refuseBody(reason: NoBody, arrivedAt: number): Response {
    const message = {
      too_large: `A body has more than ${this.#maxBodyBytes} bytes`,
      late: `A body was not there after ${this.#bodyDeadlineMs} ms`,
      broken: "A body broke off",
      overload: `Bodies of ${this.#maxHeldBytes} bytes are held already`,
    }[reason];
    const level = reason === "too_large" || reason === "overload"
      ? "error"
      : "warn";
    const answer = STATUS[reason];
    this.#log({ level, code: "body_refused", message, answer });
    return this.#refuse(reason, arrivedAt, {
      connection: "close",
      ...(reason === "overload" && RETRY_LATER),
    });
  }

  #refuse(
    reason: RefusalReason,
    arrivedAt: number,
    headers?: Record<string, string>,
  ): Response {
    this.#counts.refused(reason);
    return this.#respond(
      STATUS[reason],
      "none",
      arrivedAt,
      reason === "method" ? { allow: "POST" } : headers,
    );
  }

  /** Makes an answer, and counts it. */
  #respond(
    status: number,
    type: string,
    arrivedAt: number,
    headers?: Record<string, string>,
  ): Response {
    this.#counts.answered(type, status, this.#clock() - arrivedAt);
    return new Response(null, headers ? { status, headers } : { status });
  }
}
