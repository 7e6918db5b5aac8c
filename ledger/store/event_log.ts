/** Appends the events of a ledger. */
import { sleep } from "../../core/waiting/sleep.ts";
import type { Delivery } from "../../core/wire/delivery.ts";
import { readRecords } from "../../core/wire/delivery_records.ts";
import {
  type BodyClasses,
  BodyTally,
  bodyValue,
  classify,
} from "../../core/webhook_event/classify_body.ts";
import { record, unansweredBody } from "../events/record.ts";
import type { Driver, Statement } from "./driver/driver.ts";
import { LedgerError } from "./driver/errors.ts";
import { busyDelayMs } from "./driver/retrying_driver.ts";
import { appendStatement, stampLive, type UnreadEvent } from "./events.ts";

interface Appended extends UnreadEvent {
  /** Whether it arrived just now, and was not imported. */
  readonly arrived?: true;
}

/** Random bytes where nothing else gives them. */
export function cryptoBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** What one caller appends, which is written together. */
interface Call {
  readonly events: readonly Appended[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Most events, and bytes of bodies, that several callers share a commit with. */
const SHARED_EVENTS = 512;
const SHARED_BYTES = 1 << 20;
/** Most bytes of bodies that may wait. */
const WAITING_BYTES = 64 << 20;

export interface EventLogOptions {
  /**
   * Retries for this long after the database first did not answer, in ms. The
   * commit may have happened; an event that is appended twice is stored once.
   *
   * @default 2000
   */
  readonly retryLimitMs?: number;
  readonly now?: () => number;
  readonly randomBytes?: (length: number) => Uint8Array;
}

/**
 * Lets concurrent callers share one transaction and one sync of the disk: the next
 * group gathers while a commit runs. Each caller gets its own result.
 */
export class EventLog {
  readonly #driver: Driver;
  readonly #options;
  #waiting: Call[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | null = null;
  #isLive = false;
  #closed = false;

  constructor(
    driver: Driver,
    options: EventLogOptions = {},
  ) {
    this.#driver = driver;
    this.#options = {
      ...{ retryLimitMs: 2000, now: Date.now, randomBytes: cryptoBytes },
      ...options,
    };
  }

  /**
   * Appends events, all or none, and resolves after the commit that holds them.
   *
   * @throws {LedgerError} Nothing was written; after `unreachable` and `crashed`
   * that is not certain.
   */
  async append(events: readonly Appended[]): Promise<void> {
    this.#refuseWhenClosed();
    if (events.length === 0) return;
    const bytes = events.reduce((sum, { body }) => sum + body.length, 0);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > WAITING_BYTES) {
      throw new LedgerError(
        "overloaded",
        `Too much waits to be written: ${this.#waitingBytes} bytes; ` +
          "nothing was written, try again later",
      );
    }
    this.#waitingBytes += bytes;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ events, bytes, resolve, reject });
      this.#running ??= this.#run();
    }).finally(() => this.#waitingBytes -= bytes);
  }

  appendDelivery(delivery: Delivery): Promise<void> {
    return this.append([this.#arrived(delivery)]);
  }

  /**
   * Appends what an inbox hands over, in one transaction. It is not retried here:
   * the inbox keeps the records, and hands them over again.
   */
  async appendRecords(records: Uint8Array): Promise<BodyClasses> {
    this.#refuseWhenClosed();
    const tally = new BodyTally();
    const events = readRecords(records).map((received): Appended => {
      if (!("body" in received)) {
        return record("delivery_unanswered", unansweredBody(received), {
          recordedAt: received.noticedAt,
          salt: this.#options.randomBytes(16),
        });
      }
      tally.add(received.id, classify(bodyValue(received.body)));
      return this.#arrived(received);
    });
    await this.#write(events);
    const { counts, odd } = tally;
    return { counts, odd };
  }

  /** Refuses further events and waits for those being written. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  #refuseWhenClosed(): void {
    if (this.#closed) {
      throw new LedgerError("closed", "The ledger was closed before");
    }
  }

  #arrived({ id, receivedAt, body }: Delivery): Appended {
    return {
      eventId: id,
      kind: "webhook",
      recordedAt: receivedAt,
      readAt: null,
      body,
      salt: this.#options.randomBytes(16),
      arrived: true,
    };
  }

  async #run(): Promise<void> {
    // One turn later, so that simultaneous callers share the first group.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#settle(this.#nextGroup());
    this.#running = null;
  }

  #nextGroup(): Call[] {
    let [events, bytes] = [0, 0];
    const end = this.#waiting.findIndex((call, at) => {
      events += call.events.length;
      bytes += call.bytes;
      return at > 0 && (events > SHARED_EVENTS || bytes > SHARED_BYTES);
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  /** Never rejects: each call of the group gets its own result. */
  async #settle(group: readonly Call[]): Promise<void> {
    try {
      await this.#commit(group.flatMap(({ events }) => events));
      for (const { resolve } of group) resolve();
    } catch (error) {
      const poisoned = error instanceof TypeError ||
        (error instanceof LedgerError && error.code === "constraint");
      if (!poisoned || group.length === 1) {
        for (const { reject } of group) reject(error);
        return;
      }
      // What one caller appends was refused. The other callers must succeed.
      const half = group.length >> 1;
      await this.#settle(group.slice(0, half));
      await this.#settle(group.slice(half));
    }
  }

  async #commit(events: readonly Appended[]): Promise<void> {
    const { retryLimitMs, now } = this.#options;
    let failedAt: number | null = null;
    for (let attempt = 3;; attempt++) {
      try {
        return await this.#write(events);
      } catch (error) {
        // A request alone may take longer than the limit until it is given up.
        failedAt ??= now();
        const isLate = now() - failedAt >= retryLimitMs;
        if (!isUnanswered(error) || isLate) throw error;
        await sleep(busyDelayMs(attempt, 1));
      }
    }
  }

  async #write(events: readonly Appended[]): Promise<void> {
    const goingLive = this.#isLive ? [] : goLiveWith(events);
    await this.#driver.batch([appendStatement(events), ...goingLive], "write");
    this.#isLive ||= goingLive.length > 0;
  }
}

/** The first delivery sets the time from which transitions are sent. */
function goLiveWith(events: readonly Appended[]): Statement[] {
  const [first] = events.filter(({ arrived }) => arrived)
    .map(({ recordedAt }) => recordedAt).sort();
  return first === undefined ? [] : [stampLive(Date.parse(first))];
}

/** Whether the commit may have happened without an answer. */
function isUnanswered(error: unknown): boolean {
  return error instanceof LedgerError &&
    (error.code === "unreachable" || error.code === "crashed");
}
