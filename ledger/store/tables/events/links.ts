import { CANDIDATES_KEPT } from "../../../events/expectation.ts";
import type { FactLink, Link } from "../../../events/links.ts";
import type { Statement } from "../../driver/driver.ts";
import { isLink } from "../link_text.ts";
import { orderFoldSql, orderKeySql } from "../orders.ts";

/**
 * Which sessions, click ids, external ids and references lead to an order, named
 * by the `row` of `orders`. Of click ids and references also when the order was
 * there at the latest, so that an expectation finds the orders after it without
 * reading all that share its click id. `confirmed` is 1 where the service has
 * shown it: otherwise only webhooks name the order with it.
 *
 * Searches ignore the case of a link, so the key does as well: each link is
 * stored once, and strangers choose how long it is. `capitals` keeps links apart
 * that differ in nothing but their case; see {@linkcode capitalsOf}.
 */
export const linksSchema: readonly string[] = [
  `CREATE TABLE order_links (
    generation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    link TEXT NOT NULL,
    confirmed INTEGER NOT NULL,
    began_by TEXT NOT NULL,
    row INTEGER NOT NULL,
    capitals TEXT NOT NULL,
    PRIMARY KEY (generation, kind, link COLLATE NOCASE, confirmed, began_by, row,
      capitals)
  ) STRICT, WITHOUT ROWID`,
];

/** Capitals that one character of {@linkcode capitalsOf} tells. */
const capitalsADigit = 5;

/**
 * Which letters of a link are capitals, as far as SQLite ignores the case: texts
 * that it takes for equal are the same when their capitals are.
 *
 * @param link The link.
 * @returns Five characters of the link a digit of base 32, without the zeros
 * behind the last capital.
 */
export function capitalsOf(link: string): string {
  let digits = "";
  for (let at = 0; at < link.length; at += capitalsADigit) {
    let digit = 0;
    for (let bit = 0; bit < capitalsADigit; bit++) {
      const code = link.charCodeAt(at + bit);
      if (code >= 65 && code <= 90) digit |= 1 << bit;
    }
    digits += digit.toString(32);
  }
  return digits.replace(/0+$/, "");
}

/** A link to an order, and when the order was there at the latest. */
export interface OrderLink extends FactLink {
  /** UTC ISO 8601; empty unless it is a click id or a reference. */
  readonly beganBy: string;
  /** The order. */
  readonly orderId: string;
}

/** A link of new expectations, by which they find orders. */
export interface LinkOfExpectations extends Link {
  /** When the first of them expires, UTC ISO 8601. */
  readonly validUntil: string;
  /**
   * Orders that were there before this are passed over, but where what is asked
   * for are later terms of their purchase.
   */
  readonly beganBy: string;
}

/**
 * Stores links to orders that are stored, each once; what was confirmed stays
 * confirmed.
 *
 * @param places Places of the orders that nothing led to before. @default {none}
 */
export function insertOrderLinks(
  generation: number,
  links: readonly OrderLink[],
  places: ReadonlyMap<string, number> = new Map(),
): Statement[] {
  const rowOf = (
    { kind, link, beganBy, orderId, confirmed }: OrderLink,
  ): (string | number)[] => [
    kind,
    link,
    beganBy,
    places.get(orderId) ?? orderId,
    confirmed ? 1 : 0,
    capitalsOf(link),
  ];
  const isOfNew = ({ orderId }: OrderLink) => places.has(orderId);
  const { fresh = [], known = [] } = Object.groupBy(
    links,
    (one) => isOfNew(one) ? "fresh" : "known",
  );
  return [
    [insertFresh, fresh] as const,
    [insertLinks, known] as const,
    [deleteClaimed, known.filter(({ confirmed }) => confirmed)] as const,
  ].flatMap(([sql, of]) =>
    of.length === 0
      ? []
      : [{ sql, args: [generation, JSON.stringify(of.map(rowOf))] }]
  );
}

