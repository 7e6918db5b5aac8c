import { messageOf } from "../../core/guards.ts";
import type { Delivery } from "../../core/wire/delivery.ts";
import { deliveryMint } from "../../core/wire/minted_delivery.ts";
import { SENDER_TIMEOUT_MS } from "../../core/waiting/retry_schedule.ts";
import { Deadlines } from "./deadlines.ts";
import { DeliveryStore } from "../storing/delivery_store.ts";
import { EndpointCounts } from "./_endpoint_counts.ts";
import { endpointLog, type WriteLog } from "./endpoint_log.ts";
import { Exchange } from "./_exchange.ts";
import { positive } from "./_options.ts";
import {
  type NoBody,
  readChunks,
  statedBytes,
  TRUSTED_BYTES,
} from "./_read_body.ts";
import { RequestGate } from "../admission/request_gate.ts";
import { EndpointTelemetry } from "./_telemetry.ts";
import type {
  ConnectionInfo,
  WebhookEndpointOptions,
} from "./endpoint_options.ts";
import type { AnsweredRequest } from "./answered_request.ts";
import type { WebhookEndpointStats } from "./endpoint_stats.ts";
import type { RefusalReason } from "../admission/refusal.ts";

const STORED = { status: 204 };
const RETRY_LATER = { "retry-after": "60" };
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

/**
 * Answers requests: checks, reads the body, stores it, counts.
 *
 * This thread answers, and does no more: what a body says is looked at where the
 * ledger derives its columns. A request that is answered 204 costs an
 * {@linkcode Exchange} with the promise of its answer, two calls that wait (for
 * the body, and for the promise that all deliveries of a group share), a place
 * in the queue of deadlines, sixteen bytes of a ULID and the answer itself.
 */
