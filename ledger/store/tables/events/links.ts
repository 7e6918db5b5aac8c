import { CANDIDATES_KEPT } from "../../../events/expectation.ts";
import type { FactLink, Link } from "../../../events/links.ts";
import type { Statement } from "../../driver/driver.ts";

/**
 * Which sessions, click ids, external ids and references lead to an order. Of
 * click ids and references also when the order was there at the latest, so that
 * an expectation finds the orders after it without reading all that share its
 * click id. `confirmed` is 1 where the service has shown it: otherwise only
 * webhooks name the order with it. Searches ignore the case of a link.
 */
export const linksSchema: readonly string[] = [
  `CREATE TABLE order_links (
    generation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    link TEXT NOT NULL,
    began_by TEXT NOT NULL,
    order_id TEXT NOT NULL,
    confirmed INTEGER NOT NULL,
    PRIMARY KEY (generation, kind, link, began_by, order_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX order_links_by_text
    ON order_links(generation, kind, link COLLATE NOCASE, confirmed)`,
];

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
  /** Orders that were there before this are passed over. */
  readonly beganBy: string;
}

/** Stores links to orders, each once; what was confirmed stays confirmed. */
export function insertOrderLinks(
  generation: number,
  links: readonly OrderLink[],
): Statement {
  const rows = links.map(({ kind, link, beganBy, orderId, confirmed }) => [
    kind,
    link,
    beganBy,
    orderId,
    confirmed ? 1 : 0,
  ]);
  return {
    sql: `INSERT INTO order_links
        (generation, kind, link, began_by, order_id, confirmed)
      SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3,
        value ->> 4
      FROM json_each(?2) WHERE true
      ON CONFLICT (generation, kind, link, began_by, order_id)
      DO UPDATE SET confirmed = 1
      WHERE excluded.confirmed = 1 AND order_links.confirmed = 0`,
    args: [generation, JSON.stringify(rows)],
  };
}

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
 * What was asked for concerns no order that was there long before it. By its
 * click id it concerns none of which as many candidates are known that expire
 * earlier as an order keeps.
 */
const linkedOrdersSql =
  `SELECT l.kind, l.link, o.order_id, o.fold FROM json_each(?2) AS w
  CROSS JOIN order_links AS l ON l.generation = ?1
    AND l.kind = w.value ->> 0 AND l.link = w.value ->> 1
    AND l.began_by >= w.value ->> 3
  CROSS JOIN orders AS o ON o.generation = ?1 AND o.order_id = l.order_id
  WHERE w.value ->> 0 <> 'click' OR NOT EXISTS (
    SELECT 1 FROM expectations AS k
    WHERE k.generation = ?1 AND k.click_id = w.value ->> 1
      AND k.valid_until >= l.began_by AND k.valid_until < w.value ->> 2
      AND k.asked_at <= l.began_by
    ORDER BY k.valid_until LIMIT 1 OFFSET ${CANDIDATES_KEPT - 1})`;
