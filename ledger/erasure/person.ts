/** What the ledger holds of a person, and what would go with an erasure. */
import { isRequestable } from "../../core/wire/identifier.ts";
import { isRecord } from "../../core/guards.ts";
import { linking } from "../events/fact_text.ts";
import { isExpectation } from "../events/fact.ts";
import { isExpectationKind } from "../machines/event_kind.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { unpackOrder } from "../projection/doc.ts";
import { type Guard, guardOf, selectGuard } from "../projection/guard.ts";
import { LookupHash, type LookupKind } from "../projection/lookup_hash.ts";
import { listed, readDeciding, statement } from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf, type StoredEvent } from "../store/events.ts";
import { comparedId, isSameId } from "../store/aliases.ts";
import { eventsHolding, findHolders, type Holders } from "./holders.ts";
import { isRedacted } from "./redact.ts";
import type { ErasureParts } from "./rewrite.ts";

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
  /** Rows of the user, in whatever case the id was written. */
  readonly users: readonly number[];
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
  /** Ids by which the person is recognised wherever they stand, as compared. */
  readonly values: ReadonlyMap<string, "own" | "chosen">;
  /** Other events that hold one of them. */
  readonly holders: Holders;
}

/**
 * Orders `o` that only webhooks name, and of which the service was not asked yet:
 * they may be somebody else's.
 */
export const MAY_BE_OTHERS = `(o.shown = 0 AND NOT EXISTS (
  SELECT 1 FROM observations AS b WHERE b.entity = 'order' AND b.id = o.id))`;

/** How random names begin. */
export const PSEUDONYM = "erased-";

/** Reads how far events are folded; what is not folded yet is redacted as it comes. */
export async function readFolded(
  { driver, foldVersion }: ErasureParts,
  work: "erase" | "prune",
): Promise<Guard> {
  const [rows] = await readDeciding(driver, [selectGuard]);
  const guard = guardOf(rows);
  if (guard.foldVersion === foldVersion) return guard;
  throw new LedgerError(
    "failed",
    `Cannot ${work}: the events are not folded by this version; fold them first, ` +
      "with ledger.project()",
  );
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
  const ofUser: StoredEvent[] = [];
  for await (
    const event of eventsHolding(driver, [comparedId(userId)], until)
  ) {
    if (isSameId(event.userId, userId)) ofUser.push(event);
  }
  const { orders, claims } = await readOrders(parts, ofUser);
  const [named] = await readDeciding(driver, [statement(
    `SELECT ${EVENT_COLUMNS} FROM mentions AS m
      CROSS JOIN events AS e ON e.position = m.position
      WHERE m.no IN (SELECT value FROM json_each(?)) AND e.kind IN
        ('webhook', 'order_snapshot', 'chain_reading', 'order_redacted')`,
    listed([...orders.values()].map(({ no }) => no)),
  )]);
  const ofOrders = eventsOf(named);
  const { terms, stated, clicks } = await readTerms(parts, {
    ...{ guard, userId, orders, ofUser, ofOrders },
  });
  const known = new Map(
    [...ofUser, ...ofOrders, ...terms].map((one) => [one.position, one]),
  );
  const values = valuesOf(userId, [...known.values()], {
    clicks,
    isShown: orders.size > 0,
  });
  const needles = new Set([...values.keys(), ...[...stated].map(comparedId)]);
  const others: StoredEvent[] = [];
  const isStated = new Set([...stated].map(comparedId));
  for await (const event of eventsHolding(driver, [...needles], until)) {
    const { position, kind, orderId, clickId } = event;
    if (known.has(position)) continue;
    const isOfClick =
      (kind === "webhook" || (isExpectationKind(kind) && isRedacted(event))) &&
      orderId === null &&
      event.userId === null && isStated.has(comparedId(clickId ?? ""));
    if (isOfClick) known.set(position, event);
    else others.push(event);
  }
  const holders = await findHolders(driver, others, {
    find: () => Promise.resolve(values),
    own: (orderId) => orders.has(orderId),
  });
  const [rows] = await readDeciding(driver, [statement(
    "SELECT no, id FROM users WHERE instr(lower(id), ?) > 0",
    comparedId(userId),
  )]);
  return {
    ...{ guard, userId, orders, claims, clicks, values, holders },
    users: (rows ?? []).filter(([, id]) => isSameId(String(id), userId))
      .map(([no]) => Number(no)),
    events: [...known.values()].filter((event) => saysSomething(event, userId))
      .sort((a, b) => a.position - b.position),
  };
}

/** Whether anything of it is left to erase. */
function saysSomething(event: StoredEvent, userId: string): boolean {
  return isSameId(event.userId, userId) || !isRedacted(event) ||
    (event.clickId !== null && !event.clickId.startsWith(PSEUDONYM));
}

/**
 * The orders that are the user's: a reading names the user. Where no reading speaks
 * of an order, webhooks that name the user claim that it is. Anybody can send one, so
 * such an order does not count as the user's.
 */
async function readOrders(
  { driver }: ErasureParts,
  ofUser: readonly StoredEvent[],
): Promise<Pick<Person, "orders" | "claims">> {
  const [rows] = await readDeciding(driver, [statement(
    `SELECT o.no, o.id, o.fold, o.shown, b.asked_at FROM orders AS o
      LEFT JOIN observations AS b ON b.entity = 'order' AND b.id = o.id
      WHERE o.id IN (SELECT value FROM json_each(?))`,
    listed(new Set(ofUser.flatMap(({ orderId }) => orderId ?? []))),
  )]);
  const read = new Set(
    ofUser.filter(({ kind }) =>
      kind === "order_snapshot" || kind === "order_redacted"
    ).map(({ orderId }) => orderId),
  );
  const orders = new Map<string, { no: number; fold: OrderFold }>();
  const claims: ClaimedOrder[] = [];
  for (const [no, id, document, shown, askedAt] of rows ?? []) {
    const orderId = String(id);
    const fold = unpackOrder(orderId, String(document));
    if (read.has(orderId)) orders.set(orderId, { no: Number(no), fold });
    else if (shown !== 1) {
      const claimedAt = ofUser.filter((one) => one.orderId === orderId)
        .map(({ recordedAt }) => recordedAt).sort().at(-1) ?? "";
      const isAsked = String(askedAt ?? "") > claimedAt;
      // The service has no id that cannot be requested.
      claims.push({ orderId, isAsked: isAsked || !isRequestable(orderId) });
    }
  }
  return { orders, claims };
}

