/** Finds what the ledger holds of a person, and takes it out. */
import { isRecord } from "../../core/guards.ts";
import { isRequestable } from "../../core/wire/identifier.ts";
import type { RecordedEvent } from "../events/event.ts";
import { exactObject } from "../events/fact_text.ts";
import { isExpectation } from "../events/fact.ts";
import { type EventKind, isExpectationKind } from "../machines/event_kind.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { unpackOrder } from "../projection/doc.ts";
import type { Guard } from "../projection/guard.ts";
import type { LookupKind } from "../projection/lookup_hash.ts";
import { noteOf } from "../recording/notes.ts";
import {
  comparedId,
  insertAlias,
  isSameId,
  type Ownership,
} from "../store/aliases.ts";
import { listed, readDeciding, statement } from "../store/database.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { readEvents } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";
import {
  addFindings,
  eventsHolding,
  type EventTexts,
  findHolders,
  NO_HOLDERS,
  type Values,
} from "./holders.ts";
import {
  isPseudonym,
  isRedacted,
  namesNobody,
  newName,
  redactEvent,
  redactReading,
} from "./redact.ts";
import {
  type ErasableOrder,
  erasableOrder,
  type ErasureParts,
  matchToKeep,
  readFolded,
  replaceEvents,
  type Replacement,
} from "./rewrite.ts";

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

export async function prepareErasure(
  parts: ErasureParts,
  userId: string,
): Promise<{
  readonly erasure: Erasure;
  readonly statements: () => Promise<Statement[]>;
}> {
  const person = await findPerson(parts, userId);
  const { orders, claims, holders, replaced, names } = person;
  const isThere = replaced.length > 0 || orders.size > 0;
  const { blank, list } = isThere ? holders : NO_HOLDERS;
  const byKind = Map.groupBy(replaced, ({ before }) => before.kind);
  const erasure = {
    userId,
    events: Object.fromEntries(
      [...byKind].map(([kind, all]) => [kind, all.length]),
    ),
    claims,
    fields: [...new Set(replaced.flatMap(fieldsGone))].sort(),
    orders: [...orders.values()].map(({ fold }) => erasableOrder(fold, parts)),
    compared: { blanked: blank.length, listed: list.length },
    pseudonym: isThere ? names.user : null,
  };
  return { erasure, statements: () => erasing(parts, person) };
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
  const isOwn = (orderId: string) => orders.has(orderId);
  const holders = await findHolders(driver, others, { values, isOwn });
  const names = namesFor(parts);
  const replaced = [...own.values()].filter((event) => !namesNobody(event))
    .sort((a, b) => a.position - b.position)
    .map((before): Replacement => {
      const { kind, orderId } = before;
      // A webhook names no user afterwards, or it would make a row of one.
      const isUser = kind !== "webhook" && isSameId(before.userId, userId);
      const after = redactEvent(before, {
        ...parts,
        userId: isUser ? names.user : null,
        clickId: orderId === null ? null : names.click(before.clickId),
        match: matchToKeep(orders.get(orderId ?? "")?.fold, parts),
      });
      return { before, after };
    });
  return {
    ...{ guard, userId, orders, claims, clicks, values, holders },
    ...{ names, replaced },
  };
}

