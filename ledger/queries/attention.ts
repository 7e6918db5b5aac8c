import { attentionOf } from "../attention/attention.ts";
import {
  ATTENTION_KINDS,
  type AttentionKind,
} from "../outcomes/attention_kind.ts";
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
