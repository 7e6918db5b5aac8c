import {
  appendStatement,
  deleteRead,
  type Driver,
  type Entity,
  holdsLease,
  insertObservedChanges,
  isLostRace,
  type Lease,
  moveVersion,
  readAliases,
  readErasedOrders,
  readObservations,
  redactReading,
  renewLease,
  type Statement,
  writeObservations,
} from "../../ledger/for_sync.ts";
import { countDrift } from "../check/drift.ts";
import {
  changedReadings,
  observedChanges,
  type Reading,
  readingsOf,
  type ServiceAnswer,
} from "./readings.ts";
import type { Order } from "../../core/wire/order.ts";
import type { User } from "../../core/wire/user.ts";
import type { ListPage, WalkContext } from "../walk/walk.ts";

/** Attempts after a lost race: each loss is the success of another process. */
const ATTEMPTS = 50;

interface RecorderOptions {
  readonly driver: Driver;
  /** The lease to write under; null writes beside the poller. */
  readonly lease: Lease | null;
  /** The time, in milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
}

/** What recording an answer has changed. */
interface Recorded {
  readonly appended: number;
  /** Ids whose reading differs from the one before. */
  readonly changed: readonly string[];
}

/**
 * Writes answers of the service into the ledger: an event for each reading
 * that differs from the latest one, the readings themselves, the changes
 * they show, and whatever progress the caller adds, all in one batch.
 */
export class Recorder {
  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  async record(
    entity: Entity,
    answer: ServiceAnswer,
    more: readonly Statement[] = [],
  ): Promise<Recorded> {
    const { driver, now } = this.#options;
    const answered = readingsOf(entity, answer, this.#options);
    if (answered.length === 0) {
      await this.write(more);
      return { appended: 0, changed: [] };
    }
    const ids = answered.map(readingId);
    for (let attempt = 1;; attempt++) {
      const before = await readObservations(driver, entity, ids);
      const readings = before.anyErased
        ? await redactReadings(driver, entity, answered)
        : answered;
      const changed = changedReadings(readings, before.known);
      const events = changed.flatMap(({ event }) => event ?? []);
      const written = await this.#write([
        ...(readings.length === 0 ? [] : [
          ...moveVersion(before.version),
          writeObservations(
            entity,
            readings.map(({ observation }) => observation),
            now(),
          ),
          ...insertObservedChanges(
            entity === "order" ? observedChanges(readings, before.known) : [],
          ),
        ]),
        ...(events.length === 0 ? [] : [appendStatement(events)]),
        ...more,
      ], attempt);
      if (written) {
        return { appended: events.length, changed: changed.map(readingId) };
      }
    }
  }

  /** Writes statements under the lease, without an answer. */
  async write(statements: readonly Statement[]): Promise<void> {
    await this.#write(statements, ATTEMPTS);
  }

  /** Counts what an answer has that the service's description does not have. */
  async recordDrift(names: readonly string[]): Promise<void> {
    const { driver, now } = this.#options;
    await this.write([await countDrift(driver, names, now())]);
  }

  /** False where another has written observations in between. */
  async #write(
    statements: readonly Statement[],
    attempt: number,
  ): Promise<boolean> {
    const { driver, lease } = this.#options;
    if (lease === null && statements.length === 0) return true;
    const guard = lease === null ? [] : renewLease(lease);
    try {
      await driver.batch([...guard, ...statements], "write");
      return true;
    } catch (error) {
      if (!isLostRace(error)) throw error;
      if (lease !== null && !await holdsLease(driver, lease)) {
        throw new PollError(
          "lease_lost",
          `Cannot write as poller ${lease.holder}: another poller has taken over`,
          { cause: error },
        );
      }
      if (attempt >= ATTEMPTS) throw error;
      return false;
    }
  }
}

function readingId({ observation }: Reading): string {
  return observation.entityId;
}

