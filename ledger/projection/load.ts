/** What a step has to know of orders, users, terms and purchases. */
import type { RecordedEvent } from "../events/event.ts";
import {
  askedAtOf,
  CANDIDATES_KEPT,
  type PurchaseName,
  purchaseOf,
  validUntil,
} from "../events/expectation.ts";
import { type Fact, isExpectation, isWitnessRule } from "../events/fact.ts";
import { expectationLinks, linkKey } from "../events/links.ts";
import { firstOrderAfter } from "../orders/expectations.ts";
import { initialOrderFold, type OrderFold } from "../orders/order_fold.ts";
import {
  type KnownReleases,
  type LoggedReleases,
  type Purchase,
  purchaseDigest,
} from "../releases/release_log.ts";
import type { Statement } from "../store/driver/driver.ts";
import { listed, type Rows } from "../store/database.ts";
import { eventsOf, hexOf, msOf } from "../store/events.ts";
import type { Row } from "./doc.ts";
import { selectExpected, selectLaterTerms, windowsOf } from "./expected.ts";
import type { Guard } from "./guard.ts";
import { orderRows, selectRows, userRows } from "./rows.ts";
import type { BatchEvent, Collected, Known, KnownRows } from "./step.ts";

/** Reads in one transaction: after a lost race from the primary. */
export type Read = (statements: readonly Statement[]) => Promise<Rows[]>;

/**
 * Reads the rows that a batch names, what is expected of its orders, and the orders
 * that the batch's terms and rules may concern besides.
 */
export async function loadKnown(
  read: Read,
  events: readonly BatchEvent[],
  { anyExpected, guard: { hash }, readFact, ...batch }: {
    readonly anyExpected: boolean;
    readonly guard: Guard;
    readonly rules: readonly RecordedEvent[];
    readonly readFact: (event: RecordedEvent) => Fact;
  },
): Promise<Known> {
  const named = (which: "orderId" | "userId") =>
    listed(
      new Set(
        events.flatMap(({ event, fact }) =>
          [fact[which], event[which]].filter(Boolean)
        ),
      ),
    );
  const inList = "r.id IN (SELECT value FROM json_each(?))";
  const found = await read([
    selectRows("orders", inList, named("orderId")),
    selectRows("users", inList, named("userId")),
  ]);
  const orders = orderRows(found[0]);
  const users = userRows(found[1]);
  const rules = batch.rules.map(readFact).filter(isWitnessRule);
  const facts = events.map(({ fact }) => fact);
  const rulesFrom = facts.filter(isWitnessRule).map(({ change }) =>
    msOf(change.from) ?? 0
  );
  const asked = facts.filter(isExpectation).map((fact) => fact.expectation);
  const links = asked.flatMap((one) =>
    expectationLinks(one).map(({ kind, link }) => [
      hash.of(kind, link),
      linkKey({ kind, link }),
      msOf(firstOrderAfter(askedAtOf(one))) ?? 0,
      kind === "click" ? hash.of("asked_click", link) : null,
      msOf(validUntil(one)) ?? 0,
    ])
  );
  if (!anyExpected && links.length === 0 && rulesFrom.length === 0) {
    const linkedOrders = new Map();
    const [expectations, successes] = [[], []];
    return { orders, users, rules, expectations, linkedOrders, successes };
  }
  const own = Map.groupBy(facts, ({ orderId }) => orderId ?? "");
  own.delete("");
  const windows = [...own].flatMap(([id, facts]) =>
    windowsOf(orders.get(id)?.fold ?? initialOrderFold(id), facts)
  );
  // What was recorded before and was asked for later counts in its place.
  const terms = asked.flatMap((one) => {
    const purchase = purchaseOf(one);
    return purchase === null ? [] : [{ ...purchase, askedAt: askedAtOf(one) }];
  });
  const [expected = [], later = [], linked = [], successes = []] = await read([
    selectExpected(hash, windows),
    selectLaterTerms(hash, terms),
    { sql: LINKED, args: [JSON.stringify(links)] },
    selectRows(
      "orders",
      "?1 IS NOT NULL AND r.status = 'success' AND r.began >= ?1",
      rulesFrom.length === 0 ? null : Math.min(...rulesFrom),
    ),
  ]);
  addMissing(
    orders,
    orderRows([...linked.map((row) => row.slice(1)), ...successes]),
  );
  const linkedOrders = new Map(
    [...Map.groupBy(linked, ([key]) => String(key))]
      .map(([key, rows]) => [key, rows.map(([, , id]) => String(id))]),
  );
  return {
    ...{ orders, users, rules },
    expectations: eventsOf([...expected, ...later]).map(readFact)
      .filter(isExpectation).map(({ expectation }) => expectation),
    linkedOrders,
    successes: successes.map(([, id]) => String(id)),
  };
}

