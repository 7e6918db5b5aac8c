/** Finds what the ledger holds of a person, and takes it out. */
import {
  type AliasOf,
  comparedId,
  type ErasedPerson,
  type ErasedUser,
  insertAlias,
  isSameId,
  readAliases,
  type ReturnedOrder,
} from "../store/aliases.ts";
import {
  type Driver,
  LedgerError,
  listed,
  readDeciding,
  retryLostRaces,
  type Statement,
  statement,
  write,
} from "../store/database.ts";
import {
  addFindings,
  eventsHolding,
  type EventTexts,
  findHolders,
  FINDING,
  type FindingReason,
  findTraces,
  valuesOf,
} from "./holders.ts";
import {
  countOldBodies,
  type ErasableOrder,
  erasableOrder,
  type ErasureParts,
  isPseudonym,
  isRedacted,
  matchToKeep,
  namesIn,
  newName,
  objectIn,
  pruneBodies,
  type PruneOptions,
  type Pruning,
  readFolded,
  readFolds,
  redactReading,
  replaceEvents,
  type Replacement,
  replacementsOf,
} from "./redact.ts";
import { isDeeperThan, isRecord } from "../../core/guards.ts";
import { isRequestable } from "../../core/wire/objects.ts";
import type { RecordedEvent } from "../events/event.ts";
import { type EventKind, isExpectationKind } from "../machines/machine.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { unpackOrder } from "../projection/rows.ts";
import { noteOf } from "../recording/notes.ts";
import { readEvents } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";

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
    return (await findPerson(this.#parts, userId)).erasure;
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
      const person = await findPerson(this.#parts, userId);
      const { erasure } = person;
      const { pseudonym } = erasure;
      if (pseudonym === null) return erasure;
      if (!force) refuseErasure(erasure);
      await write(driver, await erasing(this.#parts, pseudonym, person));
      return erasure;
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
      // How somebody else's order compares stays known.
      const foldsOf = await readFolds(this.#parts, guard, events);
      const replaced = await replacementsOf(this.#parts, {
        ...{ guard, events },
        optionsOf: (event) => ({
          match: matchToKeep(foldsOf(event)[0], this.#parts),
        }),
      });
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

/** How many events hold a value of the person and are about more. */
export interface Comparison {
  /** Events that are blanked: they are nobody else's. */
  readonly blanked: number;
  /** Events that are listed for a person. */
  readonly listed: number;
}

/** What an erasure removes. */
export interface ErasurePlan {
  /** The user. */
  readonly userId: string;
  /** Number of events about the person, by kind. */
  readonly events: Readonly<Partial<Record<EventKind, number>>>;
  /** Names of the fields that are removed, as the service writes them, sorted. */
  readonly fields: readonly string[];
  /** Orders that the service has shown as the person's, by id. */
  readonly orders: readonly ErasableOrder[];
  /** Orders that only webhooks attribute to the person, by id. */
  readonly claims: readonly ClaimedOrder[];
  /** What else holds the person's ids. */
  readonly compared: Comparison;
}

/** Result of an erasure. */
export interface Erasure extends ErasurePlan {
  /** What replaces the user id from now on; null when nothing was found. */
  readonly pseudonym: string | null;
}

/** An order that only webhooks attribute to the person. */
export interface ClaimedOrder {
  /** The order. */
  readonly orderId: string;
  /**
   * Whether the service was asked for it since and did not show it. Until then it
   * may be the person's, or invented by the sender.
   */
  readonly isAsked: boolean;
}

/**
 * Finds the events about a person: those that name the user; what was read and
 * received of the user's orders; the sessions that those come from, and webhooks that
 * name nothing but their click ids. What orders of other people share with them is
 * left out.
 */
async function findPerson(parts: ErasureParts, userId: string) {
  const { driver } = parts;
  const guard = await readFolded(parts, "erase");
  const until = guard.position;
  const ids = new Set([comparedId(userId)]);
  const named = (await eventsHolding(driver, ids, until))
    .map(({ event }) => event)
    .filter((event) => isSameId(event.userId, userId));
  const { orders, claims } = await readOrders(driver, named);
  const { events, stated, clicks } = await findTraces(parts, {
    ...{ guard, userId, named, orders },
  });
  const isShown = orders.size > 0;
  const values = valuesOf(userId, events, { clicks, isShown });
  const own = new Map(events.map((one) => [one.position, one]));
  const others: EventTexts[] = [];
  const sought = new Set([...values.keys(), ...stated]);
  for (const one of await eventsHolding(driver, sought, until)) {
    const { position, kind, orderId, userId: user, clickId } = one.event;
    const isOfClick = (kind === "webhook" ||
      (isExpectationKind(kind) && isRedacted(one.event))) &&
      orderId === null && user === null &&
      stated.has(comparedId(clickId ?? ""));
    if (isOfClick) own.set(position, one.event);
    else if (!own.has(position)) others.push(one);
  }
  const holders = await findHolders(driver, others, { values, own: orders });
  const pseudonym = newName(parts);
  const clickNames = new Map<string, string>();
  const nameOfClick = (clickId: string) => {
    const name = clickNames.get(clickId) ?? newName(parts);
    clickNames.set(clickId, name);
    return name;
  };
  const replaced = await replacementsOf(parts, {
    guard,
    events: [...own.values()].sort((a, b) => a.position - b.position),
    orders: [...orders.values()],
    optionsOf: (event) => ({
      ...namesIn(event, {
        userId: isSameId(event.userId, userId) ? pseudonym : null,
        clickId: event.orderId && event.clickId && nameOfClick(event.clickId),
      }),
      match: matchToKeep(orders.get(event.orderId ?? "")?.fold, parts),
    }),
  });
  const isThere = replaced.length > 0 || orders.size > 0;
  const counted = (all: readonly unknown[]) => isThere ? all.length : 0;
  const byKind = Map.groupBy(replaced, ({ before }) => before.kind);
  const erasure: Erasure = {
    userId,
    events: Object.fromEntries(
      [...byKind].map(([kind, all]) => [kind, all.length]),
    ),
    claims,
    fields: [...new Set(replaced.flatMap(fieldsGone))].sort(),
    orders: [...orders.values()].map(({ fold }) => erasableOrder(fold, parts)),
    compared: {
      blanked: counted(holders.blank),
      listed: counted(holders.list),
    },
    pseudonym: isThere ? pseudonym : null,
  };
  /** What the orders are called from now on. */
  const kept = [...orders].map(([orderId, { fold }]) => {
    const clickId = fold.latest?.clickId || null;
    return {
      ...{ orderId, userId: pseudonym },
      clickId: clickId &&
        (isPseudonym(clickId) ? clickId : nameOfClick(clickId)),
    };
  });
  return { guard, erasure, orders, kept, clicks, values, holders, replaced };
}

/**
 * The orders that are the user's: a reading names the user. Where no reading speaks
 * of an order, webhooks that name the user claim that it is. Anybody can send one, so
 * such an order does not count as the user's.
 */
async function readOrders(
  driver: Driver,
  named: readonly RecordedEvent[],
) {
  const byOrder = Map.groupBy(named, ({ orderId }) => orderId ?? "");
  const [rows] = await readDeciding(driver, [statement(
    `SELECT o.no, o.id, o.fold, o.shown, b.asked_at FROM orders AS o
      LEFT JOIN observations AS b ON b.entity = 'order' AND b.id = o.id
      WHERE o.id IN (SELECT value FROM json_each(?)) ORDER BY o.id`,
    listed(byOrder.keys()),
  )]);
  const orders = new Map<string, { no: number; fold: OrderFold }>();
  const claims: ClaimedOrder[] = [];
  for (const [no, id, document, shown, askedAt] of rows ?? []) {
    const orderId = String(id);
    const events = byOrder.get(orderId) ?? [];
    if (events.some(({ kind }) => /^order_(snapshot|redacted)$/.test(kind))) {
      const fold = unpackOrder(orderId, String(document));
      orders.set(orderId, { no: Number(no), fold });
    } else if (shown !== 1) {
      const isAsked = events.every(({ recordedAt }) =>
        String(askedAt ?? "") > recordedAt
      );
      // The service has no id that cannot be requested.
      claims.push({ orderId, isAsked: isAsked || !isRequestable(orderId) });
    }
  }
  return { orders, claims };
}

/** @throws {LedgerError} Where something should come first. */
function refuseErasure({ claims, orders }: ErasurePlan): void {
  const unasked = claims.filter(({ isAsked }) => !isAsked);
  const blocked = orders.filter(({ blocks }) => blocks.length > 0);
  const first = unasked.length > 0
    ? "before the service was asked for orders that only webhooks name as the " +
      "person's: " + unasked.map(({ orderId }) => orderId).join(", ")
    : "while an order is under way or a refund is due: " +
      blocked.map(({ orderId, blocks }) => `${orderId} (${blocks.join(", ")})`)
        .join(", ");
  if (unasked.length + blocked.length > 0) {
    throw new LedgerError("failed", `Cannot erase ${first}`);
  }
}

async function erasing(
  parts: ErasureParts,
  pseudonym: string,
  { guard, erasure, orders, kept, clicks, values, holders, replaced }: Awaited<
    ReturnType<typeof findPerson>
  >,
): Promise<Statement[]> {
  const { key } = guard;
  const erasedAt = new Date(parts.now()).toISOString();
  const { userId } = erasure;
  const gone = [...replaced.map(({ before }) => before), ...holders.blank];
  // What people noted may name the person.
  const noted = new Set([
    ...[...orders.keys()].map((id) => `order ${comparedId(id)}`),
    `user ${comparedId(userId)}`,
    ...gone.map(({ eventId }) => `delivery ${comparedId(eventId)}`),
  ]);
  const notes = (await readEvents(
    parts.driver,
    `events AS e WHERE e.kind = 'note' AND e.${IS_RARE}`,
  )).filter((event) => {
    const { entity, entityId = "" } = noteOf(event) ?? {};
    return noted.has(`${entity} ${comparedId(entityId)}`);
  });
  // The same answer must not be recorded again once it is redacted.
  const named = new Map(kept.map((order) => [order.orderId, order]));
  const digests = gone.flatMap((event) => {
    const names = named.get(event.orderId ?? "");
    return event.kind !== "order_snapshot" || names === undefined
      ? []
      : [[event.digest, redactReading(event, names).digest]];
  });
  return [
    ...await replaceEvents(parts, {
      guard,
      replaced: [
        ...replaced,
        ...await replacementsOf(parts, {
          guard,
          events: [...holders.blank, ...notes],
          orders: [...orders.values()],
        }),
      ],
      orders: [...orders.values()],
    }),
    insertAlias(key, "user", [userId, { erasedAt, returnedAt: null }]),
    ...[...clicks].map((clickId) =>
      insertAlias(key, "click", [clickId, { erasedAt }])
    ),
    ...[...values].map(([value, is]) =>
      insertAlias(key, "value", [value, { is, length: value.length }])
    ),
    ...kept.map((order) =>
      insertAlias(key, "order", [order.orderId, { ...order, erasedAt }])
    ),
    insertAlias(key, "person", [pseudonym, {
      ...{ pseudonym, erasedAt, events: replaced.length, orders: orders.size },
    }]),
    ...addFindings(holders.list, erasedAt),
    statement(
      "UPDATE outbox SET error = NULL WHERE no IN (SELECT value FROM json_each(?))",
      listed([...orders.values()].map(({ no }) => no)),
    ),
    statement(
      `UPDATE observations SET digest = coalesce((
          SELECT value ->> 1 FROM json_each(?2) WHERE value ->> 0 = digest), '')
        WHERE entity = 'order' AND found = 1
          AND id IN (SELECT value FROM json_each(?1))`,
      listed(orders.keys()),
      JSON.stringify(digests),
    ),
    statement(
      `DELETE FROM observations WHERE entity = 'user'
        AND lower(trim(id)) = lower(trim(?))`,
      userId,
    ),
    statement(
      `DELETE FROM set_aside WHERE id IN (SELECT value FROM json_each(?1))
        OR (entity = 'user' AND lower(trim(id)) = lower(trim(?2)))`,
      listed(orders.keys()),
      userId,
    ),
  ];
}

/** Names of the fields of a body whose values do not stay. */
function fieldsGone({ before, after }: Replacement): string[] {
  const left = new Set(fieldsOf(objectIn(after.body)).map(String));
  return fieldsOf(objectIn(before.body))
    .filter((field) => !left.has(String(field)))
    .map(([name]) => name).filter((name) => name !== "erased");
}

/** Fields of a body, those within others after a dot, and their values. */
function fieldsOf(
  value: unknown,
  path = "",
): (readonly [name: string, value: string])[] {
  if (path === "" && (value === null || isDeeperThan(value))) return [];
  if (Array.isArray(value)) return value.flatMap((one) => fieldsOf(one, path));
  if (!isRecord(value)) return [[path, String(value ?? "")]];
  return Object.entries(value).flatMap(([name, inner]) =>
    fieldsOf(inner, path === "" ? name : `${path}.${name}`)
  );
}
