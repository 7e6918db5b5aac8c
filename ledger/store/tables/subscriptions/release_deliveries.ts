import type { ReleaseEntry, Transition } from "../../../machines/transition.ts";
import type { ResultSet, Statement } from "../../driver/driver.ts";
import { transitionOf, TRANSITIONS } from "../transitions.ts";

/**
 * What became of the `yes` of an order at a subscription. `begun` is 1 once the
 * handler was called with it. `state`: `begun`; `taken` by the handler; or
 * `parked`, because the release was withdrawn before the handler was called.
 */
export const releaseDeliveriesSchema: readonly string[] = [
  `CREATE TABLE release_deliveries (
    subscription TEXT NOT NULL,
    order_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL,
    begun INTEGER NOT NULL,
    PRIMARY KEY (subscription, order_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX release_deliveries_by_order ON release_deliveries(order_id)
    WHERE begun = 1`,
];

/** What became of the `yes` of an order at a subscription. */
export interface ReleaseDelivery {
  /** The `yes`; null where the log has it no more. */
  readonly yes: Transition | null;
  /** Where it stands. */
  readonly state: "begun" | "taken" | "parked";
  /** Whether the handler was ever called with it. */
  readonly begun: boolean;
}

const RELEASED: readonly ReleaseEntry[] = ["yes", "restored"];

/** Whether an order is released by the last entry of its log. */
const isReleased = (orderId: string): string =>
  `(SELECT l.status FROM transitions AS l WHERE l.entity = 'order'
      AND l.entity_id = ${orderId} AND l.machine = 'release'
    ORDER BY l.seq DESC LIMIT 1) IN (${
    RELEASED.map((entry) => `'${entry}'`).join(", ")
  })`;

/**
 * Marks each `yes` as begun if its order is still released, else as parked. One
 * statement, so that no withdrawal comes between the look and the mark.
 *
 * @param subscription Name of the subscription.
 * @param releases Orders, and the place of their `yes` in the log.
 */
export function beginReleases(
  subscription: string,
  releases: readonly { readonly orderId: string; readonly seq: number }[],
): Statement {
  return {
    sql: `INSERT INTO release_deliveries
        (subscription, order_id, seq, state, begun)
      SELECT ?1, orderId, seq,
        CASE released WHEN 1 THEN 'begun' ELSE 'parked' END, released
      FROM (SELECT w.value ->> 'orderId' AS orderId, w.value ->> 'seq' AS seq,
          coalesce(${isReleased("w.value ->> 'orderId'")}, 0) AS released
        FROM json_each(?2) AS w)
      WHERE true ON CONFLICT (subscription, order_id) DO UPDATE SET
        seq = excluded.seq, state = excluded.state,
        begun = max(begun, excluded.begun)`,
    args: [subscription, JSON.stringify(releases)],
  };
}

/** The statement that marks releases as taken by the handler. */
export function takeReleases(
  subscription: string,
  orderIds: readonly string[],
): Statement {
  return {
    sql: `UPDATE release_deliveries SET state = 'taken'
      WHERE subscription = ?1
        AND order_id IN (SELECT value FROM json_each(?2))`,
    args: [subscription, JSON.stringify(orderIds)],
  };
}

/**
 * Selects what became of the `yes` of orders.
 *
 * @param subscription Name of the subscription.
 * @param orderIds The orders.
 */
export function selectReleaseDeliveries(
  subscription: string,
  orderIds: readonly string[],
): Statement {
  return {
    sql: `SELECT d.order_id, d.state, d.begun, ${TRANSITIONS.list("t")}
      FROM json_each(?2) AS w CROSS JOIN release_deliveries AS d
        ON d.subscription = ?1 AND d.order_id = w.value
      LEFT JOIN transitions AS t ON t.seq = d.seq`,
    args: [subscription, JSON.stringify(orderIds)],
  };
}

/** Reads the answer of {@linkcode selectReleaseDeliveries}, by order. */
export function releaseDeliveriesOf(
  result: ResultSet | undefined,
): Map<string, ReleaseDelivery> {
  return new Map(
    result?.rows.map(([orderId, state, begun, ...yes]) => [
      orderId as string,
      {
        state: state as ReleaseDelivery["state"],
        begun: begun === 1,
        yes: yes[TRANSITIONS.at.seq] === null ? null : transitionOf(yes),
      },
    ]),
  );
}

/**
 * Selects which receiver was called with the `yes` of an order, and when that was
 * entered; no row where none was.
 */
export function selectBegunRelease(orderId: string): Statement {
  return {
    sql: `SELECT d.subscription, t.recorded_at FROM release_deliveries AS d
      LEFT JOIN transitions AS t ON t.seq = d.seq
      WHERE d.order_id = ? AND d.begun = 1 ORDER BY d.seq, d.subscription
      LIMIT 1`,
    args: [orderId],
  };
}
