import { defined } from "../../core/guards.ts";
import { readAttentionPage } from "../../ledger/for_resources.ts";
import type { AttentionKind, Ledger } from "../../ledger/mod.ts";
import { type AttentionJson, attentionJson } from "../views/attention_view.ts";
import type { Page, PageParams } from "./page.ts";

/** Which orders that wait for a person. */
export interface AttentionParams extends PageParams {
  /** Only those that wait for this reason, whatever else they wait for. */
  readonly kind?: AttentionKind;
}

/**
 * One page of `attention --json`: the gravest reason first, and of one reason
 * the oldest first.
 *
 * @throws {RangeError} When cursor or limit is wrong.
 */
export async function attentionPage(
  ledger: Ledger,
  { cursor: after, ...query }: AttentionParams,
  nowMs: number,
): Promise<Page<AttentionJson>> {
  const { items, next } = await readAttentionPage(
    ledger.orders,
    nowMs,
    defined({ ...query, after }),
  );
  return { items: items.map((item) => attentionJson(item, nowMs)), next };
}
