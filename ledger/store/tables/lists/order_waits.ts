import {
  anyExpectation,
  isPaidTwice,
  withheldRelease,
} from "../order_context.ts";
import { liveGeneration } from "../checkpoints.ts";
import { FIRST_MS } from "../stored_times.ts";
import { BY_ID, type Condition, type Range } from "./selection.ts";

/** When what waits for time alone began to wait, UTC ISO 8601. */
export interface WaitTimes {
  /** Paid and unchanged since then is stuck. */
  readonly stuckSince?: string;
  /** A success since then that waits for the chain is missing. */
  readonly unseenSince?: string;
}

/** Orders of which the purchase is taken by another order. */
export const paidTwice = `order_id IN (SELECT entity_id FROM transitions
  WHERE reason = 'paid_twice') AND ${isPaidTwice} = 1`;

/** That no other order holds the purchase of an order: no row is read for it. */
export const notPaidTwice = `orders.row NOT IN (SELECT orders.row FROM orders
  WHERE generation = ${liveGeneration} AND ${paidTwice})`;

/** That an order is paid and has not changed since a time. */
export const isStuck = `open = 1 AND state ->> '$.changedAt' <= ?
  AND (state ->> '$.confirmed.status' = 'pending'
    OR (state ->> '$.confirmed.status' = 'progress'
      AND state ->> '$.transferSeen'))`;

/** That a success has waited for the chain since a time. */
export const isUnseen = `release = 'wait' AND release_reason = 'witness_open'
  AND state ->> '$.changedAt' <= ?`;

/**
 * Why an order waits by what its stored state does not know: the time, other
 * orders, and what was sent.
 */
const WAITS_BY_MORE = {
  stuck: isStuck,
  witness_missing: isUnseen,
  paid_twice: `${paidTwice} AND (state ->> '$.case.reopened' = 1
    OR NOT EXISTS (SELECT 1 FROM hand_releases AS h
      WHERE h.order_id = orders.order_id))`,
  yes_withheld:
    `order_id IN (SELECT entity_id FROM transitions WHERE withheld = 1)
      AND ${withheldRelease} IS NOT NULL`,
} as const;

/** Whether the orders that wait for a reason are named by transitions of theirs. */
export function isOfTransitions(kind: string | undefined): boolean {
  return kind === "paid_twice" || kind === "yes_withheld";
}

/** A reason that no stored state knows. */
type WaitByMore = keyof typeof WAITS_BY_MORE;

const BY_MORE = Object.keys(WAITS_BY_MORE) as WaitByMore[];

function isWaitByMore(kind: string): kind is WaitByMore {
  return Object.hasOwn(WAITS_BY_MORE, kind);
}

function timesOf(kind: WaitByMore, times: WaitTimes): string[] {
  if (kind === "stuck") return [times.stuckSince ?? ""];
  return kind === "witness_missing" ? [times.unseenSince ?? ""] : [];
}

/** That who brought the case of an order where it is did not know of a reason. */
function notDealtWith(kind: string): string {
  return `instr(coalesce(state -> '$.case.reasons', ''), '"${kind}"') = 0`;
}

/** What had ended before the ledger went live was somebody else's task. */
const isListed = `NOT EXISTS (SELECT 1 FROM historic_orders AS h
  WHERE h.order_id = orders.order_id AND h.listed = 0)`;

/**
 * That an order waits for more, by what is stored, than for a record that it can
 * be compared with. Where nothing was ever recorded, nearly all wait for that
 * alone, so these and the others have an index each.
 */
const isStored = "attention IS NOT NULL AND attention <> ' not_comparable '";

/**
 * That an order waits for nothing else. No order is sorted by such a time: none
 * is read where nothing was ever recorded.
 */
const isUncompared = `attention = ' not_comparable '
  AND sort_at >= iif(${anyExpectation}, ${FIRST_MS}, ${-FIRST_MS})`;

/**
 * That an order waits for a person for one reason, and nobody closed its case
 * knowing of it. Of the reasons in `attention` such ones are left out already.
 */
export function waitsFor(kind: string, times: WaitTimes): Condition[] {
  if (isWaitByMore(kind)) {
    return [
      { sql: WAITS_BY_MORE[kind], args: timesOf(kind, times) },
      {
        sql: `(case_state IS NULL OR case_state = 'asked'
          OR ${notDealtWith(kind)})`,
        args: [],
      },
    ];
  }
  return [
    // Of what may be uncompared, the parts of the query say more.
    ...(kind === "not_comparable" ? [] : [{ sql: isStored, args: [] }]),
    { sql: isListed, args: [] },
    { sql: "instr(attention, ?) > 0", args: [` ${kind} `] },
  ];
}

/** What of a query waits for a person. */
export interface WaitQuery extends WaitTimes {
  readonly attention?: string;
  readonly case?: string;
}

/**
 * Conditions of which one holds at most for an order, each with an index of its
 * own; none where a query asks for no orders that wait in several ways.
 */
export function waitParts(query: WaitQuery): readonly Range[] {
  if (query.case === "open") return openCase(query);
  if (query.attention !== "not_comparable") return [];
  return [
    { sql: isUncompared, args: [] },
    { sql: `${isStored} AND ${anyExpectation}`, args: [] },
  ];
}

/**
 * That the case of an order stands where a person brought it: nothing waits that
 * the person did not know of.
 */
export function caseStands(state: string, times: WaitTimes): Condition[] {
  return [
    { sql: "case_state = ?", args: [state] },
    ...BY_MORE.map((kind) => ({
      sql: `(${WAITS_BY_MORE[kind]} AND ${notDealtWith(kind)}) IS NOT 1`,
      args: timesOf(kind, times),
    })),
  ];
}

/**
 * The conditions under which the case of an order is open, of which one holds
 * at most: it waits by what is stored and nobody dealt with that, or for more
 * than who dealt with it knew of.
 */
function openCase(times: WaitTimes): readonly Range[] {
  const stored = [isStored, isUncompared].map((waits): Condition => ({
    sql: `${waits} AND case_state IS NULL AND ${isListed}`,
    args: [],
  }));
  const byMore = BY_MORE.map((kind): Condition => ({
    sql: `${WAITS_BY_MORE[kind]}
      AND (case_state IS NULL OR ${notDealtWith(kind)})`,
    args: timesOf(kind, times),
  }));
  const all = [...stored, ...byMore];
  return all.flatMap((one, at): readonly Range[] => {
    const others = all.slice(0, at);
    const kind = BY_MORE[byMore.indexOf(one)];
    const alone = {
      sql: [one.sql, ...others.map(({ sql }) => `(${sql}) IS NOT 1`)]
        .join(" AND "),
      args: [one, ...others].flatMap(({ args }) => args),
    };
    // The transitions of these name the orders.
    if (isOfTransitions(kind)) return [{ ...alone, index: BY_ID }];
    // The index of what is open has one trust after the other.
    return kind === "stuck"
      ? TRUSTS.map((trust) => ({ ...alone, sql: `${trust} ${alone.sql}` }))
      : [alone];
  });
}

const TRUSTS = ["trust = 'claimed' AND", "trust = 'confirmed' AND"];

/** Of several conditions one or more. */
export function anyOf(conditions: readonly Condition[]): Condition {
  return {
    sql: `(${conditions.map(({ sql }) => `(${sql})`).join(" OR ")})`,
    args: conditions.flatMap(({ args }) => args),
  };
}
