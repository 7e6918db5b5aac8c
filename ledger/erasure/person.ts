/** What the ledger holds of a person, and what would go with an erasure. */
import { isRequestable } from "../../core/wire/identifier.ts";
import { isExpectation } from "../events/fact.ts";
import { isExpectationKind } from "../machines/event_kind.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { unpackOrder } from "../projection/doc.ts";
import type { Guard } from "../projection/guard.ts";
import { LookupHash, type LookupKind } from "../projection/lookup_hash.ts";
import { comparedId, isSameId, type Ownership } from "../store/aliases.ts";
import { listed, readDeciding, statement } from "../store/database.ts";
import { readEvents, type StoredEvent } from "../store/events.ts";
import {
  eventsHolding,
  findHolders,
  type Holders,
  type Values,
} from "./holders.ts";
import { isPseudonym, isRedacted, namesNobody } from "./redact.ts";
import { type ErasureParts, readFolded } from "./rewrite.ts";

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

/** What the ledger holds of a person. */
export interface Person {
  readonly guard: Guard;
  readonly userId: string;
  /** The person's orders by id: the service has shown them as such. */
  readonly orders: ReadonlyMap<
    string,
    { readonly no: number; readonly fold: OrderFold }
  >;
  readonly claims: readonly ClaimedOrder[];
  /** The events about the person, by position. */
  readonly events: readonly StoredEvent[];
  /** Click ids that lead to nobody else. */
  readonly clicks: ReadonlySet<string>;
  /** Ids by which the person is recognised wherever they stand. */
  readonly values: Values;
  /** Other events that hold one of them. */
  readonly holders: Holders;
}

/**
 * Finds the events about a person: those that name the user; what was read and
 * received of the user's orders; the sessions that those come from, and webhooks that
 * name nothing but their click ids. What orders of other people share with them is
 * left out.
 */
export async function findPerson(
  parts: ErasureParts,
  userId: string,
): Promise<Person> {
  const { driver } = parts;
  const guard = await readFolded(parts, "erase");
  const until = guard.position;
  const holding = await eventsHolding(
    driver,
    new Set([comparedId(userId)]),
    until,
  );
  const named = holding.filter((event) => isSameId(event.userId, userId));
  const { orders, claims } = await readOrders(parts, named);
  const { events, stated, clicks } = await findTraces(parts, {
    ...{ guard, userId, named },
    orders: new Map([...orders].map(([id, { no }]) => [id, no])),
  });
  const values = valuesOf(userId, events, {
    clicks,
    isShown: orders.size > 0,
  });
  const own = new Map(events.map((one) => [one.position, one]));
  const sought = new Set([...values.keys(), ...stated]);
  const others: StoredEvent[] = [];
  for (const event of await eventsHolding(driver, sought, until)) {
    const { position, kind, orderId, userId: user, clickId } = event;
    const isOfClick =
      (kind === "webhook" || (isExpectationKind(kind) && isRedacted(event))) &&
      orderId === null && user === null &&
      stated.has(comparedId(clickId ?? ""));
    if (isOfClick) own.set(position, event);
    else if (!own.has(position)) others.push(event);
  }
  const holders = await findHolders(driver, others, {
    ...{ find: () => Promise.resolve(values), own: (id) => orders.has(id) },
  });
  return {
    ...{ guard, userId, orders, claims, clicks, values, holders },
    events: [...own.values()].filter((event) => !namesNobody(event))
      .sort((a, b) => a.position - b.position),
  };
}

/**
 * The orders that are the user's: a reading names the user. Where no reading speaks
 * of an order, webhooks that name the user claim that it is. Anybody can send one, so
 * such an order does not count as the user's.
 */
async function readOrders(
  { driver }: ErasureParts,
  named: readonly StoredEvent[],
): Promise<Pick<Person, "orders" | "claims">> {
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
 * Adds to events that name a person those of the person's orders, and the sessions
 * and expectations of these.
 *
 * @param orders The orders by id, with their `no`.
 * @param named Events that name the person; may be such as are not folded yet.
 * @param taken Click ids that events name which are not folded yet.
 */
export async function findTraces(
  { driver, fold: { readFact } }: ErasureParts,
  { guard, userId, orders, named, taken = new Set() }: {
    readonly guard: Guard;
    readonly userId: string | null;
    readonly orders: ReadonlyMap<string, number>;
    readonly named: readonly StoredEvent[];
    readonly taken?: ReadonlySet<string>;
  },
): Promise<{
  readonly events: readonly StoredEvent[];
  /** Click ids that readings state and no order of somebody else, as compared. */
  readonly stated: ReadonlySet<string>;
  /** Click ids that nobody else may have. */
  readonly clicks: ReadonlySet<string>;
}> {
  const hash = new LookupHash(guard.key);
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
      listed(orders.values()),
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
      WHERE m.no IN (SELECT value FROM json_each(?)) AND e.kind IN
        ('webhook', 'order_snapshot', 'chain_reading', 'order_redacted')`,
    listed(orders.values()),
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
function clicksOf(events: readonly StoredEvent[]): string[] {
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
  events: readonly StoredEvent[],
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
