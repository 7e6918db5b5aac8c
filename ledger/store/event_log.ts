import type { NewEvent, RecordedEvent } from "../event/event.ts";
import { appendStatement } from "./append.ts";
import type { Driver, SqlValue } from "./driver.ts";
import { LedgerError } from "./errors.ts";
import { eventColumns, recordedEvent } from "./event_row.ts";
import { GroupCommit, type GroupCommitOptions } from "./group_commit.ts";

/**
 * The events of a ledger: appended in groups, read in order of position.
 *
 * @example Append and read back
 * ```ts ignore
 * const log = new EventLog(driver);
 * await log.append([webhookEvent(delivery, salt)]);
 * const events = await log.read({ after: 0, limit: 100 });
 * ```
 */
export class EventLog {
  readonly #driver: Driver;
  readonly #group: GroupCommit;
  #closed = false;

  /**
   * @param driver A database that has been migrated.
   * @param options Limits of the group commit.
   */
  constructor(driver: Driver, options: GroupCommitOptions = {}) {
    this.#driver = driver;
    this.#group = new GroupCommit(
      async (events) => {
        await driver.batch([appendStatement(events)], "write");
      },
      options,
    );
  }

  /**
   * Appends events, all or none. Those whose `eventId` is stored already are
   * passed over, so a retry never doubles.
   *
   * @param events What happened.
   * @returns After the commit that holds them.
   * @throws {LedgerError} Nothing was written, except that `unreachable` and
   * `crashed` leave it open.
   */
  append(events: readonly NewEvent[]): Promise<void> {
    if (this.#closed) {
      return Promise.reject(
        new LedgerError("closed", "The ledger was closed before"),
      );
    }
    return this.#group.append(events);
  }

  /**
   * Reads events in order of position.
   *
   * @param window Positions greater than `after`, at most `limit` of them.
   */
  read(
    window: { readonly after: number; readonly limit: number },
  ): Promise<RecordedEvent[]> {
    return this.#select(
      "WHERE position > ? ORDER BY position LIMIT ?",
      window.after,
      window.limit,
    );
  }

  /**
   * Reads every event that names the order, in order of position.
   *
   * @param orderId The order.
   */
  forOrder(orderId: string): Promise<RecordedEvent[]> {
    return this.#select("WHERE order_id = ? ORDER BY position", orderId);
  }

  /**
   * Reads the event with this id.
   *
   * @param eventId The id.
   * @returns Null when there is none.
   */
  async get(eventId: string): Promise<RecordedEvent | null> {
    return (await this.#select("WHERE event_id = ?", eventId))[0] ?? null;
  }

  /** Position of the latest event; 0 when there is none. */
  async head(): Promise<number> {
    const [result] = await this.#driver.batch([{
      sql: "SELECT coalesce(max(position), 0) FROM events",
      args: [],
    }], "read");
    return result?.rows[0]?.[0] as number;
  }

  /** Takes no more events and waits for those on their way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#group.idle();
  }

  async #select(
    where: string,
    ...args: readonly SqlValue[]
  ): Promise<RecordedEvent[]> {
    const [result] = await this.#driver.batch([{
      sql: `SELECT ${eventColumns} FROM events ${where}`,
      args,
    }], "read");
    return result?.rows.map(recordedEvent) ?? [];
  }
}