/** What is known already stays: a step may have changed it. */
function addMissing(
  orders: KnownRows["orders"],
  others: ReadonlyMap<string, Row<OrderFold>>,
): void {
  for (const [id, row] of others) if (!orders.has(id)) orders.set(id, row);
}

/**
 * Orders that the service has shown under a link. By its click id what is asked for
 * concerns no order that was there long before, unless something without a reference
 * was asked for then, of which it may be later terms; nor one of which as many
 * candidates expire earlier as an order keeps.
 */
const LINKED =
  `SELECT DISTINCT w.value ->> 1, o.no, o.id, o.historic, o.told, o.fold
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

/** What a row of `purchases` says of an order, in its column `held`. */
const ROLES = { wait: 0, own: 1, hand: 2 } as const;

/**
 * Reads what was logged of releases, and who holds the purchases of a batch; where a
 * person moved one, the rows of all that have to do with it are added.
 */
export async function loadReleases(
  read: Read,
  collected: readonly Collected[],
  { orders, key }: Pick<KnownRows, "orders"> & { readonly key: Uint8Array },
): Promise<KnownReleases> {
  const digestOf = (purchase: PurchaseName) => purchaseDigest(key, purchase);
  const isMoved = collected.some((one) => "took" in one);
  const names = collected.flatMap((one) =>
    "took" in one
      ? [one.gave, one.took]
      : "now" in one && one.now.release === "yes"
      ? [one.now.purchase]
      : []
  ).filter((purchase) => purchase !== null);
  const digests = listed(new Set(names.map(digestOf)));
  const named = "name IN (SELECT unhex(value) FROM json_each(?1))";
  const [holding, rows] = digests === "[]" ? [] : await read([
    {
      // Those that took last come last.
      sql: `SELECT p.name, o.id, p.held FROM purchases AS p
        JOIN orders AS o ON o.no = p.no WHERE p.${named} ORDER BY p.since`,
      args: [digests],
    },
    selectRows(
      "orders",
      `?2 AND r.no IN (SELECT no FROM purchases WHERE ${named})`,
      ...[digests, isMoved ? 1 : 0],
    ),
  ]);
  const purchases = new Map<string, Purchase>();
  for (const [digest, id, role] of holding ?? []) {
    const name = hexOf(digest as Uint8Array);
    const one = purchases.get(name) ?? { own: null, hands: [] };
    const order = String(id);
    if (role === ROLES.own) purchases.set(name, { ...one, own: order });
    if (role === ROLES.hand) {
      purchases.set(name, { ...one, hands: [...one.hands, order] });
    }
  }
  addMissing(orders, orderRows(rows));
  const releases = [...orders].flatMap(([id, { told: { release } }]) =>
    release === undefined ? [] : [[id, release] as const]
  );
  return { purchases, digestOf, orders: new Map(releases) };
}

export function purchaseStatements(
  { purchases, waits }: Pick<LoggedReleases, "purchases" | "waits">,
  { orders }: Pick<KnownRows, "orders">,
): Statement[] {
  const noOf = (id: string) => orders.get(id)?.no ?? null;
  const insert = (name: string, id: string, role: number, since: number) => ({
    sql: `INSERT INTO purchases (name, no, held, since)
      VALUES (unhex(?), ?, ?, ?)`,
    args: [name, noOf(id), role, since],
  });
  return [
    ...[...purchases].flatMap(([name, { own, hands }]) => [
      {
        sql: "DELETE FROM purchases WHERE name = unhex(?) AND held > 0",
        args: [name],
      },
      ...own === null ? [] : [insert(name, own, ROLES.own, 0)],
      ...hands.map((id, at) => insert(name, id, ROLES.hand, at + 1)),
    ]),
    ...[...waits].flatMap(([id, wait]) => [
      {
        sql: "DELETE FROM purchases WHERE no = ? AND held = 0",
        args: [noOf(id)],
      },
      ...wait === null
        ? []
        : [insert(wait.digest, id, ROLES.wait, wait.position)],
    ]),
  ];
}
