import { monotonicFactory } from "ulid";
import { allowlist } from "./_allowlist.ts";
import { classify } from "./_classify.ts";
import { Deadlines } from "./_deadlines.ts";
import { DeliveryStore } from "./_delivery_store.ts";
import { PathSecret } from "./_path_secret.ts";
import { readBody } from "./_read_body.ts";
import { EndpointTelemetry } from "./_telemetry.ts";
import type {
  AppendDelivery,
  Delivery,
  UnansweredDelivery,
} from "./delivery.ts";
import type { WebhookLog, WebhookLogEntry } from "./log.ts";
import type { Spool } from "./spool.ts";

/** What a server tells about a connection; `Deno.ServeHandlerInfo` fits. */
export interface ConnectionInfo {
  /** Address of the other side, where the transport has one. */
  readonly remoteAddr?: { readonly hostname?: string } | object;
}

/** What {@linkcode webhookEndpoint} is made of. */
export interface WebhookEndpointOptions {
  /**
   * Stores a delivery for good; `ledger.appendDelivery` does. It resolves
   * after the commit, and storing a delivery twice stores it once.
   */
  readonly append: AppendDelivery;
  /**
   * Secrets of which the path must end in one. Name the new one and the old
   * one while the address is being changed at the service.
   */
  readonly secrets: readonly string[];
  /**
   * What the path begins with; the secret is all that follows.
   *
   * @default "/webhooks/"
   */
  readonly path?: string;
  /**
   * Addresses and networks (CIDR) that may deliver; others get 404.
   *
   * @default Everybody who knows a secret may.
   */
  readonly allowlist?: readonly string[];
  /**
   * Tells the address a request came from, for the allowlist. Behind a proxy
   * it has to read the header which that proxy sets, and no other.
   *
   * @default The address of the connection.
   */
  readonly clientAddress?: (
    request: Request,
    info: ConnectionInfo | undefined,
  ) => string | null;
  /**
   * Longest body taken; a longer one gets 413.
   *
   * @default 1048576
   */
  readonly maxBodyBytes?: number;
  /**
   * Most bytes of bodies held in memory at a time; beyond them requests get
   * 503.
   *
   * @default 67108864
   */
  readonly maxHeldBytes?: number;
  /**
   * Time from arrival to answer. The service waits 5 seconds.
   *
   * @default 4500
   */
  readonly deadlineMs?: number;
  /**
   * Time from arrival within which the body must be there; a slower one gets
   * 408.
   *
   * @default Half of `deadlineMs`.
   */
  readonly bodyDeadlineMs?: number;
  /**
   * How long to wait for `append` before the delivery goes to the spool.
   *
   * @default 1000
   */
  readonly spoolAfterMs?: number;
  /**
   * Where deliveries go while `append` fails or takes long. The caller closes
   * it, after {@linkcode WebhookEndpoint.drain}.
   *
   * @default None: such a delivery gets 503, and the service sends it again.
   */
  readonly spool?: Spool;
  /**
   * Records that a delivery which may be stored was answered late or with 503;
   * `ledger.recordUnanswered` does. It is called once appending works.
   *
   * @default Nobody is told.
   */
  readonly unanswered?: (unanswered: UnansweredDelivery) => Promise<void>;
  /**
   * Wall clock in milliseconds since 1970, for times that are written down.
   *
   * @default Date.now
   */
  readonly now?: () => number;
  /**
   * Steady clock in milliseconds, for deadlines.
   *
   * @default performance.now
   */
  readonly clock?: () => number;
  /**
   * Makes the id of a delivery from the time of its arrival.
   *
   * @default Monotonic ULIDs.
   */
  readonly newId?: (receivedAtMs: number) => string;
  /**
   * Takes log entries, which hold no secret, header or body.
   *
   * @default Nothing is logged.
   */
  readonly log?: WebhookLog;
}

