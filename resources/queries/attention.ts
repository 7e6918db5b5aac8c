import { jsonBytes } from "../../core/bytes.ts";
import {
  ATTENTION_KINDS,
  attentionOf,
  decodeCursor,
  encodeCursor,
  MOST_PAGE_BYTES,
  pageSize,
  wrongQuery,
} from "../../ledger/for_resources.ts";
import type {
  AttentionItem,
  AttentionKind,
  Ledger,
  OrderView,
} from "../../ledger/mod.ts";
import { type AttentionJson, attentionJson } from "../views/attention_view.ts";
import type { Page, PageParams } from "./page.ts";

/** Which orders that wait for a person. */
export interface AttentionParams extends PageParams {
  /** Only those that wait for this reason, whatever else they wait for. */
  readonly kind?: AttentionKind;
}

/** Where a page ends: a kind, and the cursor of its orders. */
interface AttentionEnd {
  readonly kind: AttentionKind;
  readonly after: string | undefined;
}

/**
 * One page of `attention --json`: the gravest reason first, and of one reason
 * the oldest first.
 *
 * @throws {RangeError} When cursor or limit is wrong.
 * /
 */
export async function attentionPage(
  ledger: Ledger,
  { kind: only, cursor, limit }: AttentionParams,
  nowMs: number,
): Promise<Page<AttentionJson>> {
  const kinds = only === undefined ? ATTENTION_KINDS : [only];
  const size = pageSize(limit);
  const items: AttentionItem[] = [];
  let bytes = 0;
  let end = cursor === undefined ? null : endOf(cursor);
  for (const kind of kinds.slice(end === null ? 0 : at(kinds, end.kind))) {
    let after = end?.after;
    end = null;
    for (;;) {
      // Never more than are still wanted, so that the cursor is the last one's.
      const page = await ledger.orders.page({
        attention: kind,
        stuckAtMs: nowMs,
        sort: "oldest",
        limit: size - items.length,
        ...(after === undefined ? {} : { after }),
      });
      for (const order of page.orders) {
        const item = itemOf(order, kind, only, nowMs);
        if (item === null) continue;
        items.push(item);
        bytes += jsonBytes(order);
      }
      after = page.next ?? undefined;
      // Another page of the ledger's could be too much for this one.
      if (items.length === size || bytes > MOST_PAGE_BYTES / 4) {
        return pageOf(items, nowMs, nextEnd(kinds, kind, after));
      }
      if (after === undefined) break;
    }
  }
  return pageOf(items, nowMs, null);
}

/** The order, where it belongs to this kind and to no graver one before. */
function itemOf(
  order: OrderView,
  kind: AttentionKind,
  only: AttentionKind | undefined,
  nowMs: number,
): AttentionItem | null {
  const [first, ...others] = attentionOf(order, nowMs);
  if (first === undefined) return null;
  return first === kind || (only !== undefined && others.includes(kind))
    ? { kinds: [first, ...others], order }
    : null;
}

function pageOf(
  items: readonly AttentionItem[],
  nowMs: number,
  end: AttentionEnd | null,
): Page<AttentionJson> {
  return {
    items: items.map((item) => attentionJson(item, nowMs)),
    next: end === null ? null : encodeCursor(end.after ?? "", end.kind),
  };
}

/** After the last order of a kind the next kind begins. */
function nextEnd(
  kinds: readonly AttentionKind[],
  kind: AttentionKind,
  after: string | undefined,
): AttentionEnd | null {
  if (after !== undefined) return { kind, after };
  const following = kinds[kinds.indexOf(kind) + 1];
  return following === undefined ? null : { kind: following, after };
}

function endOf(cursor: string): AttentionEnd {
  const [sortAt, id] = decodeCursor(cursor);
  const kind = ATTENTION_KINDS.find((one) => one === id);
  if (kind === undefined) throw wrongCursor(cursor);
  return { kind, after: sortAt === "" ? undefined : sortAt };
}

function at(kinds: readonly AttentionKind[], kind: AttentionKind): number {
  const index = kinds.indexOf(kind);
  if (index < 0) throw wrongCursor(kind);
  return index;
}

function wrongCursor(cursor: string): RangeError {
  return wrongQuery("cursor", cursor, '"next" of an earlier page');
}
