/** The people erased from a ledger: the door. */
import type { EventKind } from "../machines/event_kind.ts";
import {
  type AliasOf,
  type ErasedPerson,
  type ErasedUser,
  readAliases,
  type ReturnedOrder,
} from "../store/aliases.ts";
import { listed, readDeciding, statement, write } from "../store/database.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import { readEvents } from "../store/events.ts";
import {
  type Erasure,
  type ErasurePlan,
  prepareErasure,
  refuseErasure,
} from "./erase.ts";
import { FINDING, type FindingReason } from "./holders.ts";
import {
  countOldBodies,
  pruneBodies,
  type PruneOptions,
  type Pruning,
} from "./prune.ts";
import { redactEvent } from "./redact.ts";
import { type ErasureParts, readFolded, replaceEvents } from "./rewrite.ts";

/** How a person is erased. */
export interface ErasePersonOptions {
  /**
   * Erases even while an order is under way or a refund is due, and even when the
   * service was not asked for orders that only webhooks attribute to the person.
   *
   * @default false
   */
  readonly force?: boolean;
}

/** An event that holds an id of an erased person and was not blanked. */
export interface ErasureFinding {
  /** Place of the event in the ledger. */
  readonly position: number;
  /** Identifier of the event. */
  readonly eventId: string;
  /** Kind of event. */
  readonly kind: EventKind;
  /**
   * - `other_person`: it is about somebody else whom the service has shown.
   * - `chosen_click_id`: it holds a click id that a customer may have chosen.
   * - `not_json`: its body is not JSON.
   */
  readonly why: FindingReason;
  /** When it was found, UTC ISO 8601. */
  readonly foundAt: string;
  /** What a person decided; null while nobody has. */
  readonly settled: "blanked" | "kept" | null;
}

/** The people erased from a ledger. Erases people, and prunes old bodies. */
export class Erasures {
  readonly #parts: ErasureParts;

  /** Erases people from a database; a ledger makes one. */
  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

  /**
   * Works out what {@linkcode Erasures.erase} would remove, and changes nothing. It
   * looks through every event.
   *
   * @throws {LedgerError} `failed` where events are not folded by this version.
   */
  async plan(userId: string): Promise<ErasurePlan> {
    return (await prepareErasure(this.#parts, userId)).erasure;
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
  erase(
    userId: string,
    { force = false }: ErasePersonOptions = {},
  ): Promise<Erasure> {
    const { driver } = this.#parts;
    return retryLostRaces(async () => {
      const found = await prepareErasure(this.#parts, userId);
      if (found.erasure.pseudonym === null) return found.erasure;
      if (!force) refuseErasure(found.erasure);
      await write(driver, await found.statements());
      return found.erasure;
    });
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
    return countOldBodies(this.#parts.driver, before);
  }

  /**
   * Removes deleted data from the database file: rewrites the file and empties its
   * log. A database server does this itself.
   *
   * @returns False where the database is not a file of this process.
   * @throws {LedgerError} `busy` while others read the log.
   */
  async clean(): Promise<boolean> {
    const { driver } = this.#parts;
    await driver.vacuum?.();
    return driver.vacuum !== undefined;
  }

  /**
   * Finds out whether a user was erased. The ledger keeps no ids of erased users,
   * only keyed hashes to recognise them by.
   *
   * @returns When; null when the user was not erased.
   */
  async find(userId: string): Promise<ErasedUser | null> {
    const users = await readAliases(this.#parts.driver, "user", [userId]);
    const { erasedAt, returnedAt = null } = users.get(userId) ?? {};
    return erasedAt === undefined ? null : { erasedAt, returnedAt };
  }

  /**
   * Lists events that hold an id of an erased person and were not blanked, because
   * they are about somebody else, are not JSON, or hold only a click id that a
   * customer may have chosen.
   */
  async findings(): Promise<ErasureFinding[]> {
    const [rows] = await readDeciding(this.#parts.driver, [statement(
      `SELECT e.position, e.id, e.kind, c.value, c.updated_at FROM cursors AS c
        JOIN events AS e ON e.position = CAST(substr(c.name, ?2) AS INTEGER)
        WHERE c.name GLOB ?1 || '*' ORDER BY e.position`,
      FINDING,
      FINDING.length + 1,
    )]);
    return (rows ?? []).map(([position, eventId, kind, value, at]) => ({
      position: Number(position),
      eventId: String(eventId),
      kind: kind as EventKind,
      foundAt: new Date(Number(at)).toISOString(),
      ...JSON.parse(String(value)) as Pick<ErasureFinding, "why" | "settled">,
    }));
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
    const { driver } = this.#parts;
    return retryLostRaces(async () => {
      const guard = await readFolded(this.#parts, "erase");
      const open = (await this.findings()).filter((one) =>
        one.settled === null && positions.includes(one.position) &&
        one.position <= guard.position
      ).map(({ position }) => position);
      const events = how === "keep" ? [] : await readEvents(
        driver,
        "events AS e WHERE e.position IN (SELECT value FROM json_each(?))",
        listed(open),
      );
      const replaced = events.map((before) => ({
        before,
        after: redactEvent(before, this.#parts),
      }));
      await write(driver, [
        ...await replaceEvents(this.#parts, { guard, replaced }),
        statement(
          `UPDATE cursors SET value = json_set(value, '$.settled', ?2)
            WHERE name IN (SELECT value FROM json_each(?1))`,
          listed(open.map((position) => FINDING + position)),
          how === "blank" ? "blanked" : "kept",
        ),
      ]);
      return open.length;
    });
  }

  /** Lists the people who were erased, in that order. */
  list(): Promise<ErasedPerson[]> {
    return this.#all("person", "erasedAt");
  }

  /** Lists orders that erased users made later: they are new business. */
  returned(): Promise<ReturnedOrder[]> {
    return this.#all("returned", "knownAt");
  }

  async #all<Kind extends "person" | "returned">(
    kind: Kind,
    time: keyof AliasOf[Kind] & string,
  ): Promise<AliasOf[Kind][]> {
    const [rows] = await readDeciding(this.#parts.driver, [statement(
      "SELECT alias FROM aliases WHERE kind = ?1 ORDER BY alias ->> ?2, alias",
      kind,
      time,
    )]);
    return (rows ?? []).map(([alias]) => JSON.parse(String(alias)));
  }
}
