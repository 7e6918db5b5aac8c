import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import type { BodyClasses } from "../../core/webhook_event/classify_body.ts";
import type { Delivery } from "../../core/wire/delivery.ts";
import { readRecords } from "../../core/wire/delivery_records.ts";
import type { NewEvent } from "../events/event.ts";
import { webhookEvent } from "../events/mint.ts";
import {
  appendStatement,
  deliveriesStatement,
  recordsStatement,
} from "./tables/events/append.ts";
import type { Driver, Statement } from "./driver/driver.ts";
import { LedgerError } from "./driver/errors.ts";
import { busyDelayMs } from "./driver/retrying_driver.ts";
import { GroupCommit, type GroupCommitOptions } from "./group_commit.ts";

/** Limits of an {@linkcode EventLog}. */
export interface EventLogOptions extends GroupCommitOptions {
  /**
   * Retries for this long after the database first did not answer, in ms. The
   * commit may have happened; appending an event twice stores it once.
   *
   * @default 2000
   */
  readonly retryLimitMs?: number;
  /** The clock, in ms. */
  readonly now?: () => number;
  /** Waits; passed in by tests. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Gives fresh random bytes, for the salts of deliveries. */
  readonly randomBytes?: (length: number) => Uint8Array;
  /**
   * The statement that sets the time from which transitions are sent: it is
   * written with the first delivery. @default {none}
   */
  readonly goLive?: (at: string) => Statement;
}

/** An entry that waits for its commit: an event or a delivery. */
type Appended = NewEvent | Delivery;

/** Appends the events of a ledger, in groups. */
export class EventLog {
  readonly #driver: Driver;
  readonly #group: GroupCommit<Appended>;
  readonly #randomBytes: (length: number) => Uint8Array;
  readonly #goLive: EventLogOptions["goLive"];
  #closed = false;
  /** Whether the ledger has gone live for certain. */
  #isLive = false;

  /**
   * Appends to one database.
   *
   * @param driver The database of a ledger.
   * @param options Limits of the group commit.
   */
  constructor(driver: Driver, options: EventLogOptions = {}) {
    this.#driver = driver;
    this.#randomBytes = options.randomBytes ?? randomBytes;
    this.#goLive = options.goLive;
    this.#group = new GroupCommit(
      (group) => this.#commit(group, options),
      options,
    );
  }

  /**
   * Appends events, all or none. Events whose `eventId` is stored already are
   * skipped, so a retry never stores an event twice.
   *
   * @param events What happened.
   * @returns After the commit that holds them.
   * @throws {LedgerError} Nothing was written. After `unreachable` and `crashed`
   * this is not certain.
   */
  append(events: readonly NewEvent[]): Promise<void> {
    return this.#append(events);
  }

  /**
   * Appends a delivery as an event. If the driver can derive the columns, the
   * thread that answers the sender does not do it.
   *
   * @param delivery What arrived.
   * @returns After the commit that holds it.
   * @throws {LedgerError} As {@linkcode EventLog.append} does.
   */
  appendDelivery(delivery: Delivery): Promise<void> {
    return this.#append([delivery]);
  }

  /**
   * Appends what a spool hands over, in one transaction. It is not retried
   * here: the spool keeps the records, and hands them over again.
   *
   * @param records Whole records.
   * @returns What the bodies are, after the commit that holds them.
   * @throws {LedgerError} As {@linkcode EventLog.append} does.
   */
  async appendRecords(records: Uint8Array): Promise<BodyClasses> {
    this.#refuseWhenClosed();
    const statement: Statement = this.#driver.derives
      ? { sql: "", args: [records], derive: "records" }
      : recordsStatement(records, this.#randomBytes);
    const goingLive = this.#goingLive(() => readRecords(records));
    const [result] = await this.#driver.batch(
      [statement, ...goingLive],
      "write",
    );
    this.#isLive ||= goingLive.length > 0;
    return result?.classes ?? statement.classes ?? { counts: {}, odd: [] };
  }

  async #append(items: readonly Appended[]): Promise<void> {
    this.#refuseWhenClosed();
    await this.#group.append(items);
  }

  #refuseWhenClosed(): void {
    if (!this.#closed) return;
    throw new LedgerError("closed", "The ledger was closed before");
  }

  /** Refuses further events and waits for those being written. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#group.idle();
  }

  async #commit(
    group: readonly Appended[],
    { retryLimitMs = 2000, now = Date.now, sleep = sleepFor }: EventLogOptions,
  ): Promise<void> {
    const goingLive = this.#goingLive(() => group);
    const statements = [...this.#statements(group), ...goingLive];
    let failedAt: number | null = null;
    for (let attempt = 0;; attempt++) {
      try {
        await this.#driver.batch(statements, "write");
        this.#isLive ||= goingLive.length > 0;
        return;
      } catch (error) {
        // A request alone may take longer than the limit until it is given up.
        failedAt ??= now();
        if (!isUnanswered(error) || now() - failedAt >= retryLimitMs) {
          throw error;
        }
        await sleep(busyDelayMs(attempt + 3, 1));
      }
    }
  }

  /** The statement that goes live with the first of some deliveries, if any. */
  #goingLive(items: () => readonly object[]): Statement[] {
    if (this.#isLive || this.#goLive === undefined) return [];
    const [first] = items().flatMap((item) =>
      "receivedAt" in item ? [String(item.receivedAt)] : []
    ).sort();
    return first === undefined ? [] : [this.#goLive(first)];
  }

  #statements(group: readonly Appended[]): Statement[] {
    const deliveries: Delivery[] = [];
    const events: NewEvent[] = [];
    for (const item of group) {
      if ("kind" in item) events.push(item);
      else if (this.#driver.derives) deliveries.push(item);
      else events.push(webhookEvent(item, this.#randomBytes(16)));
    }
    const statements: Statement[] = [];
    if (deliveries.length > 0) {
      statements.push(deliveriesStatement(deliveries, this.#randomBytes));
    }
    if (events.length > 0) statements.push(appendStatement(events));
    return statements;
  }
}

function randomBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** Whether the commit may have happened without an answer. */
function isUnanswered(error: unknown): boolean {
  return error instanceof LedgerError &&
    (error.code === "unreachable" || error.code === "crashed");
}