/** Of a new order nothing is stored that could be looked for. */
const insertFresh = `INSERT INTO order_links
    (generation, kind, link, confirmed, began_by, row, capitals)
  SELECT ?1, v ->> 0, v ->> 1, v ->> 4, v ->> 2, ${
  orderKeySql("?1", "(v ->> 3)")
}, v ->> 5
  FROM (SELECT value AS v FROM json_each(?2) LIMIT -1) WHERE true
  ON CONFLICT DO NOTHING`;

/** Links to be stored, as `w`, with the orders that they lead to, as `o`. */
const givenLinks = `(SELECT value AS v FROM json_each(?2) LIMIT -1) AS w
  CROSS JOIN orders AS o ON o.generation = ?1 AND o.order_id = w.v ->> 3`;

/** That a link `l` is one of them, but for its `confirmed` and `began_by`. */
const isGiven = `l.generation = ?1 AND l.kind = w.v ->> 0
  AND l.link = (w.v ->> 1) COLLATE NOCASE AND l.row = o.row
  AND l.capitals = w.v ->> 5`;

const insertLinks = `INSERT INTO order_links
    (generation, kind, link, confirmed, began_by, row, capitals)
  SELECT ?1, w.v ->> 0, w.v ->> 1, w.v ->> 4, w.v ->> 2, o.row, w.v ->> 5
  FROM ${givenLinks}
  WHERE NOT EXISTS (SELECT 1 FROM order_links AS l
    WHERE ${isGiven} AND l.confirmed = 1 AND l.began_by = w.v ->> 2)
  ON CONFLICT DO NOTHING`;

/** Before its first reading nobody knew when an order was there. */
const deleteClaimed = `DELETE FROM order_links
  WHERE (generation, kind, link, confirmed, began_by, row, capitals) IN (
    SELECT l.generation, l.kind, l.link, l.confirmed, l.began_by, l.row,
      l.capitals
    FROM ${givenLinks} CROSS JOIN order_links AS l ON ${isGiven}
      AND l.confirmed = 0 AND l.began_by IN ('', w.v ->> 2))`;

/** Selects the orders of links: rows of kind, link, order id and fold. */
export function selectLinkedOrders(
  generation: number,
  links: readonly LinkOfExpectations[],
): Statement {
  const rows = links.map(({ kind, link, validUntil, beganBy }) => [
    kind,
    link,
    validUntil,
    beganBy,
  ]);
  return { sql: linkedOrdersSql, args: [generation, JSON.stringify(rows)] };
}

/**
 * By its click id what was asked for concerns no order that was there long before
 * it, unless something without a reference was asked for under that click id
 * before the order: then these may be its later terms. Nor does it concern one of
 * which as many candidates are known that expire earlier as an order keeps.
 */
const linkedOrdersSql = `SELECT l.kind, l.link, o.order_id, ${orderFoldSql("o")}
  FROM json_each(?2) AS w
  CROSS JOIN order_links AS l ON l.generation = ?1
    AND l.kind = w.value ->> 0 AND ${isLink("(w.value ->> 1)")}
    AND l.confirmed IN (0, 1)
  CROSS JOIN orders AS o ON o.row = l.row
  WHERE w.value ->> 0 <> 'click' OR ((l.began_by >= w.value ->> 3 OR EXISTS (
    SELECT 1 FROM expectations AS k
    WHERE k.generation = ?1 AND k.click_id = w.value ->> 1
      AND k.reference IS NULL AND k.valid_until >= l.began_by
      AND k.asked_at <= strftime('%Y-%m-%dT%H:%M:%fZ', l.began_by, '+6 minutes')
    )) AND NOT EXISTS (
    SELECT 1 FROM expectations AS k
    WHERE k.generation = ?1 AND k.click_id = w.value ->> 1
      AND k.valid_until >= l.began_by AND k.valid_until < w.value ->> 2
      AND k.asked_at <= l.began_by
    ORDER BY k.valid_until LIMIT 1 OFFSET ${CANDIDATES_KEPT - 1}))`;