/** What an endpoint has done and is doing. */
export interface WebhookEndpointStats {
  /** Requests being answered. */
  readonly inFlight: number;
  /** Bytes of bodies held for them. */
  readonly heldBytes: number;
  /** How often each HTTP status was answered, by status. */
  readonly answers: Readonly<Record<string, number>>;
  /** Stored bodies that are no JSON object. */
  readonly quarantined: number;
  /** Whether the ledger took what it was last given. */
  readonly appending: boolean;
  /** Deliveries that wait in the spool. */
  readonly spoolDepth: number;
  /** Bytes that wait in the spool. */
  readonly spoolBytes: number;
  /** Notes of unanswered deliveries that wait for the ledger. */
  readonly unansweredNotes: number;
  /** When the latest delivery was kept, UTC ISO 8601; null before the first. */
  readonly lastDeliveryAt: string | null;
}

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
   * Waits until every request is answered, every append settled, and the spool
   * empty or the ledger known to fail; then stops the work in the background.
   * Stop the server first: requests that still come are answered, but what
   * they spool stays there.
   *
   * @param options `timeoutMs` bounds the waiting; the default is 10 seconds.
   */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
}

const RETRY_AFTER_SECONDS = "60";
/** How long the service waits for an answer. */
const SENDER_TIMEOUT_MS = 5_000;
const WEAK_SECRET_LENGTH = 16;