function namesFor(parts: ErasureParts) {
  const clicks = new Map<string, string>();
  return {
    user: newName(parts),
    click: (clickId: string | null) => {
      if (clickId === null || isPseudonym(clickId)) return clickId;
      const name = clicks.get(clickId) ?? newName(parts);
      clicks.set(clickId, name);
      return name;
    },
  };
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

/**
 * Orders `o` that only webhooks name, and of which the service was not asked yet:
 * they may be somebody else's.
 */
const MAY_BE_OTHERS = `(o.shown = 0 AND NOT EXISTS (
  SELECT 1 FROM observations AS b WHERE b.entity = 'order' AND b.id = o.id))`;

/** Where what was expected is found, and what leads from there to orders. */
const TERMS = {
  click: "asked_click",
  session: "session",
  reference: "asked_reference",
} as const;

/**
 * Adds to events that name a person, folded or not, those of the person's orders, and
 * the sessions and expectations of these. Click ids that are taken are somebody else's.
 */
export async function findTraces(
  { driver, fold: { readFact } }: ErasureParts,
  { guard, userId, orders, named, taken = new Set() }: {
    readonly guard: Guard;
    readonly userId: string | null;
    readonly orders: ReadonlyMap<string, { readonly no: number }>;
    readonly named: readonly RecordedEvent[];
    readonly taken?: ReadonlySet<string>;
  },
): Promise<{
  readonly events: readonly RecordedEvent[];
  /** Click ids that readings state and no order of somebody else, as compared. */
  readonly stated: ReadonlySet<string>;
  /** Click ids that nobody else may have. */
  readonly clicks: ReadonlySet<string>;
}> {
  const { hash } = guard;
  const nos = listed([...orders.values()].map(({ no }) => no));
  const unshared = async (
    kind: LookupKind,
    texts: Iterable<string>,
    mayBe = "false",
  ) => {
    const left = new Map([...texts].map((text) => [hash.of(kind, text), text]));
    const [rows] = await readDeciding(driver, [statement(
      `SELECT l.hash FROM lookup AS l JOIN orders AS o ON o.no = l.no
        WHERE l.hash IN (SELECT value FROM json_each(?1))
          AND o.no NOT IN (SELECT value FROM json_each(?2))
          AND (l.shown = 1 OR ${mayBe})`,
      listed(left.keys()),
      nos,
    )]);
    for (const [at] of rows ?? []) left.delete(Number(at));
    return new Set(left.values()).difference(taken);
  };
  const expected = (kind: keyof typeof TERMS, texts: Iterable<string>) =>
    readEvents(
      driver,
      `expected AS x CROSS JOIN events AS e ON e.position = x.position
        WHERE x.${kind} IN (SELECT value FROM json_each(?))`,
      listed([...texts].map((text) => hash.of(TERMS[kind], text))),
    );
  const ofOrders = await readEvents(
    driver,
    `mentions AS m CROSS JOIN events AS e ON e.position = m.position
      WHERE m.no IN (SELECT value FROM json_each(?))`,
    nos,
  );
  const about = [...named, ...ofOrders];
  const own = about.filter(({ orderId }) => orders.has(orderId ?? ""));
  const stated = await unshared("click", clicksOf(own));
  // A webhook that names a session says nothing of the session's click id.
  const sessions = own.flatMap((one) => readFact(one).sessionId ?? []);
  const ofLinks = [
    ...await expected("session", await unshared("session", sessions)),
    ...await expected("click", stated),
  ].filter(({ clickId }) => clickId === null || stated.has(clickId));
  // A basket that was asked for again names its buyer's address too.
  const references = ofLinks.map(readFact).filter(isExpectation)
    .flatMap(({ expectation }) => expectation.reference ?? []);
  const found = [
    ...ofLinks,
    ...await expected("reference", await unshared("reference", references)),
  ];
  const nobodys = await unshared(
    "click",
    clicksOf([...found, ...about]),
    MAY_BE_OTHERS,
  );
  const terms = found.filter((event) =>
    (event.userId === null || isSameId(event.userId, userId)) &&
    (event.clickId === null || nobodys.has(event.clickId))
  );
  const events = [...about, ...terms];
  return {
    events: [...new Map(events.map((one) => [one.position, one])).values()],
    stated: new Set([...stated].map(comparedId)),
    clicks: new Set(
      clicksOf(events).filter((one) => nobodys.has(one) && !isPseudonym(one)),
    ),
  };
}

/** Click ids, but those that only webhooks name: anybody can send one. */
function clicksOf(events: readonly RecordedEvent[]): string[] {
  return events.flatMap(({ kind, clickId }) =>
    kind === "webhook" ? [] : clickId ?? []
  );
}

/** A field of a card; its value is the id. */
const CARD = /"card_id"\s*:\s*("(?:[^"\\]|\\.)+")/g;

/**
 * The ids by which a person is recognised wherever they stand. Only what the service
 * has shown and what the partner recorded counts.
 */
