/** Orders that wait for a person. */
import { jsonBytes } from "../../core/bytes.ts";
import { attentionOf } from "../attention/attention.ts";
import {
  ATTENTION_KINDS,
  type AttentionKind,
} from "../outcomes/attention_kind.ts";
import type { Driver } from "../store/driver/driver.ts";
import { selectValue } from "../store/database.ts";
import { timeOf } from "../store/events.ts";
import type { Orders, OrderView } from "./orders.ts";
import {
  decodeCursor,
  encodeCursor,
  MOST_PAGE_BYTES,
  type PageQuery,
  pageSize,
  readAll,
  wrongCursor,
} from "./pages.ts";

/** An order that waits for a person. */
export interface AttentionItem {
  /** Why, the gravest first; never empty. */
  readonly kinds: readonly [AttentionKind, ...AttentionKind[]];
  /** The order. */
  readonly order: OrderView;
}

/** Which orders that wait for a person to read. */
export interface AttentionQuery extends Pick<PageQuery, "after" | "limit"> {
  /** Only those that wait for this reason, whatever else they wait for. */
  readonly kind?: AttentionKind;
}

/**
 * One page of the orders that wait for a person, each once: those with the gravest
 * reason first, and of one reason the oldest first.
 */
export async function readAttentionPage(
  orders: Orders,
  nowMs: number,
  { kind: only, after: cursor, limit }: AttentionQuery,
): Promise<{ items: AttentionItem[]; next: string | null }> {
  const kinds = only === undefined ? ATTENTION_KINDS : [only];
  const size = pageSize(limit);
  let [after, begun] = cursor === undefined
    ? ["", kinds[0]]
    : decodeCursor(cursor);
  let place = kinds.findIndex((kind) => kind === begun);
  if (place < 0) throw wrongCursor(cursor ?? "");
  const items: AttentionItem[] = [];
  let bytes = 0;
  let kind = kinds[place];
  // Another page of orders could be too much for this one.
  while (
    kind !== undefined && items.length < size && bytes <= MOST_PAGE_BYTES / 4
  ) {
    // Never more than are still wanted, so that the cursor is the last one's.
    const page = await orders.page({
      ...{ attention: kind, stuckAtMs: nowMs, sort: "oldest" },
      ...{ limit: size - items.length, ...after !== "" && { after } },
    });
    for (const order of page.orders) {
      const [first, ...others] = attentionOf(order, nowMs);
      if (first === undefined || (first !== kind && only === undefined)) {
        continue;
      }
      items.push({ kinds: [first, ...others], order });
      bytes += jsonBytes(order);
    }
    after = page.next ?? "";
    if (after === "") kind = kinds[++place];
  }
  const next = kind === undefined ? null : encodeCursor(after, kind);
  return { items, next };
}

/** Walks over all of them, page by page. */
export function listAttention(
  orders: Orders,
  nowMs: number,
  kind?: AttentionKind,
): AsyncGenerator<AttentionItem> {
  // Few pages: each sorts anew what waits for time alone.
  const query: AttentionQuery = { limit: 1000, ...kind && { kind } };
  return readAll(query, (page) => readAttentionPage(orders, nowMs, page));
}

/**
 * Since when orders have succeeded in a ledger that never recorded an
 * expectation, UTC ISO 8601; null where orders are compared, or none has succeeded
 * since the ledger went live. None of its orders can be compared, and none of them
 * waits for a person.
 */
export async function uncheckedSince(driver: Driver): Promise<string | null> {
  // What was created before the ledger went live was not released by it.
  return timeOf(
    await selectValue(
      driver,
      `SELECT at FROM orders
      WHERE release = 'unchecked' AND NOT EXISTS (SELECT 1 FROM expected)
        AND at >= coalesce((SELECT live_from FROM ledger), 0)
      ORDER BY at LIMIT 1`,
    ),
  );
}
