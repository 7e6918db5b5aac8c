import { monotonicFactory } from "ulid";
import { allowlist } from "./_allowlist.ts";
import { classify } from "./_classify.ts";
import { Deadlines } from "./_deadlines.ts";
import { DeliveryStore, type Kept } from "./_delivery_store.ts";
import { connectionAddress, positive } from "./_options.ts";
import { PathSecret } from "./_path_secret.ts";
import { type NoBody, readBody } from "./_read_body.ts";
import { EndpointTelemetry } from "./_telemetry.ts";
import type { Delivery } from "./delivery.ts";
import type {
  ConnectionInfo,
  WebhookEndpointOptions,
} from "./endpoint_options.ts";
import type { WebhookEndpointStats } from "./endpoint.ts";
import type { WebhookLog, WebhookLogEntry } from "./log.ts";
import type { Spool } from "./spool.ts";

const RETRY_AFTER_SECONDS = "60";
/** How long the service waits for an answer. */
const SENDER_TIMEOUT_MS = 5_000;
const WEAK_SECRET_LENGTH = 16;

/** The endpoint behind the function: admits, reads, keeps, answers, counts. */
export class EndpointCore {
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
  readonly #refusals: Readonly<
    Record<
      NoBody,
      Pick<WebhookLogEntry, "level" | "message"> & { answer: number }
    >
  >;
  #quarantined = 0;
  #inFlight = 0;
  #heldBytes = 0;
  #lastDeliveryAt: string | null = null;
  #idle: (() => void)[] = [];
  #latestMs = NaN;
  #latestIso = "";

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
      probeTimeoutMs: 5_000,
      deadlines: this.#deadlines,
      clock: this.#clock,
      log: (entry): void => this.#write(entry),
    });
    this.#refusals = {
      too_large: {
        answer: 413,
        level: "error",
        message: `A body has more than ${this.#maxBodyBytes} bytes`,
      },
      late: {
        answer: 408,
        level: "warn",
        message: `A body was not there after ${this.#bodyDeadlineMs} ms`,
      },
      broken: { answer: 400, level: "warn", message: "A body broke off" },
      overload: {
        answer: 503,
        level: "error",
        message: `Bodies of ${this.#maxHeldBytes} bytes are held already`,
      },
    };
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

  answer(
    request: Request,
    info: ConnectionInfo | undefined,
  ): Promise<Response> {
    const arrivedAt = this.#clock();
    this.#telemetry.hideAddress();
    try {
      const refusal = this.#admit(request, info, arrivedAt);
      if (refusal !== null) return Promise.resolve(refusal);
      return new Promise((resolve) => {
        this.#take(request, arrivedAt, resolve);
      });
    } catch (error) {
      return Promise.resolve(this.#failed(error, arrivedAt));
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

  /** The answer to a request that may not deliver; null for one that may. */
  #admit(
    request: Request,
    info: ConnectionInfo | undefined,
    arrivedAt: number,
  ): Response | null {
    const mayDeliver = this.#mayDeliver === null ||
      this.#mayDeliver(this.#clientAddress(request, info));
    if (!this.#secret.matches(request.url) || !mayDeliver) {
      return this.#refused(404, "none", arrivedAt);
    }
    return request.method === "POST"
      ? null
      : this.#refused(405, "none", arrivedAt, { allow: "POST" });
  }

  /** Takes the delivery of a request, and answers it. */
  #take(
    request: Request,
    arrivedAt: number,
    answer: (response: Response) => void,
  ): void {
    const length = request.headers.get("content-length");
    const statedBytes = length === null ? null : Number(length);
    this.#inFlight++;
    let held = 0;
    const hold = (bytes: number): boolean => {
      if (this.#heldBytes + bytes > this.#maxHeldBytes) return false;
      held += bytes;
      this.#heldBytes += bytes;
      return true;
    };
    const finish = (response: Response): void => {
      this.#heldBytes -= held;
      this.#inFlight--;
      if (this.#inFlight === 0) { for (const idle of this.#idle) idle(); }
      answer(response);
    };
    try {
      readBody(request, statedBytes, {
        maxBytes: this.#maxBodyBytes,
        dueAt: arrivedAt + this.#bodyDeadlineMs,
        deadlines: this.#deadlines,
        hold,
      }, (body) => {
        if (typeof body === "string") {
          finish(this.#refuseBody(body, arrivedAt));
        } else {
          this.#deliver(body, arrivedAt, finish);
        }
      });
    } catch (error) {
      finish(this.#failed(error, arrivedAt));
    }
  }

  #refuseBody(why: NoBody, arrivedAt: number): Response {
    const { answer, level, message } = this.#refusals[why];
    this.#write({ level, code: "body_refused", message, answer });
    return this.#refused(answer, "none", arrivedAt, {
      connection: "close",
      ...(answer === 503 ? { "retry-after": RETRY_AFTER_SECONDS } : {}),
    });
  }

  #deliver(
    body: Uint8Array,
    arrivedAt: number,
    answer: (response: Response) => void,
  ): void {
    const delivery = this.#received(body, arrivedAt, answer);
    if (delivery === null) return;
    let type = "";
    this.#store.store(delivery, arrivedAt + this.#deadlineMs, (kept) => {
      answer(this.#kept(kept, delivery, type, arrivedAt));
    });
    // Looked at while the ledger writes: nothing depends on it but counts.
    type = this.#typeOf(delivery);
  }

  /** Clock and ids are the caller's, and may throw: then the answer is 503. */
  #received(
    body: Uint8Array,
    arrivedAt: number,
    answer: (response: Response) => void,
  ): Delivery | null {
    try {
      const receivedAtMs = this.#now();
      const id = this.#newId(receivedAtMs);
      return { id, receivedAt: this.#isoTime(receivedAtMs), body };
    } catch (error) {
      answer(this.#failed(error, arrivedAt));
      return null;
    }
  }

  #kept(
    kept: Kept,
    delivery: Delivery,
    type: string,
    arrivedAt: number,
  ): Response {
    if (kept === "refused") {
      this.#unanswered(delivery, "503");
      return this.#refused(503, type, arrivedAt, {
        "retry-after": RETRY_AFTER_SECONDS,
      }, "A delivery could not be kept");
    }
    const durationMs = this.#clock() - arrivedAt;
    if (durationMs > SENDER_TIMEOUT_MS) this.#unanswered(delivery, "late");
    this.#lastDeliveryAt = delivery.receivedAt;
    if (type === "quarantined") this.#quarantined++;
    this.#count(204, type, durationMs);
    if (this.#log !== undefined) {
      this.#write({
        level: "debug",
        code: "delivered",
        message: `A delivery was ${kept}`,
        deliveryId: delivery.id,
        answer: 204,
        type,
        bytes: delivery.body.length,
        durationMs,
      });
    }
    return new Response(null, { status: 204 });
  }

  /** Not reached by any known path: whatever happens, there is an answer. */
  #failed(error: unknown, arrivedAt: number): Response {
    this.#write({
      level: "error",
      code: "delivery_refused",
      message: "A request could not be handled",
      detail: error instanceof Error ? error.message : String(error),
    });
    return this.#refused(503, "none", arrivedAt, {
      "retry-after": RETRY_AFTER_SECONDS,
    });
  }

  /** Many deliveries arrive within one millisecond. */
  #isoTime(ms: number): string {
    if (ms !== this.#latestMs) {
      this.#latestIso = new Date(ms).toISOString();
      this.#latestMs = ms;
    }
    return this.#latestIso;
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
