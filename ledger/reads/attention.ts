/** Orders that wait for a person. */
import { attentionOf } from "../attention/attention.ts";
import {
  ATTENTION_KINDS,
  type AttentionKind,
} from "../outcomes/attention_kind.ts";
import type { Driver } from "../store/driver/driver.ts";
import { select } from "../store/database.ts";
import { timeOf } from "../store/events.ts";
import type { Orders, OrderView } from "./orders.ts";

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
      // Few pages: each sorts anew what waits for time alone.
      limit: 1000,
    });
    for await (const order of found) {
      const [first, ...others] = attentionOf(order, nowMs);
      if (first === undefined) continue;
      if (first === kind || only !== undefined) {
        yield { kinds: [first, ...others], order };
      }
    }
  }
}

/**
 * Since when orders have succeeded in a ledger that never recorded an
 * expectation, UTC ISO 8601; null where orders are compared, or none has succeeded
 * since the ledger went live. None of its orders can be compared, and none of them
 * waits for a person.
 */
export async function uncheckedSince(driver: Driver): Promise<string | null> {
  // What was created before the ledger went live was not released by it.
  const [row] = await select(
    driver,
    `SELECT at FROM orders
      WHERE release = 'unchecked' AND NOT EXISTS (SELECT 1 FROM expected)
        AND at >= coalesce((SELECT live_from FROM ledger), 0)
      ORDER BY at LIMIT 1`,
  );
  return timeOf(row?.[0]);
}
