import type { OrderFold } from "../orders/order_fold.ts";
import { decodeOrderFold } from "../projection/codec/fold_codec.ts";
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import {
  checkpointsOf,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import { selectOrderFolds } from "../store/tables/orders.ts";

/**
 * Reads what is folded of an order, as readers see it.
 *
 * @param orderId The order.
 * @returns Null when the ledger has no such order.
 */
export async function readOrderFold(
  driver: Driver,
  orderId: string,
): Promise<OrderFold | null> {
  const [read] = await readPrimary(driver, [selectCheckpoints]);
  const { live } = checkpointsOf(read);
  if (live === null) return null;
  const [folds] = await readPrimary(driver, [
    selectOrderFolds(live.generation, [orderId]),
  ]);
  const fold = folds?.rows[0]?.[1];
  return typeof fold === "string" ? decodeOrderFold(fold) : null;
}
