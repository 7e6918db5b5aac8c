/** What the partner asked for, found by click id, reference and session. */
import {
  askedAtOf,
  CANDIDATES_KEPT,
  type Expectation,
  type ExpectationWindow,
  type PurchaseName,
  validUntil,
} from "../events/expectation.ts";
import type { Fact } from "../events/fact.ts";
import { expectationWindow, sameWindow } from "../orders/expectations.ts";
import { evolveOrder, type OrderFold } from "../orders/order_fold.ts";
import type { SqlValue, Statement } from "../store/driver/driver.ts";
import { EVENT_COLUMNS, msOf } from "../store/events.ts";
import type { LookupHash } from "./lookup_hash.ts";

/** Later than any time: a time that cannot be read never expires. */
const NEVER_MS = 8.64e15;

export function insertExpected(
  hash: LookupHash,
  { position, expectation }: {
    readonly position: number;
    readonly expectation: Expectation;
  },
): Statement {
  const { clickId, reference, sessionId } = expectation;
  const args: SqlValue[] = [
    position,
    clickId === null ? null : hash.of("asked_click", clickId),
    reference === null ? null : hash.of("asked_reference", reference),
    sessionId === null ? null : hash.of("session", sessionId),
    msOf(askedAtOf(expectation)) ?? 0,
    msOf(validUntil(expectation)) ?? NEVER_MS,
  ];
  return {
    sql:
      "INSERT INTO expected VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    args,
  };
}

/** Where terms of an order are looked for: wherever one of its readings moves that. */
export function windowsOf(
  before: OrderFold,
  facts: readonly Fact[],
): ExpectationWindow[] {
  let fold = before;
  return facts.flatMap((fact) => {
    if (fact.kind !== "order_snapshot") return [];
    const last = expectationWindow(fold);
    fold = evolveOrder(fold, fact);
    const window = expectationWindow(fold);
    return window === null || sameWindow(window, last) ? [] : [window];
  });
}

/** How many are read where those count as well that counted before. */
const MOST_EARLIER = 200;

/**
 * Selects the events of what may be expected of orders: of a click id those that
 * expire first, and the latest terms of their references.
 */
export function selectExpected(
  hash: LookupHash,
  windows: readonly ExpectationWindow[],
  { earlier = false }: { readonly earlier?: boolean } = {},
): Statement {
  const rows = windows.map(({ clickId, from, until, termsUntil }) => [
    hash.of("asked_click", clickId),
    msOf(from) ?? 0,
    msOf(until) ?? NEVER_MS,
    msOf(termsUntil) ?? NEVER_MS,
  ]);
  return {
    sql: `SELECT ${EVENT_COLUMNS} FROM events AS e WHERE e.position IN (${
      positions(
        earlier ? MOST_EARLIER : CANDIDATES_KEPT,
        earlier ? MOST_EARLIER : 1,
      )
    }) ORDER BY e.position`,
    args: [JSON.stringify(rows)],
  };
}

const positions = (candidates: number, terms: number) =>
  `WITH w AS MATERIALIZED (
      SELECT value ->> 0 AS click, value ->> 1 AS start, value ->> 2 AS until,
        value ->> 3 AS terms_until
      FROM json_each(?1)),
    c AS MATERIALIZED (
      SELECT x.position, x.reference, x.click, w.terms_until FROM w CROSS JOIN expected AS x
      ON x.click = w.click AND x.valid_until >= w.start
        AND x.valid_until <= coalesce((
          SELECT k.valid_until FROM expected AS k
          WHERE k.click = w.click AND k.valid_until >= w.start
            AND k.asked_at <= w.until
          ORDER BY k.valid_until LIMIT 1 OFFSET ${candidates - 1}), ${NEVER_MS})
        AND x.asked_at <= w.until)
    SELECT position FROM c
    ${latest("reference", "reference IS NOT NULL", terms)}
    ${latest("click", "reference IS NULL", terms)}`;

/** The latest terms of the purchases that are candidates. */
const latest = (name: string, is: string, terms: number) =>
  `UNION SELECT t.position
    FROM (SELECT DISTINCT ${name}, terms_until FROM c WHERE ${is}) AS c
    CROSS JOIN expected AS t ON t.${name} = c.${name} AND t.${is}
      AND t.asked_at <= c.terms_until AND t.asked_at >= coalesce((
        SELECT k.asked_at FROM expected AS k
        WHERE k.${name} = c.${name} AND k.${is} AND k.asked_at <= c.terms_until
        ORDER BY k.asked_at DESC LIMIT 1 OFFSET ${terms - 1}), 0)`;

export interface LaterTerms extends PurchaseName {
  /** When they were asked for at the earliest, UTC ISO 8601. */
  readonly askedAt: string;
}

export function selectLaterTerms(
  hash: LookupHash,
  purchases: readonly LaterTerms[],
): Statement {
  const rows = purchases.map(({ kind, name, askedAt }) => [
    hash.of(kind === "click" ? "asked_click" : "asked_reference", name),
    msOf(askedAt) ?? 0,
    kind,
  ]);
  const asked = (column: string, kind: string) =>
    `SELECT x.position FROM json_each(?1) AS w CROSS JOIN expected AS x
      ON x.${column} = w.value ->> 0 AND x.asked_at >= w.value ->> 1
      WHERE w.value ->> 2 = '${kind}'`;
  return {
    sql: `SELECT ${EVENT_COLUMNS} FROM events AS e WHERE e.position IN (
      ${asked("reference", "reference")}
      UNION ${asked("click", "click")} AND x.reference IS NULL)`,
    args: [JSON.stringify(rows)],
  };
}
