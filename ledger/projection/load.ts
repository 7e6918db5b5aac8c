/** What a step has to know of orders, users, terms and purchases. */
import type { RecordedEvent } from "../events/event.ts";
import {
  askedAtOf,
  CANDIDATES_KEPT,
  type Expectation,
  type ExpectationWindow,
  purchaseKey,
  purchaseOf,
  validUntil,
} from "../events/expectation.ts";
import { type Fact, isExpectation, isWitnessRule } from "../events/fact.ts";
import { expectationLinks, type Link, linkKey } from "../events/links.ts";
import {
  expectationWindow,
  firstOrderAfter,
  sameWindow,
} from "../orders/expectations.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import {
  type KnownReleases,
  type Purchase,
  purchaseDigest,
} from "../releases/release_log.ts";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import type { UserFold } from "../users/user_fold.ts";
import { listed, type Rows } from "../store/database.ts";
import { eventsOf, hexOf, msOf } from "../store/events.ts";
import { type Row, type Told, unpackOrder, unpackUser } from "./doc.ts";
import {
  type LaterTerms,
  selectExpected,
  selectLaterTerms,
} from "./expected.ts";
import type { LookupHash } from "./lookup_hash.ts";
import type { BatchEvent, Collected } from "./step.ts";

/** Rows by id. */
export interface KnownRows {
  readonly orders: Map<string, Row<OrderFold>>;
  readonly users: Map<string, Row<UserFold>>;
}

/** How to read: `write` reads from the primary, after a lost race. */
export type Mode = "read" | "write";

/** Reads the rows of orders that a condition finds, `o` being the table. */
export function selectOrderRows(
  where: string,
  ...args: SqlValue[]
): Statement {
  return {
    sql: `SELECT o.no, o.id, o.historic, o.told, o.fold FROM orders AS o
      WHERE ${where}`,
    args,
  };
}

export function selectUserRows(where: string, ...args: SqlValue[]): Statement {
  return {
    sql: `SELECT u.no, u.id, u.historic, u.told, u.fold FROM users AS u
      WHERE ${where}`,
    args,
  };
}

/** Adds what {@linkcode selectOrderRows} read; what is known already stays. */
export function addOrderRows(
  orders: Map<string, Row<OrderFold>>,
  rows: Rows = [],
): void {
  for (const row of rows) {
    const id = String(row[1]);
    if (!orders.has(id)) orders.set(id, rowOf(row, unpackOrder));
  }
}

export function addUserRows(
  users: Map<string, Row<UserFold>>,
  rows: Rows = [],
): void {
  for (const row of rows) users.set(String(row[1]), rowOf(row, unpackUser));
}

function rowOf<Fold>(
  [no, id, historic, told, fold]: readonly SqlValue[],
  unpack: (id: string, fold: string) => Fold,
): Row<Fold> {
  return {
    no: Number(no),
    historic: Number(historic),
    told: JSON.parse(String(told)) as Told,
    fold: unpack(String(id), String(fold)),
  };
}

/** What a batch asks of orders that it may not name. */
export interface Asked {
  /** Links of its terms, when the first was asked for and when one expires first. */
  readonly links: Map<
    string,
    Link & { readonly askedAt: string; readonly validUntil: string }
  >;
  /**
   * Purchases of its terms, and when the earliest of each was asked for: what was
   * recorded before and was asked for later counts in its place.
   */
  readonly terms: Map<string, LaterTerms>;
  /** From when on its rules hold, by which successes wait for the chain. */
  readonly rulesFrom: Set<string>;
}

export function askedBy(events: readonly BatchEvent[]): Asked {
  const links: Asked["links"] = new Map();
  const terms: Asked["terms"] = new Map();
  const rulesFrom = new Set<string>();
  for (const { fact } of events) {
    if (isWitnessRule(fact)) rulesFrom.add(fact.change.from);
    if (!isExpectation(fact)) continue;
    const { expectation } = fact;
    const askedAt = askedAtOf(expectation);
    const until = validUntil(expectation);
    for (const link of expectationLinks(expectation)) {
      const other = links.get(linkKey(link));
      links.set(linkKey(link), {
        ...link,
        askedAt: earlier(other?.askedAt, askedAt),
        validUntil: earlier(other?.validUntil, until),
      });
    }
    const purchase = purchaseOf(expectation);
    if (purchase === null) continue;
    const key = purchaseKey(expectation);
    const first = earlier(terms.get(key)?.askedAt, askedAt);
    terms.set(key, { ...purchase, askedAt: first });
  }
  return { links, terms, rulesFrom };
}

