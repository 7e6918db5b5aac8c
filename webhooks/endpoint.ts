import { monotonicFactory } from "ulid";
import { concatenated, free } from "../core/bytes.ts";
import { messageOf } from "../core/guards.ts";
import { DURATION_BOUNDS, NO_METER } from "../core/telemetry/meter.ts";
import { SENDER_TIMEOUT_MS } from "../core/waiting/retry_delay.ts";
import { within } from "../core/waiting/within.ts";
import type { Delivery } from "../core/wire/delivery.ts";
import { type BodyRoom, LARGE_BODY_BYTES, largeBodyRate } from "./body_room.ts";
import { DeliveryStore } from "./delivery_store.ts";
import { endpointLog, LastingAlarm, type WriteLog } from "./endpoint_log.ts";
import {
  type ConnectionInfo,
  type RefusalReason,
  refusals,
  type WebhookEndpointOptions,
  type WebhookEndpointStats,
} from "./endpoint_options.ts";
import { hideAddressesFromSpans, RequestGate } from "./gate.ts";

/** A webhook endpoint: call it with each request. */
export interface WebhookEndpoint {
  /**
   * Answers a request. Never throws, and never rejects.
   *
   * @param request Any request.
   * @param info What the server knows of the connection.
   * @returns The answer.
   */
  (request: Request, info?: ConnectionInfo): Promise<Response>;
  /** Counts and gauges, for health checks. */
  stats(): WebhookEndpointStats;
  /**
   * Waits until every request is answered and every append settled; then stops
   * the work in the background. Stop the server first.
   *
   * @param options `timeoutMs` bounds the waiting; the default is 10 seconds.
   */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
}

/**
 * Makes the endpoint that the service delivers webhooks to.
 *
 * It answers 204 once the exact bytes of the body are stored: in a spool, from
 * which a mover takes them to the ledger, or in the ledger itself. The body is
 * not interpreted before, so an unknown webhook is stored as well. The other answers: 404 without a valid secret or
 * from an address that may not deliver, 405 for another method than POST, 413
 * over the limit, 408 when the body does not arrive, and 503 with `Retry-After`
 * when the delivery could not be stored.
 *
 * The handler takes a `Request` and returns a `Response`, so it mounts in
 * `Deno.serve`, Hono, Next, SvelteKit and Deno Deploy alike, and in Express
 * through a listener for `node:http`. The last segment of the path is the
 * secret, wherever that is; what comes before it is up to the server.
 *
 * @param options What the endpoint is made of.
 * @returns The endpoint.
 * @throws {RangeError} When there is no secret, one is empty or too long, or a
 * limit is not a positive number.
 * @throws {TypeError} When `path` does not begin and end with a slash, or an
 * entry of `allowlist` is not an address.
 *
 * @example Deliver a webhook
 * ```ts
 * import { type Delivery, webhookEndpoint } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const stored: Delivery[] = [];
 * const endpoint = webhookEndpoint({
 *   append: (delivery) => {
 *     stored.push(delivery);
 *     return Promise.resolve();
 *   },
 *   secrets: ["a-long-unguessable-secret"],
 * });
 * const response = await endpoint(
 *   new Request("https://shop.example/webhooks/a-long-unguessable-secret", {
 *     method: "POST",
 *     body: `{"type":"login","click_id":"c-1"}`,
 *   }),
 * );
 * assert.equal(response.status, 204);
 * assert.equal(stored.length, 1);
 * await endpoint.drain();
 * ```
 */
export function webhookEndpoint(
  options: WebhookEndpointOptions,
): WebhookEndpoint {
  const endpoint = new Endpoint(options);
  return Object.assign(endpoint.answer, {
    stats: (): WebhookEndpointStats => endpoint.stats(),
    drain: (drain: { readonly timeoutMs?: number } = {}): Promise<void> =>
      endpoint.drain(drain.timeoutMs ?? 10_000),
  });
}

/** Why a body was not taken in. */
type NoBody = Exclude<
  RefusalReason,
  "wrong_secret" | "misplaced_secret" | "not_allowed" | "method"
>;

type Limit = "maxBodyBytes" | "maxHeldBytes" | "deadlineMs" | "bodyDeadlineMs";

