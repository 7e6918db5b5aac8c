import {
  askedAtOf,
  CANDIDATES_KEPT,
  type Expectation,
  type ExpectationWindow,
  type PurchaseName,
  validUntil,
} from "../../../events/expectation.ts";
import type { Statement } from "../../driver/driver.ts";
import { liveGeneration } from "../checkpoints.ts";
import { Columns, plain } from "../columns.ts";
import { EVENTS } from "./event_rows.ts";

/**
 * What the partner expects, as far as an order finds it: under which click id,
 * under which reference, and for how long. By session id an erasure finds it.
 */
export const expectationsSchema: readonly string[] = [
  `CREATE TABLE expectations (
    generation INTEGER NOT NULL,
    position INTEGER NOT NULL,
    click_id TEXT,
    reference TEXT,
    session_id TEXT,
    asked_at TEXT NOT NULL,
    valid_until TEXT NOT NULL,
    PRIMARY KEY (generation, position)
  ) STRICT, WITHOUT ROWID`,
  // By when they expire: an order passes over those that expired before it.
  `CREATE INDEX expectations_by_click
    ON expectations(generation, click_id, valid_until, asked_at)`,
  `CREATE INDEX expectations_by_reference
    ON expectations(generation, reference, asked_at)`,
  `CREATE INDEX expectations_by_session
    ON expectations(generation, session_id)`,
];

/** An expectation, and where it was recorded. */
export interface ExpectationRow {
  /** Position of its event. */
  readonly position: number;
  /** What the partner expects. */
  readonly expectation: Expectation;
}

/** An expectation as it is stored. */
interface StoredExpectation {
  readonly position: number;
  readonly clickId: string | null;
  readonly reference: string | null;
  readonly sessionId: string | null;
  readonly askedAt: string;
  readonly validUntil: string;
}

const EXPECTATIONS = new Columns<StoredExpectation>({
  position: ["position", plain()],
  clickId: ["click_id", plain()],
  reference: ["reference", plain()],
  sessionId: ["session_id", plain()],
  askedAt: ["asked_at", plain()],
  validUntil: ["valid_until", plain()],
});

/** Stores expectations, each once. */
export function insertExpectations(
  generation: number,
  rows: readonly ExpectationRow[],
): Statement {
  const values = rows.map(({ position, expectation }) =>
    EXPECTATIONS.write({
      ...expectation,
      position,
      askedAt: askedAtOf(expectation),
      validUntil: validUntil(expectation),
    })
  );
  return {
    sql: `INSERT INTO expectations (generation, ${EXPECTATIONS.list()})
      SELECT ?1, ${EXPECTATIONS.values}
      FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`,
    args: [generation, JSON.stringify(values)],
  };
}

/** Selects whether any expectation was folded. */
export const selectAnyExpectation: Statement = {
  sql: "SELECT EXISTS (SELECT 1 FROM expectations)",
  args: [],
};

/** How to look for expectations. */
export interface SelectExpectationsOptions {
  /** Which states. @default the live ones */
  readonly generation?: number;
  /**
   * Whether those are read as well that do not count now but did before: up to
   * 200 of a click id, and of each reference. @default false
   */
  readonly earlier?: boolean;
}

/** How many are read where those count as well that counted before. */
const MOST_EARLIER = 200;

/**
 * Selects the events of expectations: of each click id the first to expire, as
 * many as an order keeps, and of their references the latest terms.
 *
 * @param windows Where to look.
 */
export function selectExpectations(
  windows: readonly ExpectationWindow[],
  options: SelectExpectationsOptions = {},
): Statement {
  return {
    sql: `SELECT ${EVENTS.list("e")} FROM events AS e WHERE e.position IN (${
      positionsSql(options)
    })`,
    args: [windowRows(windows)],
  };
}

/** Selects positions of the same. */
export function selectExpectationPositions(
  windows: readonly ExpectationWindow[],
  options: SelectExpectationsOptions = {},
): Statement {
  return {
    sql: positionsSql(options),
    args: [windowRows(windows)],
  };
}

/** Selects positions of expectations by click id, session id and reference. */
export function selectPositionsOfLinks(
  links: readonly (readonly [kind: string, link: string])[],
): Statement {
  const of = (kind: "click" | "session" | "reference") =>
    JSON.stringify(links.flatMap(([one, link]) => one === kind ? [link] : []));
  const found = (column: string, list: number) =>
    `SELECT x.position FROM json_each(?${list}) AS w
      CROSS JOIN expectations AS x ON x.generation = ${liveGeneration}
        AND x.${column} = w.value`;
  return {
    sql: `${found("click_id", 1)} UNION ${found("session_id", 2)}
      UNION ${found("reference", 3)}`,
    args: [of("click"), of("session"), of("reference")],
  };
}

/** Terms of a purchase from a time on. */
export interface LaterTerms extends PurchaseName {
  /** When they were asked for at the earliest, UTC ISO 8601. */
  readonly askedAt: string;
}

/**
 * Selects the events of what was asked for of purchases at a time or later.
 *
 * @param generation Which states.
 * @param purchases The purchases.
 */