function earlier(a: string | undefined, b: string): string {
  return a === undefined || b < a ? b : a;
}

/**
 * Where to look for terms of the orders of a batch: wherever one of its readings
 * moves the latest click id, the beginning or the first success of an order.
 */
function movedWindows(
  events: readonly BatchEvent[],
  orders: ReadonlyMap<string, Row<OrderFold>>,
): ExpectationWindow[] {
  const found = new Map<string, ExpectationWindow>();
  const folds = new Map<string, OrderFold>();
  for (const { fact } of events) {
    if (fact.kind !== "order_snapshot" || fact.orderId === null) continue;
    const { orderId } = fact;
    const before = folds.get(orderId) ?? orders.get(orderId)?.fold ??
      initialOrderFold(orderId);
    const after = evolveOrder(before, fact);
    folds.set(orderId, after);
    const window = expectationWindow(after);
    if (window === null || sameWindow(window, expectationWindow(before))) {
      continue;
    }
    found.set(Object.values(window).join(" "), window);
  }
  return [...found.values()];
}

/** What is expected, and the orders that new terms or rules may concern. */
export interface Joined {
  readonly expectations: readonly Expectation[];
  readonly linkedOrders: ReadonlyMap<string, readonly string[]>;
  readonly successes: readonly string[];
}

export const NOTHING_JOINED: Joined = {
  expectations: [],
  linkedOrders: new Map(),
  successes: [],
};

export interface LoadOptions {
  readonly driver: Driver;
  readonly mode: Mode;
  readonly hash: LookupHash;
  readonly readFact: (event: RecordedEvent) => Fact;
}

/**
 * Reads what is expected of the orders of a batch, and adds the orders that the
 * batch's terms and rules may concern.
 */
export async function loadJoined(
  events: readonly BatchEvent[],
  { orders, asked }: {
    readonly orders: Map<string, Row<OrderFold>>;
    readonly asked: Asked;
  },
  { driver, mode, hash, readFact }: LoadOptions,
): Promise<Joined> {
  const windows = movedWindows(events, orders);
  const links = [...asked.links].map(
    ([key, { kind, link, askedAt, validUntil }]) => [
      hash.of(kind, link),
      key,
      msOf(firstOrderAfter(askedAt)) ?? 0,
      kind === "click" ? hash.of("asked_click", link) : null,
      msOf(validUntil) ?? 0,
    ],
  );
  const found = await driver.batch([
    selectExpected(hash, windows),
    selectLaterTerms(hash, asked.terms),
    { sql: LINKED, args: [JSON.stringify(links)] },
    selectSuccesses([...asked.rulesFrom]),
  ], mode);
  const [expected, later, linked, successes] = found.map(({ rows }) => rows);
  addOrderRows(orders, successes);
  addOrderRows(orders, linked?.map((row) => row.slice(1)));
  const linkedOrders = new Map<string, string[]>();
  for (const [key, , id] of linked ?? []) {
    const ids = linkedOrders.get(String(key)) ?? [];
    linkedOrders.set(String(key), [...ids, String(id)]);
  }
  return {
    expectations: eventsOf([...expected ?? [], ...later ?? []]).map(readFact)
      .filter(isExpectation).map(({ expectation }) => expectation),
    linkedOrders,
    successes: (successes ?? []).map(([, id]) => String(id)),
  };
}

/**
 * Orders that the service has shown under a link. By its click id what is asked for
 * concerns no order that was there long before, unless something without a reference
 * was asked for then, of which it may be later terms; nor one of which as many
 * candidates expire earlier as an order keeps.
 */
