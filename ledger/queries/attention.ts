import { attentionOf } from "../attention/attention.ts";
import {
  ATTENTION_KINDS,
  type AttentionKind,
} from "../outcomes/attention_kind.ts";
import type { Orders, OrderView } from "./orders.ts";
import type { Driver } from "../store/driver/driver.ts";
import {
  checkpointsOf,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import { selectLivePosition } from "../store/tables/lists/state_pages.ts";
import { selectUnattended } from "../store/tables/subscriptions/subscriptions.ts";
import { selectUncheckedSince } from "../store/tables/order_context.ts";
import { timeOf } from "../store/tables/stored_times.ts";

/** An order that waits for a person. */
export interface AttentionItem {
  /** Why, the gravest first; never empty. */
  readonly kinds: readonly [AttentionKind, ...AttentionKind[]];
  /** The order. */
  readonly order: OrderView;
}

/**
 * Lists the orders that wait for a person, each once: those with the gravest
 * reason first, and of one reason the oldest first.
 *
 * @param orders The orders of a ledger.
 * @param nowMs The time, in milliseconds since the epoch.
 * @param only Only orders with this reason, whatever else they wait for.
 */
export async function* listAttention(
  orders: Orders,
  nowMs: number,
  only?: AttentionKind,
): AsyncGenerator<AttentionItem> {
  for (const kind of only === undefined ? ATTENTION_KINDS : [only]) {
    const found = orders.list({
      attention: kind,
      stuckAtMs: nowMs,
      sort: "oldest",
    });
    for await (const order of found) {
      const [first, ...others] = attentionOf(order, nowMs);
      if (first === undefined) continue;
      if (first === kind || (only !== undefined && others.includes(kind))) {
        yield { kinds: [first, ...others], order };
      }
    }
  }
}

/** A subscription for which transitions wait, and to which nothing delivers. */
export interface Unattended {
  /** Name of the subscription. */
  readonly name: string;
  /** When the oldest of them was recorded, UTC ISO 8601. */
  readonly since: string;
}

/**
 * Reads which subscriptions no process delivers to, by their leases.
 *
 * @param before Only where a transition of before this waits, UTC ISO 8601.
 * @throws {LedgerError} When the database fails.
 */
export async function readUnattended(
  driver: Driver,
  before: string,
): Promise<Unattended[]> {
  const [result] = await driver.batch([selectUnattended(before)], "read");
  return (result?.rows ?? []).map(([name, since]) => ({
    name: String(name),
    since: String(since),
  }));
}

/**
 * Reads the last event that the states contain.
 *
 * @returns Its position; zero before the first fold.
 * @throws {LedgerError} When the database fails.
 */
export async function readLivePosition(driver: Driver): Promise<number> {
  const [result] = await driver.batch([selectLivePosition], "read");
  return Number(result?.rows[0]?.[0] ?? 0);
}

/**
 * Reads the version of the fold that made the states.
 *
 * @returns Null before the first fold.
 * @throws {LedgerError} When the database fails.
 */
export async function readFoldVersion(driver: Driver): Promise<number | null> {
  const [result] = await driver.batch([selectCheckpoints], "read");
  return checkpointsOf(result).live?.foldVersion ?? null;
}

/**
 * Since when orders have succeeded in a ledger that never recorded an
 * expectation. None of its orders can be compared, and none of them waits for a
 * person.
 *
 * @param driver The database of a ledger.
 * @returns When the first of them was created, UTC ISO 8601; null where orders
 * are compared, or none has succeeded since the ledger went live.
 * @throws {LedgerError} When the database fails.
 */
export async function uncheckedSince(driver: Driver): Promise<string | null> {
  const [found] = await driver.batch([selectUncheckedSince], "read");
  const sinceMs = found?.rows[0]?.[0] ?? null;
  return sinceMs === null ? null : timeOf(sinceMs);
}
