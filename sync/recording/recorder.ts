import {
  appendStatement,
  claimState,
  compareTimes,
  type CountingReading,
  deleteRead,
  type Driver,
  effectiveReadAt,
  effectiveTime,
  type Entity,
  holdsLease,
  insertObservedChanges,
  isFinal,
  isLostRace,
  type Lease,
  moveVersion,
  type NewEvent,
  normaliseStatus,
  type Observation,
  type ObservationsRead,
  type ObservedChange,
  observedChange,
  orderRank,
  type Presence,
  readAliases,
  readErasedOrders,
  readObservations,
  record,
  redactReading,
  renewLease,
  type Statement,
  type Status,
  type StatusFacts,
  writeObservations,
} from "../../ledger/for_sync.ts";
import { countDrift } from "../check/drift.ts";
import { normaliseTime } from "../../core/time/service_time.ts";
import type { Order, User } from "../../core/wire/objects.ts";
import type { ListPage, WalkContext } from "../walk/walk.ts";

/** Attempts after a lost race: each loss is the success of another process. */
const ATTEMPTS = 50;

interface RecorderOptions {
  readonly driver: Driver;
  /** The lease to write under; null writes beside the poller. */
  readonly lease: Lease | null;
  readonly now: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
}

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

/** An answer of the service about some orders or users. */
export interface ServiceAnswer {
  /** Exact JSON text of each order or user in it. */
  readonly sources: readonly string[];
  /** Status and times of each, as sent; of orders only. */
  readonly states: readonly Partial<
    Pick<Order, "status" | "created_at" | "changed_at">
  >[];
  /** Ids requested, and not there after an exhausted walk. */
  readonly missing: readonly string[];
  /** When the service answered, UTC ISO 8601. */
  readonly readAt: string;
  /** When it was requested, by our clock, in milliseconds since the epoch. */
  readonly requestedAtMs: number;
}

/** What an answer says about one order or user. */
interface Reading {
  readonly observation: Observation;
  /** The reading as an event; null for a user that is not there. */
  readonly event: NewEvent | null;
  /** `created_at` and `changed_at` as sent; of orders only. */
  readonly createdAt: string | null;
  readonly changedAt: string | null;
}

/** Takes an answer apart. Rows without an id are left out. */
function readingsOf(
  entity: Entity,
  { sources, states, missing, readAt, requestedAtMs }: ServiceAnswer,
  { now, randomBytes }: Pick<RecorderOptions, "now" | "randomBytes">,
): Reading[] {
  const requestedAt = new Date(requestedAtMs).toISOString();
  const mint = () => ({
    readAt,
    recordedAt: new Date(now()).toISOString(),
    salt: randomBytes(16),
  });
  const readings = new Map<string, Reading>();
  const add = (
    entityId: string,
    event: NewEvent | null,
    found: boolean,
    { status, created_at: createdAt = null, changed_at: changedAt = null }:
      ServiceAnswer["states"][0] = {},
  ) =>
    readings.set(entityId, {
      ...{ event, createdAt, changedAt },
      observation: {
        ...{ entityId, requestedAt, readAt, found },
        digest: event?.digest ?? "",
        // As a column can hold it.
        status: typeof status === "string"
          ? normaliseStatus(status.toWellFormed().replaceAll("\0", ""))
          : null,
      },
    });
  for (const [at, source] of sources.entries()) {
    const event = record(`${entity}_snapshot`, source, mint());
    const id = event[`${entity}Id`];
    if (id !== null) add(id, event, true, states[at]);
  }
  for (const id of missing) {
    const absent = entity === "user"
      ? null
      : record("order_absent", { order_id: id }, mint());
    add(id, absent, false);
  }
  return [...readings.values()];
}

/** Age beyond which a change says nothing about recent webhooks, in ms. */
const TOO_OLD_MS = 24 * 3_600_000;

/**
 * Finds the readings that become events: readings that differ from the last one,
 * and readings that decide what the last one left open.
 */