const WEAK_SECRET_LENGTH = 16;
/** A whole body arrives sooner, unless the network is very slow. */
const HALF_BODY_MS = 250;
/** Time between two looks for requests that take too long. */
const LOOK_MS = 20;
/** Bodies that may be arriving before the oldest of them are given up. */
const MOST_BODIES = 256;
/** The part of the memory for bodies that large ones share. */
const LARGE_SHARE = 1 / 8;
/**
 * Longest stated length for which memory is reserved at once. For a longer
 * body, or one of unstated length, it is reserved as the bytes arrive: a sender
 * who states much and sends little must not use up the memory.
 */
const TRUSTED_BYTES = 16 * 1024;
/** What runtimes say of a body that something read before. */
const READ_BEFORE = /already|unusable|disturbed|locked/;
const STORED = { status: 204 };
const RETRY_LATER = { "retry-after": "60" };

/** One request whose body is read or stored. */
interface Exchange {
  readonly arrivedAt: number;
  readonly answer: (response: Response) => void;
  /** When the present step must be done. */
  dueAt: number;
  /** Bytes of memory that are held for it. */
  heldBytes: number;
  /** What is being stored; null while the body is being read. */
  delivery: Delivery | null;
  /** Stops reading a body that is read chunk by chunk. */
  stop: () => void;
}

/**
 * Answers requests: checks, reads the body, stores it, counts. This thread only
 * answers: bodies are interpreted where the ledger derives its columns.
 */
class Endpoint {
  readonly #options: WebhookEndpointOptions;
  readonly #gate: RequestGate;
  readonly #limits: Readonly<Record<Limit, number>>;
  /** What bounds large bodies, where no spool does. */
  readonly #room: Pick<BodyRoom, "noRoomFor"> & Partial<BodyRoom>;
  readonly #now: () => number;
  readonly #clock: () => number;
  readonly #newId: (receivedAtMs: number) => string;
  readonly #log: WriteLog;
  readonly #store: DeliveryStore;
  readonly #count: ReturnType<typeof counters>;
  readonly #large: LastingAlarm;
  readonly #nearlyFull: LastingAlarm;
  readonly #answers: Record<string, number> = {};
  readonly #refused: Partial<Record<RefusalReason, number>> = {};
  readonly #open = new Set<Exchange>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #heldBytes = 0;
  #largeBytes = 0;
  /** Whose bodies have not arrived, the oldest first. */
  readonly #reading = new Set<Exchange>();
  #onIdle: (() => void)[] = [];