function valuesOf(
  userId: string,
  events: readonly RecordedEvent[],
  { clicks, isShown }: {
    readonly clicks: ReadonlySet<string>;
    readonly isShown: boolean;
  },
): Values {
  const values = new Map<string, Ownership>();
  let user: Ownership = isShown ? "own" : "chosen";
  for (const { kind, clickId, userId: id, body } of events) {
    if (kind === "user_snapshot" && isSameId(id, userId)) user = "own";
    if (kind === "user_snapshot" || kind === "order_snapshot") {
      const text = new TextDecoder().decode(body);
      for (const [, card = ""] of text.matchAll(CARD)) {
        values.set(comparedId(JSON.parse(card)), "own");
      }
    }
    if (clickId === null || !clicks.has(clickId)) continue;
    const click = comparedId(clickId);
    if (isExpectationKind(kind)) values.set(click, "own");
    else if (!values.has(click)) values.set(click, "chosen");
  }
  return values.set(comparedId(userId), user);
}
/** @throws {LedgerError} Where something should come first. */
export function refuseErasure({ claims, orders }: ErasurePlan): void {
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
  person: Awaited<ReturnType<typeof findPerson>>,
): Promise<Statement[]> {
  const { guard, userId, orders, clicks, values, holders, names, replaced } =
    person;
  const { key } = guard;
  const erasedAt = new Date(parts.now()).toISOString();
  const kept = [...orders].map(([orderId, { fold }]) => {
    const clickId = names.click(fold.latest?.clickId || null);
    return { orderId, userId: names.user, clickId, erasedAt };
  });
  const gone = [...replaced.map(({ before }) => before), ...holders.blank];
  const notes = await notesAbout(
    parts,
    new Set([
      ...[...orders.keys()].map((id) => `order ${comparedId(id)}`),
      `user ${comparedId(userId)}`,
      ...gone.map(({ eventId }) => `delivery ${comparedId(eventId)}`),
    ]),
  );
  return [
    ...await replaceEvents(parts, {
      guard,
      replaced: [
        ...replaced,
        ...[...holders.blank, ...notes].map((before) => ({
          ...{ before, after: redactEvent(before, parts) },
        })),
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
    ...kept.map((order) => insertAlias(key, "order", [order.orderId, order])),
    insertAlias(key, "person", [names.user, {
      ...{ pseudonym: names.user, erasedAt },
      ...{ events: replaced.length, orders: orders.size },
    }]),
    ...addFindings(holders.list, erasedAt),
    statement(
      "UPDATE outbox SET error = NULL WHERE no IN (SELECT value FROM json_each(?))",
      listed([...orders.values()].map(({ no }) => no)),
    ),
    ...observedAs(gone, new Map(kept.map((order) => [order.orderId, order]))),
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

/**
 * What the poller remembers of each order: the same answer must not be recorded again
 * once it is redacted.
 */
function observedAs(
  events: readonly RecordedEvent[],
  orders: ReadonlyMap<string, Parameters<typeof redactReading>[1]>,
): Statement[] {
  const digests = events.flatMap((event) => {
    const names = orders.get(event.orderId ?? "");
    return event.kind !== "order_snapshot" || names === undefined
      ? []
      : [[event.digest, redactReading(event, names).digest]];
  });
  return [statement(
    `UPDATE observations SET digest = coalesce((
        SELECT value ->> 1 FROM json_each(?2) WHERE value ->> 0 = digest), '')
      WHERE entity = 'order' AND found = 1
        AND id IN (SELECT value FROM json_each(?1))`,
    listed(orders.keys()),
    JSON.stringify(digests),
  )];
}

/** What people noted may name the person. */
async function notesAbout(
  { driver }: ErasureParts,
  about: ReadonlySet<string>,
): Promise<RecordedEvent[]> {
  const notes = await readEvents(
    driver,
    `events AS e WHERE e.kind = 'note' AND e.${IS_RARE}`,
  );
  return notes.filter((event) => {
    const note = noteOf(event);
    return about.has(`${note?.entity} ${comparedId(note?.entityId ?? "")}`);
  });
}

/** Names of the fields of a body whose values do not stay. */
function fieldsGone({ before, after }: Replacement): string[] {
  const left = new Set(fieldsOf(after.body).map(String));
  return fieldsOf(before.body).filter((field) => !left.has(String(field)))
    .map(([name]) => name).filter((name) => name !== "erased");
}

/** Fields of a body, those within others after a dot, and their values. */
function fieldsOf(
  body: Uint8Array,
): (readonly [name: string, value: string])[] {
  const walk = (value: unknown, path: string): ReturnType<typeof fieldsOf> => {
    if (Array.isArray(value)) return value.flatMap((one) => walk(one, path));
    if (!isRecord(value)) return [[path, String(value ?? "")]];
    return Object.entries(value).flatMap(([name, inner]) =>
      walk(inner, path === "" ? name : `${path}.${name}`)
    );
  };
  try {
    return walk(exactObject(body) ?? {}, "");
  } catch {
    // A body that is no JSON, or nested too deeply, has no names of fields.
    return [];
  }
}