export class RequestHandler {
  readonly #gate: RequestGate;
  readonly #maxBodyBytes: number;
  readonly #maxHeldBytes: number;
  readonly #deadlineMs: number;
  readonly #bodyDeadlineMs: number;
  readonly #now: () => number;
  readonly #clock: () => number;
  readonly #mint: (receivedAtMs: number, body: Uint8Array) => Delivery;
  readonly #log: WriteLog;
  readonly #deadlines: Deadlines;
  readonly #store: DeliveryStore;
  readonly #telemetry: EndpointTelemetry;
  readonly #counts: EndpointCounts;
  readonly #onAnswer: ((answered: AnsweredRequest) => void) | undefined;
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
    const { newId } = options;
    this.#mint = newId === undefined
      ? deliveryMint((bytes) => void crypto.getRandomValues(bytes))
      : (atMs, body) => ({
        id: newId(atMs),
        receivedAt: new Date(atMs).toISOString(),
        body,
      });
    const { secret } = this.#gate;
    this.#log = endpointLog(
      options.log,
      this.#now,
      (text) => secret.redact(text),
    );
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
    this.#onAnswer = options.onAnswer;
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
  answer(
    request: Request,
    info: ConnectionInfo | undefined,
  ): Promise<Response> {
    const arrivedAt = this.#clock();
    this.#telemetry.hideAddress();
    try {
      const refusal = this.#gate.refusalOf(request, info);
      if (refusal !== null) {
        return Promise.resolve(this.#refuse(refusal, arrivedAt));
      }
    } catch (error) {
      return Promise.resolve(this.#fail(error, arrivedAt));
    }
    const exchange = new Exchange(
      arrivedAt,
      arrivedAt + this.#bodyDeadlineMs,
      this.#onDue,
    );
    this.#inFlight++;
    this.#deadlines.watch(exchange);
    void this.#receive(request, exchange);
    return exchange.answered;
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

  /** Reads the body and stores it. Never rejects. */
  async #receive(request: Request, exchange: Exchange): Promise<void> {
    const { arrivedAt } = exchange;
    try {
      let body: Uint8Array | NoBody;
      try {
        const read = await this.#read(request, exchange);
        body = read instanceof ArrayBuffer ? new Uint8Array(read) : read;
      } catch {
        body = "broken";
      }
      if (exchange.isOver) return;
      if (typeof body === "string") {
        return this.#end(exchange, this.#refuseBody(body, arrivedAt));
      }
      const receivedAtMs = this.#now();
      const delivery = this.#mint(receivedAtMs, body);
      exchange.delivery = delivery;
      exchange.dueAt = arrivedAt + this.#deadlineMs;
      const isStored = await this.#store.store(delivery, exchange.dueAt);
      if (exchange.isOver) return;
      this.#end(
        exchange,
        isStored
          ? this.#stored(delivery, receivedAtMs, arrivedAt)
          : this.#notStored(delivery, arrivedAt),
      );
    } catch (error) {
      if (!exchange.isOver) this.#end(exchange, this.#fail(error, arrivedAt));
    }
  }

  /** Starts to read a body, or says why it is not read. */
  #read(
    request: Request,
    exchange: Exchange,
  ): Promise<ArrayBuffer | Uint8Array | NoBody> | Uint8Array | NoBody {
    const bytes = statedBytes(request);
    if (bytes !== null && bytes > this.#maxBodyBytes) return "too_large";
    if (bytes === null || bytes > TRUSTED_BYTES) {
      const { body } = request;
      return body === null ? new Uint8Array(0) : readChunks(body, {
        maxBytes: this.#maxBodyBytes,
        dueAt: exchange.dueAt,
        deadlines: this.#deadlines,
        hold: (more) => this.#hold(exchange, more),
      });
    }
    if (!this.#hold(exchange, bytes)) return "overload";
    return request.arrayBuffer();
  }

  /** Holds memory until the answer; false when there is not so much left. */
  #hold(exchange: Exchange, bytes: number): boolean {
    if (exchange.isOver) return false;
    if (this.#heldBytes + bytes > this.#maxHeldBytes) return false;
    exchange.heldBytes += bytes;
    this.#heldBytes += bytes;
    return true;
  }

  #end(exchange: Exchange, response: Response): void {
    this.#heldBytes -= exchange.heldBytes;
    this.#inFlight--;
    exchange.end(response);
    if (this.#inFlight > 0) return;
    for (const resolve of this.#onIdle) resolve();
  }

  /** Answers for a sender whose body, or a disk whose sync, does not come. */
  readonly #onDue = (exchange: Exchange): void => {
    const { delivery, arrivedAt } = exchange;
    if (delivery === null) {
      return this.#end(exchange, this.#refuseBody("late", arrivedAt));
    }
    this.#store.failed("No answer in time");
    this.#end(exchange, this.#notStored(delivery, arrivedAt));
  };

  /** The caller's ids, times or address reader failed. */
  #fail(error: unknown, arrivedAt: number): Response {
    this.#log({
      level: "error",
      code: "delivery_refused",
      message: "A request could not be handled",
      detail: messageOf(error),
    });
    return this.#respond(503, arrivedAt, { headers: RETRY_LATER });
  }

  #stored(
    delivery: Delivery,
    receivedAtMs: number,
    arrivedAt: number,
  ): Response {
    const durationMs = this.#clock() - arrivedAt;
    if (durationMs > SENDER_TIMEOUT_MS) this.#noteUnanswered(delivery, "late");
    this.#counts.stored(receivedAtMs);
    this.#counts.answered(204, durationMs);
    if (this.#onAnswer !== undefined) {
      this.#tell({ delivery, status: 204, refusal: null, durationMs });
    }
    return new Response(null, STORED);
  }

  /** Answers 503. The delivery may be stored after all, by a late append. */
  #notStored(delivery: Delivery, arrivedAt: number): Response {
    this.#noteUnanswered(delivery, "503");
    this.#log({
      level: "error",
      code: "delivery_refused",
      message: "A delivery could not be kept",
      answer: 503,
    });
    return this.#respond(503, arrivedAt, { headers: RETRY_LATER, delivery });
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
    return this.#respond(STATUS[reason], arrivedAt, {
      headers: reason === "method" ? { allow: "POST" } : headers,
      refusal: reason,
    });
  }

  /** Makes an answer other than 204, counts it, and tells of it. */
  #respond(
    status: number,
    arrivedAt: number,
    { headers, delivery = null, refusal = null }: {
      readonly headers: Record<string, string> | undefined;
      readonly delivery?: Delivery | null;
      readonly refusal?: RefusalReason | null;
    },
  ): Response {
    const durationMs = this.#clock() - arrivedAt;
    this.#counts.answered(status, durationMs);
    this.#tell({ delivery, status, refusal, durationMs });
    return new Response(null, headers ? { status, headers } : { status });
  }

  #tell(answered: AnsweredRequest): void {
    try {
      this.#onAnswer?.(answered);
    } catch {
      // A failing observer must not cost a delivery.
    }
  }
}