  constructor(options: WebhookEndpointOptions) {
    this.#options = options;
    const { secret } = this.#gate = new RequestGate(options);
    const deadlineMs = positive(options, "deadlineMs", 4_500);
    this.#limits = {
      maxBodyBytes: positive(options, "maxBodyBytes", 1024 * 1024),
      maxHeldBytes: positive(options, "maxHeldBytes", 64 * 1024 * 1024),
      deadlineMs,
      bodyDeadlineMs: Math.min(
        positive(options, "bodyDeadlineMs", deadlineMs / 2),
        deadlineMs,
      ),
    };
    const now = this.#now = options.now ?? Date.now;
    const clock = this.#clock = options.clock ?? (() => performance.now());
    const { noRoomFor } = options;
    this.#newId = options.newId ?? monotonicFactory();
    this.#room = noRoomFor ? { noRoomFor } : largeBodyRate(clock);
    const redact = (text: string): string => secret.redact(text);
    const log = this.#log = endpointLog(options.log, now, redact);
    const parts = { now, clock, log };
    this.#store = new DeliveryStore({ ...options, ...parts });
    hideAddressesFromSpans();
    this.#count = counters(options.meter);
    this.#large = new LastingAlarm("large_bodies_refused", parts);
    this.#nearlyFull = new LastingAlarm("spool_nearly_full", parts);
    for (const { length } of options.secrets) {
      if (length >= WEAK_SECRET_LENGTH) continue;
      const message = `A secret has ${length} characters, use 32 random ones`;
      log("warn", "weak_secret", message);
    }
  }

  /** Answers a request. Never rejects. */
  readonly answer = (
    request: Request,
    info?: ConnectionInfo,
  ): Promise<Response> => {
    const arrivedAt = this.#clock();
    try {
      const refusal = this.#gate.refusalOf(request, info);
      if (refusal !== null) {
        return Promise.resolve(this.#refuse(refusal, arrivedAt));
      }
    } catch (error) {
      return Promise.resolve(this.#failed(error, arrivedAt));
    }
    return new Promise((answer) => {
      const exchange: Exchange = {
        arrivedAt,
        answer,
        dueAt: arrivedAt + this.#limits.bodyDeadlineMs,
        heldBytes: 0,
        delivery: null,
        stop: () => {},
      };
      this.#open.add(exchange);
      this.#timer ??= setTimeout(this.#look, LOOK_MS);
      if (this.#reading.size >= MOST_BODIES) this.#giveUpHalfBodies();
      this.#reading.add(exchange);
      void this.#receive(request, exchange);
    });
  };

  /** Counts and gauges, for health checks. */
  stats(): WebhookEndpointStats {
    return {
      inFlight: this.#open.size,
      heldBytes: this.#heldBytes,
      answers: { ...this.#answers },
      refused: { ...this.#refused },
      refusing: {
        large: this.#large.since,
        allButSmall: this.#nearlyFull.since,
      },
      lastNotAllowed: this.#gate.lastNotAllowed,
      appending: this.#store.appending,
      unansweredNotes: this.#store.notes,
    };
  }

  /** Waits for the requests in flight, then for the store. */
  async drain(timeoutMs: number): Promise<void> {
    const idle = new Promise<void>((resolve) => this.#onIdle.push(resolve));
    if (this.#open.size === 0) this.#onIdle.pop()?.();
    const late = () => new Error("It takes too long");
    const all = idle.then(() => this.#store.settled());
    await within(timeoutMs, undefined, late, () => all).catch(() => {});
    this.#onIdle = [];
    this.#store.stop();
    if (this.#open.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Reads the body and stores it. Never rejects. */
  async #receive(request: Request, exchange: Exchange): Promise<void> {
    try {
      let body: ArrayBuffer | Uint8Array | NoBody;
      try {
        body = await this.#read(request, exchange);
      } catch (error) {
        body = READ_BEFORE.test(messageOf(error)) ? "read_before" : "broken";
      }
      if (!this.#open.has(exchange)) return;
      if (typeof body === "string") return this.#endWithout(body, exchange);
      const bytes = body instanceof ArrayBuffer ? new Uint8Array(body) : body;
      // Others may have come while this one was read.
      const why = this.#room.noRoomFor(bytes.length);
      if (why !== null) return this.#endWithout(why, exchange);
      this.#room.took?.(bytes.length);
      const receivedAtMs = this.#now();
      const delivery = exchange.delivery = {
        id: this.#newId(receivedAtMs),
        receivedAt: new Date(receivedAtMs).toISOString(),
        body: bytes,
      };
      this.#reading.delete(exchange);
      exchange.dueAt = exchange.arrivedAt + this.#limits.deadlineMs;
      const isStored = await this.#store.store(delivery, exchange.dueAt);
      if (!this.#open.has(exchange)) return;
      this.#end(
        exchange,
        isStored
          ? this.#stored(delivery, exchange.arrivedAt)
          : this.#notStored(delivery, exchange.arrivedAt),
      );
    } catch (error) {
      if (!this.#open.has(exchange)) return;
      this.#end(exchange, this.#failed(error, exchange.arrivedAt));
    }
  }

  /** Starts to read a body, or says why it is not read. */
  #read(
    request: Request,
    exchange: Exchange,
  ): Promise<ArrayBuffer | Uint8Array | NoBody> | Uint8Array | NoBody {
    const stated = request.headers.get("content-length");
    const bytes = stated === null ? null : Number(stated);
    if (bytes !== null && bytes > this.#limits.maxBodyBytes) return "too_large";
    const why = this.#room.noRoomFor(bytes ?? 0);
    if (why !== null) return why;
    if (bytes !== null && bytes <= TRUSTED_BYTES) {
      return this.#hold(exchange, bytes) ?? request.arrayBuffer();
    }
    const { body } = request;
    return body === null ? new Uint8Array(0) : this.#chunks(body, exchange);
  }

  /** Reads a body chunk by chunk, within the limits at every chunk. */
  async #chunks(
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
    exchange: Exchange,
  ): Promise<Uint8Array | NoBody> {
    const reader = body.getReader();
    exchange.stop = () => void reader.cancel().catch(() => {});
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let bytes = 0;
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
      const why = bytes > this.#limits.maxBodyBytes
        ? "too_large"
        : this.#hold(exchange, value.byteLength);
      if (why !== null) return why;
      chunks.push(value);
    }
    const whole = concatenated(chunks);
    if (chunks.length > 1) chunks.forEach(free);
    return whole;
  }

  /** Holds memory until the answer, or says why there is no room. */
  #hold(exchange: Exchange, bytes: number): NoBody | null {
    const { maxHeldBytes } = this.#limits;
    if (!this.#open.has(exchange)) return "late";
    if (this.#heldBytes + bytes > maxHeldBytes) this.#giveUpHalfBodies(bytes);
    if (this.#heldBytes + bytes > maxHeldBytes) return "overload";
    const held = exchange.heldBytes + bytes;
    const why = this.#room.noRoomFor(held);
    if (why !== null) return why;
    const large = largeBytesOf(held) - largeBytesOf(exchange.heldBytes);
    if (this.#largeBytes + large > maxHeldBytes * LARGE_SHARE) {
      return "large_share";
    }
    exchange.heldBytes = held;
    this.#heldBytes += bytes;
    this.#largeBytes += large;
    return null;
  }

  /**
   * Gives up bodies that have been arriving for long, the oldest first, until
   * there is room for one more, and memory for this many bytes: a sender of half
   * bodies must not keep out one who sends whole bodies.
   */
  #giveUpHalfBodies(bytes: number = 0): void {
    const before = this.#clock() - HALF_BODY_MS;
    for (const exchange of this.#reading) {
      const isRoom = this.#reading.size < MOST_BODIES &&
        this.#heldBytes + bytes <= this.#limits.maxHeldBytes;
      if (isRoom || exchange.arrivedAt > before) return;
      if (bytes === 0 || exchange.heldBytes > 0) this.#onDue(exchange);
    }
  }

  /** Looks for what is due. A timer for each request would cost much more. */
  readonly #look = (): void => {
    const now = this.#clock();
    for (const exchange of this.#open) {
      if (exchange.dueAt <= now) this.#onDue(exchange);
    }
    const goesOn = this.#open.size > 0;
    this.#timer = goesOn ? setTimeout(this.#look, LOOK_MS) : undefined;
  };

  /** Answers for a sender whose body, or a disk whose sync, does not come. */
  #onDue(exchange: Exchange): void {
    const { delivery, arrivedAt } = exchange;
    if (delivery === null) return this.#endWithout("late", exchange);
    this.#store.failed("No answer in time");
    this.#end(exchange, this.#notStored(delivery, arrivedAt));
  }

  #end(exchange: Exchange, response: Response): void {
    this.#reading.delete(exchange);
    this.#heldBytes -= exchange.heldBytes;
    this.#largeBytes -= largeBytesOf(exchange.heldBytes);
    this.#open.delete(exchange);
    exchange.delivery = null;
    exchange.stop();
    exchange.answer(response);
    if (this.#open.size > 0) return;
    for (const resolve of this.#onIdle) resolve();
  }

  /** Answers 204. A delivery answered too late is noted as unanswered. */
  #stored(delivery: Delivery, arrivedAt: number): Response {
    if (this.#clock() - arrivedAt > SENDER_TIMEOUT_MS) {
      this.#noteUnanswered(delivery, "late");
    }
    this.#large.settle();
    this.#nearlyFull.settle();
    this.#report(204, arrivedAt, null, delivery);
    return new Response(null, STORED);
  }

  /** Answers 503. The delivery may be stored after all, by a late append. */
  #notStored(delivery: Delivery, arrivedAt: number): Response {
    this.#noteUnanswered(delivery, "503");
    const message = "A delivery could not be kept";
    this.#log("error", "delivery_refused", message, { answer: 503 });
    this.#report(503, arrivedAt, null, delivery);
    return new Response(null, { status: 503, headers: RETRY_LATER });
  }

  /** Answers 503: the caller's ids, times or address reader failed. */
  #failed(error: unknown, arrivedAt: number): Response {
    const message = "A request could not be handled";
    const detail = messageOf(error);
    this.#log("error", "delivery_refused", message, { detail });
    this.#report(503, arrivedAt);
    return new Response(null, { status: 503, headers: RETRY_LATER });
  }

  #noteUnanswered({ id }: Delivery, answer: "late" | "503"): void {
    const message = `A delivery that may be stored was answered ${answer}`;
    this.#log("error", "delivery_unanswered", message, { deliveryId: id });
    const noticedAt = new Date(this.#now()).toISOString();
    this.#store.note({ id, noticedAt, answer });
  }

  /** Refuses a request for its body. */
  #endWithout(reason: NoBody, exchange: Exchange): void {
    const { maxBodyBytes, maxHeldBytes, bodyDeadlineMs } = this.#limits;
    const message = {
      too_large: `A body has more than ${maxBodyBytes} bytes`,
      late: `A body was not there after ${bodyDeadlineMs} ms`,
      broken: "A body broke off",
      read_before: "A body was read before the endpoint got it: mount the " +
        "endpoint ahead of body parsers, such as express.json()",
      overload: `Bodies of ${maxHeldBytes} bytes are held already`,
      large_share: "Large bodies have used up what they share",
      nearly_full: "What is left of the spool is kept for small bodies",
    }[reason];
    const level = reason === "late" || reason === "broken" ? "warn" : "error";
    const answer = refusals[reason];
    if (reason === "large_share") this.#large.raise();
    if (reason === "nearly_full") this.#nearlyFull.raise();
    this.#log(level, "body_refused", message, { answer });
    const refused = this.#refuse(reason, exchange.arrivedAt, {
      connection: "close",
      ...(answer === 503 && RETRY_LATER),
    });
    this.#end(exchange, refused);
  }

  #refuse(
    reason: RefusalReason,
    arrivedAt: number,
    headers: Record<string, string> = {},
  ): Response {
    const status = refusals[reason];
    this.#refused[reason] = (this.#refused[reason] ?? 0) + 1;
    this.#report(status, arrivedAt, reason);
    return new Response(null, {
      status,
      headers: reason === "method" ? { allow: "POST" } : headers,
    });
  }

  /** Counts an answer, and reports it to `onAnswer`. */
  #report(
    status: number,
    arrivedAt: number,
    refusal: RefusalReason | null = null,
    delivery: Delivery | null = null,
  ): void {
    const durationMs = this.#clock() - arrivedAt;
    this.#answers[status] = (this.#answers[status] ?? 0) + 1;
    this.#count(status, refusal, durationMs / 1000);
    try {
      this.#options.onAnswer?.({ delivery, status, refusal, durationMs });
    } catch {
      // A failing observer must not cost a delivery.
    }
  }
}

