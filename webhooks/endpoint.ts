import { monotonicFactory } from "ulid";
import { concatenated, free } from "../core/bytes.ts";
import { messageOf } from "../core/guards.ts";
import { DURATION_BOUNDS, NO_METER } from "../core/telemetry/meter.ts";
import { SENDER_TIMEOUT_MS, sleep, within } from "../core/waiting/waiting.ts";
import type { Delivery, UnansweredDelivery } from "../core/wire/objects.ts";
import { type BodyRoom, LARGE_BODY_BYTES, largeBodyRate } from "./body_room.ts";
import { type AlarmParts, endpointLog, LastingAlarm } from "./endpoint_log.ts";
import {
  type ConnectionInfo,
  type RefusalReason,
  refusals,
  type WebhookEndpointOptions,
  type WebhookEndpointStats,
} from "./endpoint_options.ts";
import { hideAddressesFromSpans, PathSecret } from "./gate.ts";
import { allowlist, connectionAddress } from "./proxied_address.ts";

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
 * not interpreted before, so an unknown webhook is stored as well. The other
 * answers: 404 without a valid secret or from an address that may not deliver,
 * 405 for another method than POST, 413 over the limit, 408 when the body does
 * not arrive, and 503 with `Retry-After` when the delivery could not be stored.
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
  const secret = new PathSecret(options.path ?? null, options.secrets);
  const isAllowed = options.allowlist ? allowlist(options.allowlist) : null;
  const { clientAddress = connectionAddress } = options;
  const deadlineMs = positive(options, "deadlineMs", 4_500);
  const maxBodyBytes = positive(options, "maxBodyBytes", 1024 * 1024);
  const maxHeldBytes = positive(options, "maxHeldBytes", 64 * 1024 * 1024);
  const bodyDeadlineMs = Math.min(
    positive(options, "bodyDeadlineMs", deadlineMs / 2),
    deadlineMs,
  );
  const { now = Date.now, clock = () => performance.now() } = options;
  const { newId = monotonicFactory(), noRoomFor } = options;
  /** What bounds large bodies, where no spool does. */
  const room: BodyRoom = noRoomFor ? { noRoomFor } : largeBodyRate(clock);
  const log = endpointLog(options.log, now, (text) => secret.redact(text));
  const parts = { now, clock, log };
  const store = deliveryStore(options, parts);
  const count = counters(options.meter);
  const largeRefused = new LastingAlarm("large_bodies_refused", parts);
  const nearlyFull = new LastingAlarm("spool_nearly_full", parts);
  const answers: Record<string, number> = {};
  const refused: Partial<Record<RefusalReason, number>> = {};
  const open = new Set<Exchange>();
  /** Whose bodies have not arrived, the oldest first. */
  const reading = new Set<Exchange>();
  /** Address of the latest refused request that knew the secret. */
  let lastNotAllowed: string | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let heldBytes = 0;
  let largeBytes = 0;
  let onIdle: (() => void)[] = [];
  hideAddressesFromSpans();
  for (const { length } of options.secrets) {
    if (length >= WEAK_SECRET_LENGTH) continue;
    const message = `A secret has ${length} characters, use 32 random ones`;
    log("warn", "weak_secret", message);
  }
  return Object.assign(answer, { stats, drain });

  function answer(
    request: Request,
    info?: ConnectionInfo,
  ): Promise<Response> {
    const arrivedAt = clock();
    try {
      const refusal = refusalOf(request, info);
      if (refusal) return Promise.resolve(refuse(refusal, arrivedAt));
    } catch (error) {
      return Promise.resolve(failed(error, arrivedAt));
    }
    return new Promise((resolve) => {
      const exchange: Exchange = {
        arrivedAt,
        answer: resolve,
        dueAt: arrivedAt + bodyDeadlineMs,
        heldBytes: 0,
        delivery: null,
        stop: () => {},
      };
      open.add(exchange);
      timer ??= setTimeout(look, LOOK_MS);
      if (reading.size >= MOST_BODIES) giveUpHalfBodies();
      reading.add(exchange);
      void receive(request, exchange);
    });
  }

  function refusalOf(
    request: Request,
    info: ConnectionInfo | undefined,
  ): RefusalReason | null {
    const address = isAllowed && clientAddress(request, info);
    if (!secret.matches(request.url)) {
      return secret.isIn(request.url) ? "misplaced_secret" : "wrong_secret";
    }
    if (isAllowed !== null && !isAllowed(address)) {
      lastNotAllowed = address;
      return "not_allowed";
    }
    return request.method === "POST" ? null : "method";
  }

  function stats(): WebhookEndpointStats {
    return {
      inFlight: open.size,
      heldBytes,
      answers: { ...answers },
      refused: { ...refused },
      refusing: { large: largeRefused.since, allButSmall: nearlyFull.since },
      lastNotAllowed,
      appending: store.isAppending(),
      unansweredNotes: store.notes.length,
    };
  }

  async function drain({ timeoutMs = 10_000 } = {}): Promise<void> {
    const idle = new Promise<void>((resolve) => onIdle.push(resolve));
    if (open.size === 0) onIdle.pop()?.();
    const late = () => new Error("It takes too long");
    const all = idle.then(() => store.settled());
    await within(timeoutMs, undefined, late, () => all).catch(() => {});
    onIdle = [];
    store.stop();
    if (open.size > 0) return;
    clearTimeout(timer);
    timer = undefined;
  }

  async function receive(request: Request, exchange: Exchange): Promise<void> {
    try {
      let body: ArrayBuffer | Uint8Array | NoBody;
      try {
        body = await read(request, exchange);
      } catch (error) {
        body = READ_BEFORE.test(messageOf(error)) ? "read_before" : "broken";
      }
      if (!open.has(exchange)) return;
      if (typeof body === "string") return endWithout(body, exchange);
      const bytes = body instanceof ArrayBuffer ? new Uint8Array(body) : body;
      // Others may have come while this one was read.
      const why = room.noRoomFor(bytes.length);
      if (why !== null) return endWithout(why, exchange);
      room.took?.(bytes.length);
      const receivedAtMs = now();
      const delivery = exchange.delivery = {
        id: newId(receivedAtMs),
        receivedAt: new Date(receivedAtMs).toISOString(),
        body: bytes,
      };
      reading.delete(exchange);
      exchange.dueAt = exchange.arrivedAt + deadlineMs;
      const isStored = await store.store(delivery, exchange.dueAt);
      if (!open.has(exchange)) return;
      const answered = isStored ? stored : notStored;
      end(exchange, answered(delivery, exchange.arrivedAt));
    } catch (error) {
      if (!open.has(exchange)) return;
      end(exchange, failed(error, exchange.arrivedAt));
    }
  }

  function read(
    request: Request,
    exchange: Exchange,
  ): Promise<ArrayBuffer | Uint8Array | NoBody> | Uint8Array | NoBody {
    const stated = request.headers.get("content-length");
    const bytes = stated === null ? null : Number(stated);
    if (bytes !== null && bytes > maxBodyBytes) return "too_large";
    const why = room.noRoomFor(bytes ?? 0);
    if (why !== null) return why;
    if (bytes !== null && bytes <= TRUSTED_BYTES) {
      return hold(exchange, bytes) ?? request.arrayBuffer();
    }
    const { body } = request;
    return body === null ? new Uint8Array(0) : chunks(body, exchange);
  }

  /** Reads a body chunk by chunk, within the limits at every chunk. */
  async function chunks(
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
      const why = bytes > maxBodyBytes
        ? "too_large"
        : hold(exchange, value.byteLength);
      if (why !== null) return why;
      chunks.push(value);
    }
    const whole = concatenated(chunks);
    if (chunks.length > 1) chunks.forEach(free);
    return whole;
  }

  /** Holds memory until the answer, or says why there is no room. */
  function hold(exchange: Exchange, bytes: number): NoBody | null {
    if (!open.has(exchange)) return "late";
    if (heldBytes + bytes > maxHeldBytes) giveUpHalfBodies(bytes);
    if (heldBytes + bytes > maxHeldBytes) return "overload";
    const held = exchange.heldBytes + bytes;
    const why = room.noRoomFor(held);
    if (why !== null) return why;
    const large = largeBytesOf(held) - largeBytesOf(exchange.heldBytes);
    if (largeBytes + large > maxHeldBytes * LARGE_SHARE) return "large_share";
    exchange.heldBytes = held;
    heldBytes += bytes;
    largeBytes += large;
    return null;
  }

  /**
   * Gives up bodies that have been arriving for long, the oldest first, until
   * there is room for one more, and memory for this many bytes: a sender of half
   * bodies must not keep out one who sends whole bodies.
   */
  function giveUpHalfBodies(bytes: number = 0): void {
    const before = clock() - HALF_BODY_MS;
    for (const exchange of reading) {
      const isRoom = reading.size < MOST_BODIES &&
        heldBytes + bytes <= maxHeldBytes;
      if (isRoom || exchange.arrivedAt > before) return;
      if (bytes === 0 || exchange.heldBytes > 0) onDue(exchange);
    }
  }

  /** Looks for what is due. A timer for each request would cost much more. */
  function look(): void {
    const now = clock();
    for (const exchange of open) {
      if (exchange.dueAt <= now) onDue(exchange);
    }
    const goesOn = open.size > 0;
    timer = goesOn ? setTimeout(look, LOOK_MS) : undefined;
  }

  /** Answers for a sender whose body, or a disk whose sync, does not come. */
  function onDue(exchange: Exchange): void {
    const { delivery, arrivedAt } = exchange;
    if (delivery === null) return endWithout("late", exchange);
    store.failed("No answer in time");
    end(exchange, notStored(delivery, arrivedAt));
  }

  function end(exchange: Exchange, response: Response): void {
    reading.delete(exchange);
    heldBytes -= exchange.heldBytes;
    largeBytes -= largeBytesOf(exchange.heldBytes);
    open.delete(exchange);
    exchange.delivery = null;
    exchange.stop();
    exchange.answer(response);
    if (open.size > 0) return;
    for (const resolve of onIdle) resolve();
  }

  /** Answers 204. A delivery answered too late is noted as unanswered. */
  function stored(delivery: Delivery, arrivedAt: number): Response {
    if (clock() - arrivedAt > SENDER_TIMEOUT_MS) {
      noteUnanswered(delivery, "late");
    }
    largeRefused.settle();
    nearlyFull.settle();
    report(204, arrivedAt, null, delivery);
    return new Response(null, STORED);
  }

  /** Answers 503. The delivery may be stored after all, by a late append. */
  function notStored(delivery: Delivery, arrivedAt: number): Response {
    noteUnanswered(delivery, "503");
    const message = "A delivery could not be kept";
    log("error", "delivery_refused", message, { answer: 503 });
    report(503, arrivedAt, null, delivery);
    return new Response(null, { status: 503, headers: RETRY_LATER });
  }

  /** Answers 503: the caller's ids, times or address reader failed. */
  function failed(error: unknown, arrivedAt: number): Response {
    const message = "A request could not be handled";
    const detail = messageOf(error);
    log("error", "delivery_refused", message, { detail });
    report(503, arrivedAt);
    return new Response(null, { status: 503, headers: RETRY_LATER });
  }

  function noteUnanswered({ id }: Delivery, answer: "late" | "503"): void {
    const message = `A delivery that may be stored was answered ${answer}`;
    log("error", "delivery_unanswered", message, { deliveryId: id });
    const noticedAt = new Date(now()).toISOString();
    store.note({ id, noticedAt, answer });
  }

  function endWithout(reason: NoBody, exchange: Exchange): void {
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
    if (reason === "large_share") largeRefused.raise();
    if (reason === "nearly_full") nearlyFull.raise();
    log(level, "body_refused", message, { answer });
    const refused = refuse(reason, exchange.arrivedAt, {
      connection: "close",
      ...(answer === 503 && RETRY_LATER),
    });
    end(exchange, refused);
  }

  function refuse(
    reason: RefusalReason,
    arrivedAt: number,
    headers: Record<string, string> = {},
  ): Response {
    const status = refusals[reason];
    refused[reason] = (refused[reason] ?? 0) + 1;
    report(status, arrivedAt, reason);
    return new Response(null, {
      status,
      headers: reason === "method" ? { allow: "POST" } : headers,
    });
  }

  function report(
    status: number,
    arrivedAt: number,
    refusal: RefusalReason | null = null,
    delivery: Delivery | null = null,
  ): void {
    const durationMs = clock() - arrivedAt;
    answers[status] = (answers[status] ?? 0) + 1;
    count(status, refusal, durationMs / 1000);
    try {
      options.onAnswer?.({ delivery, status, refusal, durationMs });
    } catch {
      // A failing observer must not cost a delivery.
    }
  }
}