export function selectLaterTerms(
  generation: number,
  purchases: readonly LaterTerms[],
): Statement {
  const of = (kind: PurchaseName["kind"]) =>
    JSON.stringify(
      purchases.filter((one) => one.kind === kind)
        .map(({ name, askedAt }) => [name, askedAt]),
    );
  return {
    sql: `SELECT ${EVENTS.list("e")} FROM json_each(?2) AS w
      CROSS JOIN expectations AS x ON x.generation = ?1
        AND x.reference = w.value ->> 0 AND x.asked_at >= w.value ->> 1
      CROSS JOIN events AS e ON e.position = x.position
      UNION SELECT ${EVENTS.list("e")} FROM json_each(?3) AS w
      CROSS JOIN expectations AS x ON x.generation = ?1
        AND x.click_id = w.value ->> 0 AND x.reference IS NULL
        AND x.asked_at >= w.value ->> 1
      CROSS JOIN events AS e ON e.position = x.position`,
    args: [generation, of("reference"), of("click")],
  };
}

/**
 * Selects the event of one expectation that holds a click id for another
 * reference at the same time; none where there is no such.
 */
export function selectExpectationsOfClick(
  { clickId, reference, from, until }: {
    readonly clickId: string;
    readonly reference: string | null;
    readonly from: string;
    readonly until: string;
  },
): Statement {
  return {
    sql: `SELECT ${EVENTS.list("e")} FROM expectations AS x
      CROSS JOIN events AS e ON e.position = x.position
      WHERE x.generation = ${liveGeneration} AND x.click_id = ?1
        AND x.valid_until >= ?2 AND x.asked_at <= ?3
        AND x.reference IS NOT ?4
      ORDER BY x.valid_until LIMIT 1`,
    args: [clickId, from, until, reference],
  };
}

/** Selects the events of expectations of a click id that are not folded yet. */
export function selectUnfoldedExpectations(clickId: string): Statement {
  return {
    // The second condition is that of the index.
    sql: `SELECT ${EVENTS.list("e")} FROM events AS e
      WHERE e.kind IN ('session_created', 'order_expected')
        AND e.kind <> 'webhook' AND e.click_id = ?1
        AND e.position > coalesce(
          (SELECT position FROM projections WHERE name = 'live'), 0)`,
    args: [clickId],
  };
}

function windowRows(windows: readonly ExpectationWindow[]): string {
  return JSON.stringify(
    windows.map((
      { clickId, from, until, termsUntil },
    ) => [clickId, from, until, termsUntil]),
  );
}

/**
 * CROSS JOIN keeps SQLite from walking the larger table first. Several that
 * expire at one moment, or were asked for at one moment, are all read: the fold
 * decides among them.
 */
function positionsSql(
  { generation, earlier = false }: SelectExpectationsOptions,
): string {
  const of = generation ?? liveGeneration;
  const candidates = earlier ? MOST_EARLIER : CANDIDATES_KEPT;
  const terms = earlier ? MOST_EARLIER : 1;
  return `WITH
    w AS MATERIALIZED (
      SELECT value ->> 0 AS click_id, value ->> 1 AS start,
        value ->> 2 AS until, value ->> 3 AS terms_until
      FROM json_each(?1)),
    c AS MATERIALIZED (
      SELECT x.position, x.reference, w.click_id, w.terms_until
      FROM w CROSS JOIN expectations AS x ON x.generation = ${of}
        AND x.click_id = w.click_id AND x.valid_until >= w.start
        AND x.valid_until <= coalesce((
          SELECT k.valid_until FROM expectations AS k
          WHERE k.generation = ${of} AND k.click_id = w.click_id
            AND k.valid_until >= w.start AND k.asked_at <= w.until
          ORDER BY k.valid_until LIMIT 1 OFFSET ${candidates - 1}), '~')
        AND x.asked_at <= w.until)
    SELECT position FROM c
    UNION SELECT t.position
      FROM (SELECT DISTINCT reference, terms_until FROM c) AS c
      CROSS JOIN expectations AS t ON t.generation = ${of}
        AND t.reference = c.reference AND t.asked_at <= c.terms_until
        AND t.asked_at >= coalesce((
          SELECT k.asked_at FROM expectations AS k
          WHERE k.generation = ${of} AND k.reference = c.reference
            AND k.asked_at <= c.terms_until
          ORDER BY k.asked_at DESC LIMIT 1 OFFSET ${terms - 1}), '')
    UNION SELECT t.position
      FROM (SELECT DISTINCT click_id, terms_until FROM c
        WHERE reference IS NULL) AS c
      CROSS JOIN expectations AS t ON t.generation = ${of}
        AND t.click_id = c.click_id AND t.reference IS NULL
        AND t.asked_at <= c.terms_until
        AND t.asked_at >= coalesce((
          SELECT k.asked_at FROM expectations AS k
          WHERE k.generation = ${of} AND k.click_id = c.click_id
            AND k.reference IS NULL AND k.asked_at <= c.terms_until
          ORDER BY k.asked_at DESC LIMIT 1 OFFSET ${terms - 1}), '')`;
}

/** Selects the event that says what a person recorded last of an order. */
export function selectHandReleaseEvent(orderId: string): Statement {
  return {
    // The second condition is that of the index.
    sql: `SELECT ${EVENTS.list("e")} FROM events AS e
      WHERE e.kind = 'order_released' AND e.kind <> 'webhook'
        AND e.order_id = ? ORDER BY e.recorded_at DESC, e.event_id DESC LIMIT 1`,
    args: [orderId],
  };
}

/** Selects whether terms were ever recorded under a reference: 1 or 0. */
export function selectAnyTerms(reference: string | null): Statement {
  return {
    sql: `SELECT EXISTS (SELECT 1 FROM expectations
      WHERE generation = ${liveGeneration} AND reference = ?)`,
    args: [reference],
  };
}
