import {
  ATTENTION_KINDS,
  type AttentionKind,
  type Ledger,
} from "../../ledger/for_resources.ts";

/** Orders that wait for one reason are counted up to here. */
export const COUNTED = 50;

/** How many orders wait, and for which reason. */
export type Waiting = readonly {
  readonly kind: AttentionKind;
  readonly count: number;
}[];

/** Counts the orders that wait, up to a number that is shown as "more". */
export async function countWaiting(
  ledger: Ledger,
  nowMs: number,
): Promise<Waiting> {
  const counts = await Promise.all(ATTENTION_KINDS.map(async (kind) => {
    const { orders } = await ledger.orders.page({
      attention: kind,
      stuckAtMs: nowMs,
      limit: COUNTED + 1,
    });
    return { kind, count: orders.length };
  }));
  return counts.filter(({ count }) => count > 0);
}
