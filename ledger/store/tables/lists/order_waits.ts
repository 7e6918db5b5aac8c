import {
  anyExpectation,
  isPaidTwice,
  withheldRelease,
} from "../order_context.ts";
import { liveGeneration } from "../checkpoints.ts";
import { FIRST_MS } from "../stored_times.ts";
import type { Condition, Range } from "./selection.ts";

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
  paid_twice: paidTwice,
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

function isWaitByMore(kind: string): kind is WaitByMore {
  return Object.hasOwn(WAITS_BY_MORE, kind);
}

function timesOf(kind: WaitByMore, times: WaitTimes): string[] {
  if (kind === "stuck") return [times.stuckSince ?? ""];
  return kind === "witness_missing" ? [times.unseenSince ?? ""] : [];
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
 * That an order waits for a person for one reason. Those that a person has
 * settled are not in `attention`.
 */
export function waitsFor(kind: string, times: WaitTimes): Condition[] {
  if (isWaitByMore(kind)) {
    return [{ sql: WAITS_BY_MORE[kind], args: timesOf(kind, times) }];
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
}

/**
 * Conditions of which one holds at most for an order, each with an index of its
 * own; none where a query asks for no orders that wait in several ways.
 */
export function waitParts(query: WaitQuery): readonly Range[] {
  if (query.attention !== "not_comparable") return [];
  return [
    { sql: isUncompared, args: [] },
    { sql: `${isStored} AND ${anyExpectation}`, args: [] },
  ];
}

/** Of several conditions one or more. */
export function anyOf(conditions: readonly Condition[]): Condition {
  return {
    sql: `(${conditions.map(({ sql }) => `(${sql})`).join(" OR ")})`,
    args: conditions.flatMap(({ args }) => args),
  };
}