const LINKED = `SELECT w.value ->> 1, o.no, o.id, o.historic, o.told, o.fold
  FROM json_each(?1) AS w
  CROSS JOIN lookup AS l ON l.hash = w.value ->> 0 AND l.shown = 1
  CROSS JOIN orders AS o ON o.no = l.no
  WHERE w.value ->> 3 IS NULL OR (
    (o.began >= w.value ->> 2 OR EXISTS (
      SELECT 1 FROM expected AS k WHERE k.click = w.value ->> 3
        AND k.reference IS NULL AND k.valid_until >= o.began
        AND k.asked_at <= o.began + 360000))
    AND NOT EXISTS (
      SELECT 1 FROM expected AS k WHERE k.click = w.value ->> 3
        AND k.valid_until >= o.began AND k.valid_until < w.value ->> 4
        AND k.asked_at <= o.began
      ORDER BY k.valid_until LIMIT 1 OFFSET ${CANDIDATES_KEPT - 1}))`;

function selectSuccesses(times: readonly string[]): Statement {
  const since = times.length === 0
    ? null
    : Math.min(...times.map((time) => msOf(time) ?? 0));
  return selectOrderRows(
    "?1 IS NOT NULL AND o.status = 'success' AND o.began >= ?1",
    since,
  );
}

/** Reads what was logged of releases, and who holds the purchases of a batch. */
export async function loadReleases(
  collected: readonly Collected[],
  { orders, key }: {
    readonly orders: Map<string, Row<OrderFold>>;
    readonly key: Uint8Array;
  },
  { driver, mode }: Pick<LoadOptions, "driver" | "mode">,
): Promise<KnownReleases> {
  const digestOf: KnownReleases["digestOf"] = (purchase) =>
    purchaseDigest(key, purchase);
  const digests = new Set<string>();
  let isMoved = false;
  for (const one of collected) {
    if ("now" in one && one.now.release === "yes" && one.now.purchase) {
      digests.add(digestOf(one.now.purchase));
    } else if ("took" in one) {
      isMoved = true;
      for (const purchase of [one.gave, one.took]) {
        if (purchase !== null) digests.add(digestOf(purchase));
      }
    }
  }
  const held = digests.size === 0
    ? []
    : await readPurchases(driver, mode, [...digests]);
  const purchases = new Map<string, Purchase>();
  for (const { name, id, role } of held) {
    const one = purchases.get(name) ?? { own: null, hands: [] };
    if (role === ROLES.own) purchases.set(name, { ...one, own: id });
    if (role === ROLES.hand) {
      purchases.set(name, { ...one, hands: [...one.hands, id] });
    }
  }
  if (!isMoved) return { purchases, digestOf, orders: toldReleases(orders) };
  const [rows] = await driver.batch([
    selectOrderRows(
      "o.id IN (SELECT value FROM json_each(?))",
      listed(held.map(({ id }) => id)),
    ),
  ], mode);
  addOrderRows(orders, rows?.rows);
  return { purchases, digestOf, orders: toldReleases(orders) };
}

function toldReleases(orders: ReadonlyMap<string, Row<OrderFold>>) {
  return new Map(
    [...orders].flatMap(([id, { told }]) =>
      told.release === undefined ? [] : [[id, told.release] as const]
    ),
  );
}

/** What a row of `purchases` says of an order, in its column `held`. */
export const ROLES = { wait: 0, own: 1, hand: 2 } as const;

interface PurchaseRow {
  readonly name: string;
  readonly id: string;
  readonly role: number;
}

/** All that have taken purchases or wait for them, those that took last last. */
async function readPurchases(
  driver: Driver,
  mode: Mode,
  digests: readonly string[],
): Promise<PurchaseRow[]> {
  const [found] = await driver.batch([{
    sql: `SELECT p.name, o.id, p.held FROM purchases AS p
      JOIN orders AS o ON o.no = p.no
      WHERE p.name IN (SELECT unhex(value) FROM json_each(?1))
      ORDER BY p.since`,
    args: [listed(digests)],
  }], mode);
  return (found?.rows ?? []).map(([name, id, role]) => ({
    name: hexOf(name as Uint8Array),
    id: String(id),
    role: Number(role),
  }));
}