function changedReadings(
  readings: readonly Reading[],
  known: ObservationsRead["known"],
): Reading[] {
  return readings.filter(({ event, observation }) => {
    const { entityId, digest, found } = observation;
    const before = known.get(entityId);
    if (event === null || before === undefined) return event !== null;
    const { latest, counting, presence, isUnsettled, isErased } = before;
    const same = latest?.digest === digest && latest.found === found;
    const settles = !isErased &&
      (isUnsettled ||
        (found && counting !== null && overtakes(event, counting)));
    const turns = presence !== null && !(found && isErased) &&
      turnsPresence(event, found, presence);
    return !same || settles || turns;
  });
}

/**
 * Whether a reading would replace the one that counts and says more than it:
 * something else, or a change that is no longer dated ahead.
 */
function overtakes(event: NewEvent, other: CountingReading): boolean {
  const readAt = effectiveReadAt(event.readAt, event.recordedAt);
  const changed = effectiveTime(event.occurredAt ?? "", readAt);
  const changedAt = event.kind === "user_snapshot" ? "" : changed.counts;
  const order = compareTimes(changedAt, other.changedAt);
  if (other.digest === event.digest) {
    return order > 0 && changed.stated === null;
  }
  const read = compareTimes(readAt, other.readAt);
  // One that is dated ahead goes by when it was read alone.
  if (other.isAhead || changed.stated !== null) return read > 0;
  return order > 0 || (order === 0 && read > 0);
}

/** Whether a reading changes whether an order counts as absent. */
function turnsPresence(
  event: NewEvent,
  found: boolean,
  { absentAt, seenAt }: Presence,
): boolean {
  const isAbsent = seenAt === null || compareTimes(absentAt, seenAt) > 0;
  if (isAbsent === !found) return false;
  const readAt = effectiveReadAt(event.readAt, event.recordedAt);
  return compareTimes(readAt, found ? absentAt : seenAt ?? "") > 0;
}

/**
 * Finds the changes of status that readings of orders show and that webhooks
 * announce.
 */
function observedChanges(
  readings: readonly Reading[],
  known: ObservationsRead["known"],
): (ObservedChange & { readonly orderId: string })[] {
  return readings.flatMap(({ observation, createdAt, changedAt }) => {
    const { status, requestedAt, readAt, entityId } = observation;
    if (status === null) return [];
    const before = known.get(entityId)?.latest ?? null;
    const times = { changedAt, readAt, requestedAt };
    const change = observedChange({ before, status, ...times });
    if (change === null) return [];
    const sinceMs = (at: string | null) =>
      Date.parse(readAt) - Date.parse(normaliseTime(at) ?? "");
    // First seen, and dated ahead or not at all, it may be as old as its order.
    const isDated = before !== null || sinceMs(changedAt) >= 0;
    const ageMs = isDated
      ? Date.parse(requestedAt) - Date.parse(change.movedAt)
      : sinceMs(createdAt);
    return ageMs > TOO_OLD_MS ? [] : [{ ...change, orderId: entityId }];
  });
}

/** How long the service may disagree before a claim is contradicted. */
export const CONTRADICTED_AFTER_MS = 10 * 60_000;

/**
 * Finds the claims that an answer contradicts, among those that still count, and when
 * each was last received.
 *
 * The service agrees with a claim by showing that status, once, at any time. It
 * also agrees with a status on the way once it has moved past it. It never
 * agrees with a final status that it does not show.
 */
export function contradictions(
  facts: StatusFacts,
  answer: {
    /** Status the service showed; null when it does not know the order. */
    readonly status: Status | null;
    /** By the clock that stamps webhooks: the service's may be minutes off. */
    readonly requestedAtMs: number;
  },
  contradictedAfterMs: number = CONTRADICTED_AFTER_MS,
): { readonly status: Status; readonly upTo: string }[] {
  return facts.claims
    .filter((claim) =>
      claimState(facts, claim) === "counted" &&
      answer.requestedAtMs - Date.parse(claim.lastAt) >= contradictedAfterMs &&
      !agrees(claim.status, answer.status)
    )
    .map(({ status, lastAt }) => ({ status, upTo: lastAt }));
}

function agrees(claimed: Status, shown: Status | null): boolean {
  if (shown === claimed) return true;
  if (shown === null || isFinal(claimed)) return false;
  return orderRank(shown) > orderRank(claimed);
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
