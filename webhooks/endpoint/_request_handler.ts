import type { Delivery } from "../../core/wire/delivery.ts";
import { deliveryMint } from "../../core/wire/minted_delivery.ts";
import { Answers } from "./_answers.ts";
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
import type { WebhookEndpointStats } from "./endpoint_stats.ts";

const WEAK_SECRET_LENGTH = 16;

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
  readonly #answers: Answers;
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
    this.#answers = new Answers({
      now: this.#now,
      clock: this.#clock,
      log: this.#log,
      counts: this.#counts,
      store: this.#store,
      onAnswer: options.onAnswer,
      maxBodyBytes: this.#maxBodyBytes,
      maxHeldBytes: this.#maxHeldBytes,
      bodyDeadlineMs: this.#bodyDeadlineMs,
    });
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
        return Promise.resolve(this.#answers.refuse(refusal, arrivedAt));
      }
    } catch (error) {
      return Promise.resolve(this.#answers.fail(error, arrivedAt));
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
        return this.#end(exchange, this.#answers.refuseBody(body, arrivedAt));
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
          ? this.#answers.stored(delivery, receivedAtMs, arrivedAt)
          : this.#answers.notStored(delivery, arrivedAt),
      );
    } catch (error) {
      if (!exchange.isOver) {
        this.#end(exchange, this.#answers.fail(error, arrivedAt));
      }
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
      return this.#end(exchange, this.#answers.refuseBody("late", arrivedAt));
    }
    this.#store.failed("No answer in time");
    this.#end(exchange, this.#answers.notStored(delivery, arrivedAt));
  };
}
