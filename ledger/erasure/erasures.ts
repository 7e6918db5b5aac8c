import type { Driver } from "../store/driver/driver.ts";
import { readPrimary } from "../store/driver/read_primary.ts";
import { selectReturnedOrders } from "../store/tables/erasure/erased_orders.ts";
import { selectComparison } from "../store/tables/erasure/erased_values.ts";
import { selectErasedPeople } from "../store/tables/erasure/erasures.ts";
import { compareEvents } from "./compare_events.ts";
import {
  erasePerson,
  type ErasePersonOptions,
  type Erasure,
  planErasure,
} from "./erase_person.ts";
import { readErasedNames } from "./erased_names.ts";
import type { Comparison, ErasureParts } from "./erasure_parts.ts";
import type { ErasurePlan } from "./erasure_plan.ts";
import { type ErasureFinding, readFindings, settle } from "./findings.ts";
import {
  countOldBodies,
  pruneBodies,
  type PruneOptions,
  type Pruning,
} from "./prune_bodies.ts";

/** A person who was erased. */
export interface ErasedPerson {
  /** What stands for the user in the orders that are kept. */
  readonly pseudonym: string;
  /** When, UTC ISO 8601. */
  readonly erasedAt: string;
  /** Events that were blanked. */
  readonly events: number;
  /** Orders that are kept without names. */
  readonly orders: number;
}

/** A user who was erased, recognised by a keyed hash of the id. */
export interface ErasedUser {
  /** When, UTC ISO 8601. */
  readonly erasedAt: string;
  /** When the user became a customer again, UTC ISO 8601; null while not. */
  readonly returnedAt: string | null;
}

/** An order that an erased user made later. */
export interface ReturnedOrder {
  /** The order. */
  readonly orderId: string;
  /** When the ledger learnt of it, UTC ISO 8601. */
  readonly knownAt: string;
}

/** Who was erased from a ledger, and how to erase somebody. */
export class Erasures {
  readonly #parts: ErasureParts;
  readonly #driver: Driver;

  /**
   * Erases people from a database.
   *
   * @param parts The database, the clock and randomness.
   */
  constructor(parts: ErasureParts) {
    this.#parts = parts;
    this.#driver = parts.driver;
  }

  /**
   * Tells what {@linkcode Erasures.erase} takes, and changes nothing.
   *
   * @param userId The user.
   * @param options Whether what would be left is compared with the person's ids
   * as well, which reads every event.
   * @throws {LedgerError} `failed` where events are not folded by this version.
   */
  plan(
    userId: string,
    { compares = false }: { readonly compares?: boolean } = {},
  ): Promise<ErasurePlan> {
    return planErasure(this.#parts, userId, compares);
  }

  /**
   * Erases a person, in one transaction. Order ids, statuses, times, amounts,
   * fees and assets stay; user and click ids become random names. What arrives
   * of the person later is redacted before it is folded.
   *
   * @param userId The user.
   * @param options Whether to erase whatever is under way.
   * @throws {LedgerError} `failed` where an order is under way or a refund is
   * due, or events are not folded by this version.
   *
   * @example Erase somebody
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   * import assert from "node:assert/strict";
   *
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   * });
   * await ledger.recordSession({
   *   session_id: "5f0c6a0e",
   *   flow_type: "simple",
   *   user_id: "01KA0000000000000000000000",
   * });
   * await ledger.project();
   * const gone = await ledger.erasures.erase("01KA0000000000000000000000");
   * assert.deepEqual(gone.events, { session_created: 1 });
   * assert.equal((await ledger.verify()).ok, true);
   * ```
   */
  erase(userId: string, options: ErasePersonOptions = {}): Promise<Erasure> {
    return erasePerson(this.#parts, userId, options);
  }

  /**
   * Prunes bodies of webhooks, readings, sessions and looks at the chain, and
   * keeps what {@linkcode Erasures.erase} keeps; ids stay as well. Left are the
   * latest reading of each user, what belongs to orders that are under way or
   * whose refund is due, a look where a reading of its order is younger, and
   * orders of which a look was at another transaction than the service shows. It
   * may be stopped and called again.
   *
   * @param before Bodies that were recorded before go, UTC ISO 8601 with
   * milliseconds.
   * @param options Signal and progress.
   * @throws {LedgerError} `failed` where events are not folded by this version.
   */
  prune(before: string, options: PruneOptions = {}): Promise<Pruning> {
    return pruneBodies(this.#parts, before, options);
  }

  /** Counts the bodies that were recorded before a time. */
  countOldBodies(before: string): Promise<number> {
    return countOldBodies(this.#driver, before);
  }

  /**
   * Takes out of the files what was deleted from the ledger: writes the
   * database anew and empties its log. A server does that by its own means.
   *
   * @returns False where the database is not a file of this process.
   * @throws {LedgerError} `busy` while others read the log.
   */
  async clean(): Promise<boolean> {
    if (this.#driver.vacuum === undefined) return false;
    await this.#driver.vacuum();
    return true;
  }

  /**
   * Tells whether a user was erased. The ledger keeps no id of erased users,
   * only a keyed hash to recognise one by.
   *
   * @param userId The user.
   * @returns Null when not.
   */
  async find(userId: string): Promise<ErasedUser | null> {
    const names = await readErasedNames(this.#driver, "user", [userId]);
    const found = names.get(userId);
    if (found === undefined) return null;
    const { erasedAt, returnedAt } = found;
    return { erasedAt, returnedAt };
  }

  /**
   * Compares what is left with the ids of all who were erased, where an erasure
   * that was stopped has not done so. {@linkcode Erasures.erase} does it itself.
   *
   * @param signal Stops it; it goes on another time.
   * @throws {LedgerError} When the database fails.
   */
  compare(signal?: AbortSignal): Promise<Comparison> {
    return compareEvents(this.#parts, signal);
  }

  /** Whether all events were compared with the ids of all who were erased. */
  async isCompared(): Promise<boolean> {
    const [rows] = await readPrimary(this.#driver, [selectComparison]);
    return rows?.rows.length === 0;
  }

  /**
   * Lists events that hold an id of somebody erased and were not blanked,
   * because they are about somebody else, are no JSON, or hold no more than a
   * click id that a customer may have chosen.
   */
  findings(): Promise<ErasureFinding[]> {
    return readFindings(this.#driver);
  }

  /**
   * Says what is to become of events that are listed.
   *
   * @param positions Their positions, as {@linkcode Erasures.findings} has them.
   * @param how `blank` takes out what they say, `keep` leaves them.
   * @returns How many were settled.
   * @throws {LedgerError} `failed` where events are not folded by this version.
   */
  settle(
    positions: readonly number[],
    how: "blank" | "keep",
  ): Promise<number> {
    return settle(this.#parts, positions, how);
  }

  /** Lists the people who were erased, the first one first. */
  async list(): Promise<ErasedPerson[]> {
    const [rows] = await readPrimary(this.#driver, [selectErasedPeople]);
    return rows?.rows.map(([pseudonym, erasedAt, events, orders]) => ({
      pseudonym: String(pseudonym),
      erasedAt: String(erasedAt),
      events: Number(events),
      orders: Number(orders),
    })) ?? [];
  }

  /** Lists orders that erased users made later: they are new business. */
  async returned(): Promise<ReturnedOrder[]> {
    const [rows] = await readPrimary(this.#driver, [selectReturnedOrders]);
    return rows?.rows.map(([orderId, knownAt]) => ({
      orderId: String(orderId),
      knownAt: String(knownAt),
    })) ?? [];
  }
}
