import type { Delivery, Ledger } from "../../ledger/mod.ts";
import { rate } from "./rounds.ts";

/**
 * Deliveries that a ledger appends in a second, for callers each of whom waits
 * for the commit of one before the next.
 *
 * @param deliveries What is appended, each once.
 * @param callers How many append at once.
 */
export async function appendRate(
  ledger: Ledger,
  deliveries: readonly Delivery[],
  callers: number,
): Promise<number> {
  const left = [...deliveries];
  return await rate(async () => {
    await Promise.all(Array.from({ length: callers }, async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        await ledger.appendDelivery(next);
      }
    }));
    return deliveries.length;
  });
}
