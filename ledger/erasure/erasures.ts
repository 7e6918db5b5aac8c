/** The people erased from a ledger: the door. */
import type { Driver } from "../store/driver/driver.ts";
import { readDeciding, statement } from "../store/database.ts";
import { type Alias, readErasedNames } from "../store/aliases.ts";
import {
  type Comparison,
  erasePerson,
  type ErasePersonOptions,
  type Erasure,
  type ErasurePlan,
  planErasure,
} from "./erase.ts";
import { type ErasureFinding, readFindings, settle } from "./findings.ts";
import {
  countOldBodies,
  pruneBodies,
  type PruneOptions,
  type Pruning,
} from "./prune.ts";
import type { ErasureParts } from "./rewrite.ts";

/** A person who was erased. */
export interface ErasedPerson {
  /** Pseudonym of the user in the orders that are kept. */
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

/** The people erased from a ledger. Erases people, and prunes old bodies. */
export class Erasures {
  readonly #parts: ErasureParts;
  readonly #driver: Driver;

  /** Erases people from a database; a ledger makes one. */
  constructor(parts: ErasureParts) {
    this.#parts = parts;
    this.#driver = parts.driver;
  }

  /**
   * Works out what {@linkcode Erasures.erase} would remove, and changes nothing. It
   * looks through every event.
   *
   * @throws {LedgerError} `failed` where events are not folded by this version.
   */
  plan(
    userId: string,
    { compares = false }: { readonly compares?: boolean } = {},
  ): Promise<ErasurePlan> {
    return planErasure(this.#parts, userId, compares);
  }

  /**
   * Erases a person, in one transaction. Order ids, statuses, times, amounts, fees
   * and assets stay; user and click ids become random names. What else holds the
   * person's ids is blanked, or listed where it is about somebody else. Later events
   * about the person are redacted before they are folded.
   *
   * @throws {LedgerError} `failed` where an order is under way or a refund is due, or
   * events are not folded by this version.
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
   * Prunes old bodies of webhooks, readings, sessions and chain readings. It keeps
   * what {@linkcode Erasures.erase} keeps, and ids as well. Not pruned are the latest
   * reading of each user, events of orders that are under way or whose refund is due,
   * a chain reading when a reading of its order is younger, and orders with a chain
   * reading of another transaction than the service shows. It may be stopped and
   * called again.
   *
   * @param before Bodies that were recorded before go, UTC ISO 8601 with milliseconds.
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
   * Removes deleted data from the database file: rewrites the file and empties its
   * log. A database server does this itself.
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
   * Finds out whether a user was erased. The ledger keeps no ids of erased users,
   * only keyed hashes to recognise them by.
   *
   * @returns When; null when the user was not erased.
   */
  async find(userId: string): Promise<ErasedUser | null> {
    const names = await readErasedNames(this.#driver, "user", [userId]);
    const found = names.get(userId);
    if (found === undefined) return null;
    const { erasedAt, returnedAt } = found;
    return { erasedAt, returnedAt };
  }

  /** Erasing compares all events itself: nothing is left to compare. */
  compare(_signal?: AbortSignal): Promise<Comparison> {
    return Promise.resolve({ blanked: 0, listed: 0 });
  }

  /** Whether all events were compared with the ids of all who were erased. */
  isCompared(): Promise<boolean> {
    return Promise.resolve(true);
  }

  /**
   * Lists events that hold an id of an erased person and were not blanked, because
   * they are about somebody else, are not JSON, or hold only a click id that a
   * customer may have chosen.
   */
  findings(): Promise<ErasureFinding[]> {
    return readFindings(this.#driver);
  }

  /**
   * Decides what happens to listed events.
   *
   * @param positions Their positions, as {@linkcode Erasures.findings} has them.
   * @param how `blank` erases their bodies, `keep` leaves them.
   * @returns How many were settled.
   * @throws {LedgerError} `failed` where events are not folded by this version.
   */
  settle(
    positions: readonly number[],
    how: "blank" | "keep",
  ): Promise<number> {
    return settle(this.#parts, positions, how);
  }

  /** Lists the people who were erased, in that order. */
  async list(): Promise<ErasedPerson[]> {
    return (await this.#all("person")).map(({ name, at, events, orders }) => ({
      pseudonym: String(name),
      erasedAt: String(at),
      events: Number(events),
      orders: Number(orders),
    }));
  }

  /** Lists orders that erased users made later: they are new business. */
  async returned(): Promise<ReturnedOrder[]> {
    return (await this.#all("returned")).map(({ id, at }) => ({
      orderId: String(id),
      knownAt: String(at),
    }));
  }

  async #all(kind: "person" | "returned"): Promise<Alias[]> {
    const [rows] = await readDeciding(this.#driver, [statement(
      `SELECT alias FROM aliases WHERE kind = ?
        ORDER BY alias ->> 'at', alias ->> 'name'`,
      kind,
    )]);
    return (rows ?? []).map(([alias]) => JSON.parse(String(alias)));
  }
}
