import type { AssetTable } from "../../core/assets/environment.ts";
import {
  evolveOrder,
  initialOrderFold,
  orderSnapshot,
  orderState,
  readFact,
} from "../../ledger/for_sync.ts";
import type { OrderState } from "../../ledger/mod.ts";

/**
 * Makes the state of an order from the service's answer alone, in the form in
 * which the ledger holds it.
 *
 * @param source Exact JSON text of the order.
 * @param readAt When the service answered, UTC ISO 8601.
 * @param assets Asset table that gives the precision of amounts.
 * @returns Null where the text states no id.
 */
export function orderAtService(
  source: string,
  readAt: string,
  assets: AssetTable,
): OrderState | null {
  const event = orderSnapshot({
    source,
    readAt,
    recordedAt: readAt,
    salt: new Uint8Array(16),
  });
  if (event.orderId === null) return null;
  const fact = readFact({ ...event, position: 0 });
  const fold = evolveOrder(initialOrderFold(event.orderId), fact);
  return orderState(fold, { assets });
}
