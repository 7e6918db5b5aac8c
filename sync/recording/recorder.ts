import {
  appendStatement,
  type Driver,
  type Entity,
  holdsLease,
  insertObservedChanges,
  isLostRace,
  type Lease,
  moveVersion,
  type ObservationsRead,
  readAliases,
  readErasedOrders,
  readObservations,
  redactReading,
  renewLease,
  type Statement,
  writeObservations,
} from "../../ledger/for_sync.ts";
import { countDrift } from "../drift/drift.ts";
import { PollError } from "./poll_error.ts";
import {
  changedReadings,
  observedChanges,
  type Reading,
  readingsOf,
  type ServiceAnswer,
} from "./readings.ts";

/** Attempts after a lost race: each loss is the success of another process. */
const attempts = 50;

/** What the recorder works with. */
export interface RecorderOptions {
  /** The ledger's database. */
  readonly driver: Driver;
  /** The lease to write under; null writes beside the poller. */
  readonly lease: Lease | null;
  /** The time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Random bytes for salts. */
  readonly randomBytes: (length: number) => Uint8Array;
}

/** What recording an answer has changed. */
export interface Recorded {
  /** Events appended. */
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

  /** @param options What to work with. */
  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /**
   * Records an answer.
   *
   * @param entity What it is about.
   * @param answer The answer.
   * @param more Statements for the same batch.
   * @throws {PollError} `lease_lost` when another poller has taken over.
   * @throws {LedgerError} When the database fails.
   */
  async record(
    entity: Entity,
    answer: ServiceAnswer,
    more: readonly Statement[] = [],
  ): Promise<Recorded> {
    const { driver } = this.#options;
    const answered = readingsOf(entity, answer, this.#options);
    if (answered.length === 0) {
      await this.write(more);
      return { appended: 0, changed: [] };
    }
    const ids = answered.map(idOf);
    for (let attempt = 1;; attempt++) {
      const before = await readObservations(driver, entity, ids);
      const readings = before.anyErased
        ? await redactReadings(driver, entity, answered)
        : answered;
      const changed = changedReadings(readings, before.known);
      const events = changed.flatMap(({ event }) => event ?? []);
      const written = await this.#write([
        ...this.#observe(entity, readings, before),
        ...(events.length === 0 ? [] : [appendStatement(events)]),
        ...more,
      ], attempt);
      if (written) {
        return { appended: events.length, changed: changed.map(idOf) };
      }
    }
  }

  /**
   * Writes statements under the lease, without an answer.
   *
   * @param statements What to write.
   * @throws {PollError} `lease_lost` when another poller has taken over.
   */
  async write(statements: readonly Statement[]): Promise<void> {
    await this.#write(statements, attempts);
  }

  /**
   * Counts what an answer has that the service's description does not have.
   *
   * @param names Its names.
   */
  async recordDrift(names: readonly string[]): Promise<void> {
    const { driver, now } = this.#options;
    await this.write([await countDrift(driver, names, now())]);
  }

  /** The statements that store readings and what follows from them. */
  #observe(
    entity: Entity,
    readings: readonly Reading[],
    { known, version }: ObservationsRead,
  ): Statement[] {
    if (readings.length === 0) return [];
    const changes = entity === "order" ? observedChanges(readings, known) : [];
    return [
      ...moveVersion(version),
      writeObservations(
        entity,
        readings.map(({ observation }) => observation),
        this.#options.now(),
      ),
      ...insertObservedChanges(changes),
    ];
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
      if (attempt >= attempts) throw error;
      return false;
    }
  }
}

function idOf({ observation }: Reading): string {
  return observation.entityId;
}

/**
 * Takes out of readings what was erased: of an erased order only what is kept
 * is recorded, and of an erased user nothing, until that user comes back.
 *
 * @param entity What the readings are about.
 * @param readings What the service says now.
 */
async function redactReadings(
  driver: Driver,
  entity: Entity,
  readings: readonly Reading[],
): Promise<Reading[]> {
  const ids = readings.map(({ observation }) => observation.entityId);
  if (entity === "user") {
    const erased = await readAliases(driver, "user", ids);
    return readings.filter(({ observation }) => {
      const name = erased.get(observation.entityId);
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
