import { orderAbsent, orderSnapshot, userSnapshot } from "../event/mint.ts";
import type { NewEvent } from "../event/event.ts";
import { normaliseStatus } from "../fold/order_rank.ts";
import type { Status } from "../fold/order_state.ts";
import { appendStatement } from "../store/append.ts";
import type { Driver, Statement } from "../store/driver.ts";
import { LedgerError } from "../store/errors.ts";
import { holdsLease, type Lease, leaseGuard } from "./lease.ts";
import {
  type Entity,
  type Observation,
  type ObservationsRead,
  readObservations,
  versionGuard,
  writeObservations,
} from "./observations.ts";
import { type OrderMove, orderMove } from "./order_move.ts";
import { PollError } from "./poll_error.ts";

/** Moves older than this at first sight are history, not news. */
const newsMs = 24 * 3_600_000;

/** A lost race is tried again this often: each loss is another's success. */
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

/** An answer of the service about some orders or users. */
export interface ServiceAnswer {
  /** Exact JSON text of each one it showed. */
  readonly sources: readonly string[];
  /** Status and `changed_at` of each, as sent; of orders only. */
  readonly states: readonly {
    /** Status as sent. */
    readonly status: string;
    /** `changed_at` as sent. */
    readonly changedAt: string | null;
  }[];
  /** Asked for, and not there after an exhausted walk. */
  readonly missing: readonly string[];
  /** When the service answered. */
  readonly readAt: string;
  /** When we asked, by our clock, in milliseconds since the epoch. */
  readonly askedAtMs: number;
}

/** What came of recording an answer. */
export interface Recorded {
  /** Ids of the entities the answer showed. */
  readonly seen: readonly string[];
  /** Events appended: readings that were news, and absences. */
  readonly appended: number;
}

/** One entity of an answer, on its way into the ledger. */
interface Item {
  readonly observation: Observation;
  /** Null for what leaves no event: a user that is not there. */
  readonly event: NewEvent | null;
  readonly changedAt: string | null;
}

/**
 * Writes answers of the service into the ledger: an event for each reading
 * that differs from the latest one, the readings themselves, the moves they
 * show, and whatever progress the caller adds, all in one batch.
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
    const items = this.#items(entity, answer);
    const ids = items.map(({ observation }) => observation.entityId);
    for (let attempt = 1;; attempt++) {
      const known = await readObservations(
        this.#options.driver,
        entity,
        ids,
      );
      const { latest, version } = known;
      const events = news(items, known);
      const moves = entity === "order" ? movesOf(items, latest, answer) : [];
      const statements = [
        ...(items.length === 0 ? [] : [
          versionGuard(version),
          writeObservations(entity, observed(items)),
        ]),
        ...(events.length === 0 ? [] : [appendStatement(events)]),
        ...(moves.length === 0 ? [] : [writeMoves(moves)]),
        ...more,
      ];
      if (await this.#write(statements, attempt)) {
        const seen = items.filter(({ observation }) => observation.found);
        return {
          seen: seen.map(({ observation }) => observation.entityId),
          appended: events.length,
        };
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

  /** False when the observations were written by another in between. */
  async #write(
    statements: readonly Statement[],
    attempt: number,
  ): Promise<boolean> {
    const { driver, lease } = this.#options;
    if (lease === null && statements.length === 0) return true;
    const guard = lease === null ? [] : [leaseGuard(lease)];
    try {
      await driver.batch([...guard, ...statements], "write");
      return true;
    } catch (error) {
      if (!(error instanceof LedgerError) || error.code !== "constraint") {
        throw error;
      }
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

  #items(entity: Entity, answer: ServiceAnswer): Item[] {
    const { now, randomBytes } = this.#options;
    const { readAt } = answer;
    const askedAt = new Date(answer.askedAtMs).toISOString();
    const mint = () => ({
      readAt,
      recordedAt: new Date(now()).toISOString(),
      salt: randomBytes(16),
    });
    const items = new Map<string, Item>();
    answer.sources.forEach((source, at) => {
      const state = answer.states[at];
      const event = entity === "order"
        ? orderSnapshot({ source, ...mint() })
        : userSnapshot({ source, ...mint() });
      const entityId = entity === "order" ? event.orderId : event.userId;
      if (entityId === null) return;
      items.set(entityId, {
        event,
        changedAt: state?.changedAt ?? null,
        observation: {
          entityId,
          askedAt,
          readAt,
          digest: event.digest,
          found: true,
          status: state === undefined ? null : storable(state.status),
        },
      });
    });
    for (const entityId of answer.missing) {
      const event = entity === "order"
        ? orderAbsent({ orderId: entityId, ...mint() })
        : null;
      const digest = event?.digest ?? "";
      items.set(entityId, {
        event,
        changedAt: null,
        observation: {
          entityId,
          askedAt,
          readAt,
          digest,
          found: false,
          status: null,
        },
      });
    }
    return [...items.values()];
  }
}

/** A status as a column can hold it. */
function storable(status: string): Status {
  return normaliseStatus(status.toWellFormed().replaceAll("\0", ""));
}

function observed(items: readonly Item[]): Observation[] {
  return items.map(({ observation }) => observation);
}

/** What differs from the last answer, or settles what that left open. */
function news(
  items: readonly Item[],
  { latest, unsettled, counting, erased }: ObservationsRead,
): NewEvent[] {
  return items.flatMap(({ event, observation }) => {
    const { entityId, digest, found, readAt } = observation;
    const before = latest.get(entityId);
    const same = before?.digest === digest && before.found === found;
    const other = counting.get(entityId);
    const overtakes = other !== undefined && other.digest !== digest &&
      other.readAt < readAt;
    const settles = !erased.has(entityId) &&
      (unsettled.has(entityId) || overtakes);
    return event === null || (same && !settles) ? [] : [event];
  });
}

function movesOf(
  items: readonly Item[],
  latest: ReadonlyMap<string, Observation>,
  { askedAtMs }: ServiceAnswer,
): (OrderMove & { readonly orderId: string })[] {
  return items.flatMap(({ observation, changedAt }) => {
    const { status, askedAt, readAt, entityId } = observation;
    if (status === null) return [];
    const move = orderMove({
      before: latest.get(entityId) ?? null,
      status,
      changedAt,
      readAt,
      askedAt,
    });
    return move === null || askedAtMs - Date.parse(move.movedAt) > newsMs
      ? []
      : [{ ...move, orderId: entityId }];
  });
}

function writeMoves(
  moves: readonly (OrderMove & { readonly orderId: string })[],
): Statement {
  const rows = moves.map((move) => [
    move.orderId,
    move.status,
    move.movedAt,
    move.seenAt,
  ]);
  return {
    sql: `INSERT INTO order_moves (order_id, status, moved_at, seen_at)
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3
      FROM json_each(?) WHERE true
      ON CONFLICT (order_id, status) DO NOTHING`,
    args: [JSON.stringify(rows)],
  };
}
