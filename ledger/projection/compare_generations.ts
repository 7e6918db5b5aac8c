import type { Driver, ResultSet, Statement } from "../store/driver.ts";
import {
  type Checkpoints,
  checkpointsOf,
  selectCheckpoints,
} from "./checkpoint.ts";
import { diffStates, type StateDifference } from "./state_diff.ts";
import type { Entity } from "./transition.ts";

/** An order or user whose state differs between two generations. */
export interface StateChange {
  /** Whether it is an order or a user. */
  readonly entity: Entity;
  /** Order or user identifier. */
  readonly id: string;
  /** What differs. */
  readonly fields: readonly StateDifference[];
}

/** One page of a comparison. */
export interface ComparedPage {
  /** The checkpoints, as of the same moment as the states. */
  readonly checkpoints: Checkpoints;
  /** Entities that differ. */
  readonly changes: readonly StateChange[];
  /** Last id compared; null when everything has been. */
  readonly last: string | null;
}

/**
 * Compares the states of two generations, one page of ids.
 *
 * @param driver The database.
 * @param what Which entities of which generations, after which id.
 */
export async function compareGenerations(
  driver: Driver,
  what: {
    readonly entity: Entity;
    readonly before: number;
    readonly after: number;
    readonly afterId: string;
    readonly limit?: number;
  },
): Promise<ComparedPage> {
  const { entity, afterId, limit = 1000 } = what;
  const table = entity === "order" ? "orders" : "users";
  const id = entity === "order" ? "order_id" : "user_id";
  const select = (generation: number): Statement => ({
    sql: `SELECT ${id}, state FROM ${table}
      WHERE generation = ? AND ${id} > ? ORDER BY ${id} LIMIT ?`,
    args: [generation, afterId, limit],
  });
  const [checkpoints, before, after] = await driver.batch(
    [selectCheckpoints, select(what.before), select(what.after)],
    "read",
  );
  const was = statesOf(before);
  const is = statesOf(after);
  const last = commonEnd([was, is], limit);
  const ids = new Set([...was.keys(), ...is.keys()]);
  const changes: StateChange[] = [];
  for (const id of ids) {
    if (last !== null && bytewise(id, last) > 0) continue;
    const fields = diffStates(was.get(id) ?? null, is.get(id) ?? null);
    if (fields.length > 0) changes.push({ entity, id, fields });
  }
  return { checkpoints: checkpointsOf(checkpoints), changes, last };
}

function statesOf(result: ResultSet | undefined): Map<string, string> {
  return new Map(
    result?.rows.map(([id, state]) => [id as string, state as string]),
  );
}

/** A full page ends where the shorter of both ends; past it nothing is known. */
function commonEnd(
  pages: readonly Map<string, string>[],
  limit: number,
): string | null {
  let end: string | null = null;
  for (const page of pages) {
    if (page.size < limit) continue;
    const last = [...page.keys()].at(-1) ?? "";
    if (end === null || bytewise(last, end) < 0) end = last;
  }
  return end;
}

const utf8 = new TextEncoder();

/** The order SQLite sorts text in, which is not that of JavaScript. */
function bytewise(a: string, b: string): number {
  if (a === b) return 0;
  const left = utf8.encode(a);
  const right = utf8.encode(b);
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