/**
 * Makes the endpoint that the service delivers webhooks to.
 *
 * It answers 204 once the exact bytes of the body are where they cannot be
 * lost, whatever they say: in the ledger, or, while that fails or takes long,
 * in the spool. Nothing is interpreted on the way, so a webhook nobody
 * understands is no failure. The other answers: 404 without a valid secret or
 * from an address that may not deliver, 405 for another method than POST, 413
 * over the limit, 408 when the body does not come, and 503 with `Retry-After`
 * when the delivery could not be kept.
 *
 * The handler takes a `Request` and returns a `Response`, so it mounts in
 * `Deno.serve`, Hono, Fresh and Deno Deploy alike.
 *
 * @param options What the endpoint is made of.
 * @returns The endpoint.
 * @throws {RangeError} When there is no secret, one is empty or too long, or a
 * limit is not a positive number.
 * @throws {TypeError} When `path` does not begin and end with a slash, or an
 * entry of `allowlist` is no address.
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
  return Object.assign(
    (request: Request, info?: ConnectionInfo): Promise<Response> =>
      endpoint.answer(request, info),
    {
      stats: (): WebhookEndpointStats => endpoint.stats(),
      drain: (drain: { readonly timeoutMs?: number } = {}): Promise<void> =>
        endpoint.drain(drain.timeoutMs ?? 10_000),
    },
  );
}

class Endpoint {
  readonly #secret: PathSecret;
  readonly #mayDeliver: ((address: string | null) => boolean) | null;
  readonly #clientAddress: NonNullable<WebhookEndpointOptions["clientAddress"]>;
  readonly #maxBodyBytes: number;
  readonly #maxHeldBytes: number;
  readonly #deadlineMs: number;
  readonly #bodyDeadlineMs: number;
  readonly #spool: Spool | undefined;
  readonly #now: () => number;
  readonly #clock: () => number;
  readonly #newId: (receivedAtMs: number) => string;
  readonly #log: WebhookLog | undefined;
  readonly #deadlines: Deadlines;
  readonly #store: DeliveryStore;
  readonly #telemetry: EndpointTelemetry;
  readonly #answers: Record<string, number> = {};
  #quarantined = 0;
  #inFlight = 0;
  #heldBytes = 0;
  #lastDeliveryAt: string | null = null;
  #idle: (() => void)[] = [];

  constructor(options: WebhookEndpointOptions) {
    const path = options.path ?? "/webhooks/";
    this.#secret = new PathSecret(path, options.secrets);
    this.#mayDeliver = options.allowlist === undefined
      ? null
      : allowlist(options.allowlist);
    this.#clientAddress = options.clientAddress ?? connectionAddress;
    this.#maxBodyBytes = positive(options, "maxBodyBytes", 1024 * 1024);
    this.#maxHeldBytes = positive(options, "maxHeldBytes", 64 * 1024 * 1024);
    this.#deadlineMs = positive(options, "deadlineMs", 4_500);
    this.#bodyDeadlineMs = Math.min(
      positive(options, "bodyDeadlineMs", this.#deadlineMs / 2),
      this.#deadlineMs,
    );
    this.#spool = options.spool;
    this.#now = options.now ?? Date.now;
    this.#clock = options.clock ?? ((): number => performance.now());
    this.#newId = options.newId ?? monotonicFactory();
    this.#log = options.log;
    this.#deadlines = new Deadlines(this.#clock);
    this.#store = new DeliveryStore({
      append: options.append,
      spool: options.spool,
      unanswered: options.unanswered,
      spoolAfterMs: positive(options, "spoolAfterMs", 1_000),
      retryAfterMs: 100,
      probeTimeoutMs: 10_000,
      deadlines: this.#deadlines,
      clock: this.#clock,
      log: (entry): void => this.#write(entry),
    });
    this.#telemetry = new EndpointTelemetry(
      path,
      this.#secret.route,
      () => this.#spool?.depth ?? 0,
    );
    for (const { length } of options.secrets) {
      if (length >= WEAK_SECRET_LENGTH) continue;
      this.#write({
        level: "warn",
        code: "weak_secret",
        message: `A secret has ${length} characters, use 32 random ones`,
      });
    }
  }

  async answer(
    request: Request,
    info: ConnectionInfo | undefined,
  ): Promise<Response> {
    const arrivedAt = this.#clock();
    this.#inFlight++;
    try {
      return await this.#answer(request, info, arrivedAt);
    } catch (error) {
      // Not reached by any known path; a handler that throws is a 500, and
      // what it throws is printed by the server.
      this.#write({
        level: "error",
        code: "delivery_refused",
        message: "A request could not be handled",
        detail: error instanceof Error ? error.message : String(error),
      });
      return this.#refused(503, "none", arrivedAt);
    } finally {
      this.#inFlight--;
      if (this.#inFlight === 0) { for (const idle of this.#idle) idle(); }
    }
  }

  stats(): WebhookEndpointStats {
    return {
      inFlight: this.#inFlight,
      heldBytes: this.#heldBytes,
      answers: { ...this.#answers },
      quarantined: this.#quarantined,
      appending: this.#store.appending,
      spoolDepth: this.#spool?.depth ?? 0,
      spoolBytes: this.#spool?.bytes ?? 0,
      unansweredNotes: this.#store.notes,
      lastDeliveryAt: this.#lastDeliveryAt,
    };
  }

  async drain(timeoutMs: number): Promise<void> {
    const dueAt = this.#clock() + timeoutMs;
    if (this.#inFlight > 0) {
      const idle = new Promise<void>((resolve) => this.#idle.push(resolve));
      await this.#deadlines.race(idle, dueAt, undefined);
      this.#idle = [];
    }
    await this.#store.drain(dueAt);
    this.#deadlines.settle();
  }

  async #answer(
    request: Request,
    info: ConnectionInfo | undefined,
    arrivedAt: number,
  ): Promise<Response> {
    this.#telemetry.hideAddress();
    const mayDeliver = this.#mayDeliver === null ||
      this.#mayDeliver(this.#clientAddress(request, info));
    if (!this.#secret.matches(request.url) || !mayDeliver) {
      return this.#refused(404, "none", arrivedAt);
    }
    if (request.method !== "POST") {
      return this.#refused(405, "none", arrivedAt, { allow: "POST" });
    }
    // What a body may come to is reserved before it is read, so that many
    // slow ones cannot add up to more than the limit.
    const stated = Number(request.headers.get("content-length") ?? NaN);
    const reserved = Number.isNaN(stated)
      ? this.#maxBodyBytes
      : Math.min(stated, this.#maxBodyBytes);
    if (this.#heldBytes + reserved > this.#maxHeldBytes) {
      return this.#refused(503, "none", arrivedAt, {
        "retry-after": RETRY_AFTER_SECONDS,
      }, "Too many bytes are held for other requests");
    }
    this.#heldBytes += reserved;
    try {
      const body = await readBody(request, {
        maxBytes: this.#maxBodyBytes,
        dueAt: arrivedAt + this.#bodyDeadlineMs,
        deadlines: this.#deadlines,
      });
      return typeof body === "string"
        ? this.#refuseBody(body, arrivedAt)
        : await this.#deliver(body, arrivedAt);
    } finally {
      this.#heldBytes -= reserved;
    }
  }

  #refuseBody(
    why: "too_large" | "late" | "broken",
    arrivedAt: number,
  ): Response {
    const answer = { too_large: 413, late: 408, broken: 400 }[why];
    this.#write({
      level: why === "too_large" ? "error" : "warn",
      code: "body_refused",
      message: {
        too_large: `A body has more than ${this.#maxBodyBytes} bytes`,
        late: `A body was not there after ${this.#bodyDeadlineMs} ms`,
        broken: "A body broke off",
      }[why],
      answer,
    });
    return this.#refused(answer, "none", arrivedAt, { connection: "close" });
  }

  async #deliver(body: Uint8Array, arrivedAt: number): Promise<Response> {
    const receivedAtMs = this.#now();
    const receivedAt = new Date(receivedAtMs).toISOString();
    const delivery: Delivery = {
      id: this.#newId(receivedAtMs),
      receivedAt,
      body,
    };
    const storing = this.#store.store(delivery, arrivedAt + this.#deadlineMs);
    const type = this.#typeOf(delivery);
    const kept = await storing;
    const durationMs = this.#clock() - arrivedAt;
    if (kept === "refused") {
      this.#unanswered(delivery, "503");
      return this.#refused(503, type, arrivedAt, {
        "retry-after": RETRY_AFTER_SECONDS,
      }, "A delivery could not be kept");
    }
    this.#lastDeliveryAt = receivedAt;
    if (type === "quarantined") this.#quarantined++;
    if (durationMs > SENDER_TIMEOUT_MS) this.#unanswered(delivery, "late");
    this.#count(204, type, durationMs);
    if (this.#log !== undefined) {
      this.#write({
        level: "debug",
        code: "delivered",
        message: `A delivery was ${kept}`,
        deliveryId: delivery.id,
        answer: 204,
        type,
        bytes: body.length,
        durationMs,
      });
    }
    return new Response(null, { status: 204 });
  }

  /** The documented type, `other`, or `quarantined`. */
  #typeOf(delivery: Delivery): string {
    const { type, why } = classify(delivery.body);
    if (why === null) return type;
    const quarantined = type === "quarantined";
    this.#write({
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

  #unanswered(delivery: Delivery, answer: "late" | "503"): void {
    this.#write({
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

  #refused(
    status: number,
    type: string,
    arrivedAt: number,
    headers?: Record<string, string>,
    why?: string,
  ): Response {
    this.#count(status, type, this.#clock() - arrivedAt);
    if (why !== undefined) {
      this.#write({
        level: "error",
        code: "delivery_refused",
        message: why,
        answer: status,
        type,
      });
    }
    return new Response(null, headers ? { status, headers } : { status });
  }

  #count(answer: number, type: string, durationMs: number): void {
    this.#answers[answer] = (this.#answers[answer] ?? 0) + 1;
    this.#telemetry.answered(type, answer, durationMs);
  }

  #write(entry: Omit<WebhookLogEntry, "at">): void {
    if (this.#log === undefined) return;
    try {
      const at = new Date(this.#now()).toISOString();
      this.#log(
        entry.detail === undefined
          ? { ...entry, at }
          : { ...entry, at, detail: this.#secret.redact(entry.detail) },
      );
    } catch {
      // A log that fails must not cost a delivery.
    }
  }
}

function connectionAddress(
  _request: Request,
  info: ConnectionInfo | undefined,
): string | null {
  const remote = info?.remoteAddr;
  if (remote === undefined || !("hostname" in remote)) return null;
  return typeof remote.hostname === "string" ? remote.hostname : null;
}

function positive<Name extends keyof WebhookEndpointOptions>(
  options: WebhookEndpointOptions,
  name: Name,
  preset: number,
): number {
  const value = options[name] ?? preset;
  if (typeof value === "number" && value > 0) return value;
  throw new RangeError(
    `Cannot mount endpoint: ${name} must be positive, current value is ${value}`,
  );
}