/** Sessions and expectations of the person, and the click ids that name nobody else. */
async function readTerms(
  { driver, readFact }: ErasureParts,
  { guard, userId, orders, ofUser, ofOrders }: {
    readonly guard: Guard;
    readonly userId: string;
    readonly orders: Person["orders"];
    readonly ofUser: readonly StoredEvent[];
    readonly ofOrders: readonly StoredEvent[];
  },
) {
  const hash = new LookupHash(guard.key);
  const own = new Set([...orders.values()].map(({ no }) => no));
  const unshared = async (
    kind: LookupKind,
    texts: Iterable<string>,
    also: "false" | typeof MAY_BE_OTHERS = "false",
  ) => {
    const hashes = new Map(
      [...texts].map((text) => [hash.of(kind, text), text]),
    );
    const [rows] = await readDeciding(driver, [statement(
      `SELECT l.hash, o.no FROM lookup AS l JOIN orders AS o ON o.no = l.no
        WHERE l.hash IN (SELECT value FROM json_each(?))
          AND (l.shown = 1 OR ${also})`,
      listed(hashes.keys()),
    )]);
    for (const [at, no] of rows ?? []) {
      if (!own.has(Number(no))) hashes.delete(Number(at));
    }
    return new Set(hashes.values());
  };
  const expected = async (
    column: "click" | "session" | "reference",
    [kind, texts]: readonly [LookupKind, Iterable<string>],
  ) => {
    const [rows] = await readDeciding(driver, [statement(
      `SELECT ${EVENT_COLUMNS} FROM expected AS x
        CROSS JOIN events AS e ON e.position = x.position
        WHERE x.${column} IN (SELECT value FROM json_each(?))`,
      listed([...texts].map((text) => hash.of(kind, text))),
    )]);
    return eventsOf(rows);
  };
  const links = { session: new Set<string>(), click: new Set<string>() };
  for (const event of [...ofUser, ...ofOrders]) {
    if (!orders.has(event.orderId ?? "")) continue;
    const { sessionId } = readFact(event);
    const clickId = event.kind === "webhook" ? null : linking(event.clickId);
    if (sessionId) links.session.add(sessionId);
    if (clickId) links.click.add(clickId);
  }
  const stated = await unshared("click", links.click);
  const sessions = await unshared("session", links.session);
  // A webhook that names a session says nothing of the session's click id.
  const ofLinks = [
    ...await expected("session", ["session", sessions]),
    ...await expected("click", ["asked_click", stated]),
  ].filter(({ clickId }) => clickId === null || stated.has(clickId));
  const references = ofLinks.map(readFact).filter(isExpectation)
    .flatMap(({ expectation }) => expectation.reference ?? []);
  // A basket that was asked for again names its buyer's address too.
  const linked = [
    ...ofLinks,
    ...await expected("reference", [
      "asked_reference",
      await unshared("reference", references),
    ]),
  ];
  const ownClicks = await unshared(
    "click",
    [...linked, ...ofUser, ...ofOrders].flatMap(({ kind, clickId }) =>
      kind === "webhook" ? [] : clickId ?? []
    ),
    MAY_BE_OTHERS,
  );
  const terms = linked.filter((event) =>
    (event.userId === null || isSameId(event.userId, userId)) &&
    (event.clickId === null || ownClicks.has(event.clickId))
  );
  const clicks = new Set(
    [...terms, ...ofUser, ...ofOrders].flatMap(({ kind, clickId }) =>
      kind === "webhook" || clickId === null || !ownClicks.has(clickId) ||
        clickId.startsWith(PSEUDONYM)
        ? []
        : clickId
    ),
  );
  return { terms, stated, clicks };
}

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
): Person["values"] {
  const values = new Map<string, "own" | "chosen">();
  const own = (id: string) => values.set(comparedId(id), "own");
  let isUser = isShown;
  for (const event of events) {
    const { kind, clickId } = event;
    const isReading = kind === "order_snapshot" || kind === "user_snapshot";
    if (kind === "user_snapshot" && isSameId(event.userId, userId)) {
      isUser = true;
    }
    if (isReading) { for (const id of cardIds(event)) own(id); }
    if (clickId === null || !clicks.has(clickId)) continue;
    if (isExpectationKind(kind)) own(clickId);
    else if (isReading && !values.has(comparedId(clickId))) {
      values.set(comparedId(clickId), "chosen");
    }
  }
  values.set(comparedId(userId), isUser ? "own" : "chosen");
  return values;
}

function cardIds({ body }: StoredEvent): string[] {
  const ids: string[] = [];
  try {
    const root: unknown = JSON.parse(new TextDecoder().decode(body));
    for (const left = [root]; left.length > 0;) {
      const next = left.pop();
      if (Array.isArray(next)) left.push(...next);
      else if (isRecord(next)) {
        const { card_id } = next;
        if (typeof card_id === "string" && card_id !== "") ids.push(card_id);
        left.push(...Object.values(next));
      }
    }
  } catch {
    // What is no JSON has no fields.
  }
  return ids;
}