/** Bytes of a body if it is large, else none. */
function largeBytesOf(bytes: number): number {
  return bytes > LARGE_BODY_BYTES ? bytes : 0;
}

function counters(meter = NO_METER) {
  const deliveries = meter.createCounter("rampkit.webhook.deliveries", {
    description: "Webhook requests by answer",
    unit: "{request}",
  });
  const refused = meter.createCounter("rampkit.webhook.refused", {
    description: "Refused requests by reason",
    unit: "{request}",
  });
  const duration = meter.createHistogram("rampkit.webhook.answer.duration", {
    description: "Time from the arrival of a webhook to its answer",
    unit: "s",
    advice: { explicitBucketBoundaries: [...DURATION_BOUNDS] },
  });
  return (answer: number, reason: RefusalReason | null, seconds: number) => {
    deliveries.add(1, { answer });
    duration.record(seconds, { answer });
    if (reason !== null) refused.add(1, { reason });
  };
}

/** The value of an option that must be positive, or its default. */
function positive(
  options: WebhookEndpointOptions,
  name: Limit,
  preset: number,
): number {
  const value = options[name] ?? preset;
  if (typeof value === "number" && value > 0) return value;
  throw new RangeError(
    `Cannot mount endpoint: ${name} must be positive, current value is ${value}`,
  );
}
