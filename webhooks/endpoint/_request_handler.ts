import { messageOf } from "../../core/guards.ts";
import type { Delivery } from "../../core/wire/delivery.ts";
import { deliveryMint } from "../../core/wire/delivery_records.ts";
import { Answers } from "./_answers.ts";
import {
  type ConnectionInfo,
  positive,
  type WebhookEndpointOptions,
} from "./endpoint_options.ts";
import {
  type NoBody,
  readChunks,
  statedBytes,
  TRUSTED_BYTES,
} from "./_read_body.ts";
import { hideAddressesFromSpans } from "./_hidden_addresses.ts";
import {
  type BodyRoom,
  LARGE_BODY_BYTES,
  largeBodyRate,
  type NoRoom,
} from "./body_room.ts";
import { Deadlines, Exchange } from "./deadlines.ts";
import { DeliveryStore } from "./delivery_store.ts";
import { endpointLog, type WriteLog } from "./endpoint_log.ts";
import { EndpointCounts, type WebhookEndpointStats } from "./endpoint_stats.ts";
import { RequestGate } from "./request_gate.ts";

const WEAK_SECRET_LENGTH = 16;
/** A whole body arrives sooner, unless the network is very slow. */
const HALF_BODY_MS = 250;
/** Bodies that may be arriving before the oldest of them are given up. */
const MOST_BODIES = 256;
/** The part of the memory for bodies that large ones share. */
const LARGE_SHARE = 1 / 8;

/**
 * Answers requests: checks, reads the body, stores it, counts.
 *
 * This thread only answers: bodies are interpreted where the ledger derives its
 * columns. A request that is answered 204 costs an {@linkcode Exchange} with
 * the promise of its answer, two calls that wait (for the body, and for the
 * promise that all deliveries of a group share), a place in the queue of
 * deadlines, sixteen bytes of a ULID and the answer itself.
 */
export class RequestHandler {
  readonly #gate: RequestGate;
  readonly #maxBodyBytes: number;
  readonly #maxHeldBytes: number;
  readonly #mostLargeBytes: number;
  readonly #deadlineMs: number;
  readonly #bodyDeadlineMs: number;
  readonly #noRoomFor: (bodyBytes: number) => NoRoom | null;
  /** Where nothing else bounds large bodies. */
  readonly #rate: BodyRoom | null;
  readonly #now: () => number;
  readonly #clock: () => number;
  readonly #mint: (receivedAtMs: number, body: Uint8Array) => Delivery;
  readonly #log: WriteLog;
  readonly #deadlines: Deadlines;
  readonly #store: DeliveryStore;
  readonly #counts: EndpointCounts;
  readonly #answers: Answers;
  #inFlight = 0;
  #heldBytes = 0;
  /** Whose bodies have not arrived, the oldest first. */
  readonly #reading = new Set<Exchange>();
  #largeBytes = 0;
  #onIdle: (() => void)[] = [];

  constructor(options: WebhookEndpointOptions) {
    this.#gate = new RequestGate(options);
    this.#maxBodyBytes = positive(options, "maxBodyBytes", 1024 * 1024);
    this.#maxHeldBytes = positive(options, "maxHeldBytes", 64 * 1024 * 1024);
    this.#mostLargeBytes = this.#maxHeldBytes * LARGE_SHARE;
    this.#deadlineMs = positive(options, "deadlineMs", 4_500);
    this.#bodyDeadlineMs = Math.min(
      positive(options, "bodyDeadlineMs", this.#deadlineMs / 2),
      this.#deadlineMs,
    );
    this.#now = options.now ?? Date.now;
    this.#clock = options.clock ?? ((): number => performance.now());
    this.#rate = options.noRoomFor === undefined
      ? largeBodyRate(this.#clock)
      : null;
    this.#noRoomFor = options.noRoomFor ?? this.#rate?.noRoomFor ??
      ((): null => null);
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
      now: this.#now,
      log: this.#log,
    });
    hideAddressesFromSpans();
    this.#counts = new EndpointCounts(options.meter);
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
    if (this.#reading.size >= MOST_BODIES) this.#giveUpHalfBodies();
    this.#reading.add(exchange);
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
      refusing: this.#answers.refusing,
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
      } catch (error) {
        body = READ_BEFORE.test(messageOf(error)) ? "read_before" : "broken";
      }
      if (exchange.isOver) return;
      if (typeof body === "string") {
        return this.#end(exchange, this.#answers.refuseBody(body, arrivedAt));
      }
      // Others may have come while this one was read.
      const why = this.#noRoomFor(body.length);
      if (why !== null) {
        return this.#end(exchange, this.#answers.refuseBody(why, arrivedAt));
      }
      this.#rate?.took(body.length);
      const receivedAtMs = this.#now();
      const delivery = this.#mint(receivedAtMs, body);
      exchange.delivery = delivery;
      this.#reading.delete(exchange);
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
    const why = this.#noRoomFor(bytes ?? 0);
    if (why !== null) return why;
    if (bytes === null || bytes > TRUSTED_BYTES) {
      const { body } = request;
      return body === null ? new Uint8Array(0) : readChunks(body, {
        maxBytes: this.#maxBodyBytes,
        dueAt: exchange.dueAt,
        deadlines: this.#deadlines,
        hold: (more) => this.#hold(exchange, more),
      });
    }
    return this.#hold(exchange, bytes) ?? request.arrayBuffer();
  }

  /** Holds memory until the answer, or says why there is no room. */
  #hold(exchange: Exchange, bytes: number): NoBody | null {
    if (exchange.isOver) return "late";
    if (this.#heldBytes + bytes > this.#maxHeldBytes) {
      this.#giveUpHalfBodies(bytes);
    }
    if (this.#heldBytes + bytes > this.#maxHeldBytes) return "overload";
    const held = exchange.heldBytes + bytes;
    const why = this.#noRoomFor(held);
    if (why !== null) return why;
    const large = largeBytesOf(held) - largeBytesOf(exchange.heldBytes);
    if (this.#largeBytes + large > this.#mostLargeBytes) return "large_share";
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
        this.#heldBytes + bytes <= this.#maxHeldBytes;
      if (isRoom || exchange.arrivedAt > before) return;
      if (bytes === 0 || exchange.heldBytes > 0) this.#onDue(exchange);
    }
  }

  #end(exchange: Exchange, response: Response): void {
    this.#reading.delete(exchange);
    this.#heldBytes -= exchange.heldBytes;
    this.#largeBytes -= largeBytesOf(exchange.heldBytes);
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

/** What runtimes say of a body that something read before. */
const READ_BEFORE = /already|unusable|disturbed|locked/;

/** Bytes of a body if it is large, else none. */
function largeBytesOf(bytes: number): number {
  return bytes > LARGE_BODY_BYTES ? bytes : 0;
}