/**
 * Takes out of readings what was erased: of an erased order only what is kept
 * is recorded, and of an erased user nothing, until that user comes back.
 */
async function redactReadings(
  driver: Driver,
  entity: Entity,
  readings: readonly Reading[],
): Promise<Reading[]> {
  const ids = readings.map(readingId);
  if (entity === "user") {
    const erased = await readAliases(driver, "user", ids);
    return readings.filter((reading) => {
      const name = erased.get(readingId(reading));
      return name === undefined || name.returnedAt !== null;
    });
  }
  const orders = await readErasedOrders(driver, ids);
  return readings.map((reading) => {
    const { event, observation } = reading;
    const order = orders.get(observation.entityId);
    if (order === undefined || event?.kind !== "order_snapshot") return reading;
    const redacted = redactReading(event, order);
    const { digest } = redacted;
    return {
      ...reading,
      event: redacted,
      observation: { ...observation, digest },
    };
  });
}

/** One answer of the service, as the poller's report counts it. */
export interface SweepRead {
  /** Orders in the answer. */
  readonly orders: number;
  /** Users in the answer. */
  readonly users: number;
  /** Events appended. */
  readonly appended: number;
}

export const NOTHING_READ: SweepRead = { orders: 0, users: 0, appended: 0 };

export function addRead(sum: SweepRead, read: SweepRead): SweepRead {
  return {
    orders: sum.orders + read.orders,
    users: sum.users + read.users,
    appended: sum.appended + read.appended,
  };
}

/** What records a page, and what is called afterwards. */
interface PageRecording {
  readonly recorder: Recorder;
  readonly onRead: (read: SweepRead) => void;
}

/** Records a page, and takes what it shows out of the queue of webhooks. */
export async function recordPage(
  context: PageRecording,
  entity: Entity,
  page: ListPage,
  requestedAtMs: number,
): Promise<readonly string[]> {
  const answer = {
    ...{ sources: page.sources, readAt: page.readAt, requestedAtMs },
    states: entity === "order" ? page.data as readonly Order[] : [],
    missing: [],
  };
  const ids = page.data.map((row) => idOf(entity, row));
  const { recorder, onRead } = context;
  const { appended, changed } = await recorder.record(
    entity,
    answer,
    ids.length === 0 ? [] : [deleteRead(entity, ids, requestedAtMs)],
  );
  if (page.withoutData !== undefined) {
    await recorder.recordDrift([`${entity}s.data is ${page.withoutData}`]);
  }
  onRead({ ...NOTHING_READ, [`${entity}s`]: page.data.length, appended });
  return changed;
}

/** The context of a walk that records every page. */
export function recordingWalk(
  context: Omit<WalkContext, "onPage" | "entity"> & PageRecording,
  entity: Entity,
): WalkContext {
  return {
    ...context,
    entity,
    onPage: (page, requestedAtMs) =>
      recordPage(context, entity, page, requestedAtMs),
  };
}

/** Identifier of a row of either list. */
export function idOf(entity: Entity, row: Order | User): string {
  return entity === "order" ? (row as Order).order_id : (row as User).user_id;
}

/** What can end a poller's work besides the service and the database. */
export type PollErrorCode = "lease_lost";

/**
 * The poller cannot go on.
 *
 * - `lease_lost`: another poller has taken over; nothing of the last step was
 *   written.
 *
 * @example Tell a lost lease from a broken service
 * ```ts
 * import { PollError } from "@rampkit/onramp/sync";
 * import assert from "node:assert/strict";
 *
 * const error = new PollError("lease_lost", "Another poller has taken over");
 * assert.ok(error instanceof PollError && error.code === "lease_lost");
 * ```
 */
export class PollError extends Error {
  /** Always `PollError`. */
  override readonly name = "PollError";
  /** What went wrong. */
  readonly code: PollErrorCode;

  /** An error of the poller. */
  constructor(
    code: PollErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.code = code;
  }
}
