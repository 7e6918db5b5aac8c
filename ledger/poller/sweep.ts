import type { Order } from "../../client/order.ts";
import type { Page } from "../../client/page.ts";
import { readServiceTime } from "../../client/service_time.ts";
import type { User } from "../../client/user.ts";
import type { Driver, Statement } from "../store/driver.ts";
import type { Entity } from "./observations.ts";
import type { PollClient } from "./poll_client.ts";
import type { Recorder, ServiceAnswer } from "./recorder.ts";

/** What every sweep works with. */
export interface SweepContext {
  /** Asks the service. */
  readonly client: PollClient;
  /** The ledger's database. */
  readonly driver: Driver;
  /** Writes what was read. */
  readonly recorder: Recorder;
  /** The time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Items a window should hold at most. */
  readonly itemsPerWindow: number;
  /** How far back the new sweep looks again, in milliseconds. */
  readonly overlapMs: number;
  /** Younger than this the past may still change, in milliseconds. */
  readonly settleMs: number;
  /** Ends the work. */
  readonly signal?: AbortSignal;
  /** Told of everything that was read. */
  readonly onRead: (read: SweepRead) => void;
}

/** One answer of the service, as the poller's report counts it. */
export interface SweepRead {
  /** Orders in the answer. */
  readonly orders: number;
  /** Users in the answer. */
  readonly users: number;
  /** Events that were news. */
  readonly appended: number;
}

/**
 * A sweep: yields how many requests each step made, so that the scheduler can
 * charge them and give the next turn to another.
 */
export type Sweep<Result = void> = AsyncGenerator<number, Result>;

/** Options of a call, with the signal where there is one. */
export function callOptions(
  context: SweepContext,
): { readonly signal?: AbortSignal } {
  return context.signal === undefined ? {} : { signal: context.signal };
}

/** A page of orders, to be recorded. */
export function orderAnswer(
  page: Page<Order>,
  askedAtMs: number,
): ServiceAnswer {
  return {
    sources: page.sources,
    states: page.data.map((order) => ({
      status: order.status,
      changedAt: order.changed_at ?? null,
    })),
    missing: [],
    readAt: page.readAt,
    askedAtMs,
  };
}

/** A page of users, to be recorded. */
export function userAnswer(
  page: Page<User>,
  askedAtMs: number,
): ServiceAnswer {
  return {
    sources: page.sources,
    states: [],
    missing: [],
    readAt: page.readAt,
    askedAtMs,
  };
}

/** Records a page of orders. */
export async function recordOrders(
  context: SweepContext,
  page: Page<Order>,
  askedAtMs: number,
  more: readonly Statement[] = [],
): Promise<void> {
  const answer = orderAnswer(page, askedAtMs);
  const ids = page.data.map((order) => order.order_id);
  const { appended } = await context.recorder.record("order", answer, [
    ...more,
    satisfied("order", ids, askedAtMs),
  ]);
  context.onRead({ orders: page.data.length, users: 0, appended });
}

/** Records a page of users. */
export async function recordUsers(
  context: SweepContext,
  page: Page<User>,
  askedAtMs: number,
  more: readonly Statement[] = [],
): Promise<void> {
  const answer = userAnswer(page, askedAtMs);
  const ids = page.data.map((user) => user.user_id);
  const { appended } = await context.recorder.record("user", answer, [
    ...more,
    satisfied("user", ids, askedAtMs),
  ]);
  context.onRead({ orders: 0, users: page.data.length, appended });
}

/** Clocks of endpoint and poller may differ by this much, in milliseconds. */
const clockToleranceMs = 5000;

/** Takes what was read after a webhook had named it out of the queue. */
function satisfied(
  entity: Entity,
  ids: readonly string[],
  askedAtMs: number,
): Statement {
  return {
    sql: `DELETE FROM confirm_queue
      WHERE entity = ? AND wanted_at <= ?
        AND entity_id IN (SELECT value FROM json_each(?))`,
    args: [
      entity,
      new Date(askedAtMs - clockToleranceMs).toISOString(),
      JSON.stringify(ids.filter((id) => isText(id))),
    ],
  };
}

/** Whether SQLite can hold a text; nobody waits for any other. */
function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The latest creation time on a page; null when none is stated. */
export function latestCreation(
  items: readonly { readonly created_at?: string | null }[],
): number | null {
  return items.reduce<number | null>((latest, { created_at }) => {
    const time = readServiceTime(created_at ?? "");
    return time === null ? latest : Math.max(latest ?? time, time);
  }, null);
}