type NoBody = Exclude<
  RefusalReason,
  "wrong_secret" | "misplaced_secret" | "not_allowed" | "method"
>;

type Limit = "maxBodyBytes" | "maxHeldBytes" | "deadlineMs" | "bodyDeadlineMs";

const WEAK_SECRET_LENGTH = 16;
/** A whole body arrives sooner, unless the network is very slow. */
const HALF_BODY_MS = 250;
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

interface Exchange {
  readonly arrivedAt: number;
  readonly answer: (response: Response) => void;
  dueAt: number;
  heldBytes: number;
  /** What is being stored; null while the body is being read. */
  delivery: Delivery | null;
  stop: () => void;
}

const RETRY_AFTER_MS = 100;
const MOST_NOTES = 10_000;
const NOTES_AFTER_MS = 5_000;

/** Stores deliveries by `append`, and knows whether that fails. */
function deliveryStore(
  { append, unanswered }: WebhookEndpointOptions,
  parts: AlarmParts,
) {
  const alarm = new LastingAlarm("append_failing", parts);
  /** Held until they are stored: what goes unanswered often is while that fails. */
  const notes: UnansweredDelivery[] = [];
  /** Appends that have begun and not settled, waited for or not. */
  const underWay = new Set<Promise<boolean>>();
  /** Whether the latest append succeeded, or none was made yet. */
  let appending = true;
  let telling: Promise<void> | null = null;
  /** Ends the pause before the notes are tried again. */
  let pause = new AbortController();
  let isStopped = false;
  const isAppending = () => appending;
  return { store, failed, note, notes, settled, stop, isAppending };

  /**
   * Whether a delivery was stored. A failed append is tried once more, if there
   * is time before `dueAt`. Never rejects.
   */
  function store(delivery: Delivery, dueAt: number): Promise<boolean> {
    const storing = tryToStore(delivery, dueAt)
      .finally(() => underWay.delete(storing));
    underWay.add(storing);
    return storing;
  }

  async function tryToStore(delivery: Delivery, dueAt: number) {
    for (let isFirst = true;; isFirst = false) {
      try {
        await append(delivery);
        appending = true;
        alarm.settle();
        if (notes.length > 0) pause.abort();
        return true;
      } catch (error) {
        failed(messageOf(error));
      }
      if (!isFirst || parts.clock() + RETRY_AFTER_MS >= dueAt) return false;
      await sleep(RETRY_AFTER_MS);
    }
  }

  function failed(why: string): void {
    alarm.raise(why);
    appending = false;
  }

  function note(one: UnansweredDelivery): void {
    if (unanswered === undefined) return;
    if (notes.length >= MOST_NOTES) notes.shift();
    notes.push(one);
    void tellAll();
  }

  function tellAll(): Promise<void> {
    return telling ??= tell().finally(() => {
      telling = null;
      // One may have come while the last was told.
      if (notes.length > 0 && !isStopped) void tellAll();
    });
  }

  /**
   * Hands over the notes held, again and again. It does not wait for the next
   * delivery: the service switches delivery off when some go unanswered.
   */
  async function tell(): Promise<void> {
    let isToWait = !appending;
    for (let [next] = notes; next !== undefined; [next] = notes) {
      if (isToWait) {
        if (isStopped) return;
        pause = new AbortController();
        await sleep(NOTES_AFTER_MS, pause.signal).catch(() => {});
      }
      try {
        await unanswered?.(next);
        if (notes[0] === next) notes.shift();
        isToWait = false;
      } catch {
        isToWait = true;
      }
    }
  }

  /** Waits until no append is under way; then tries the notes a last time. */
  async function settled(): Promise<void> {
    await Promise.all(underWay);
    stop();
    await telling;
    if (appending) await tellAll();
  }

  function stop(): void {
    isStopped = true;
    pause.abort();
  }
}

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
  // A meter knows labels that it has seen before by the object.
  const known: Record<number, { readonly answer: number }> = {};
  return (answer: number, reason: RefusalReason | null, seconds: number) => {
    const labels = known[answer] ??= { answer };
    deliveries.add(1, labels);
    duration.record(seconds, labels);
    if (reason !== null) refused.add(1, { reason });
  };
}

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
