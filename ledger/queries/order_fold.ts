import type { OrderFold } from "../orders/order_fold.ts";
import type { OrderReading } from "../events/order_reading.ts";
import { sharesTransfer } from "../orders/chain_readings.ts";
import { decodeOrderFold } from "../projection/codec/fold_codec.ts";
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import {
  checkpointsOf,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import {
  beginningOf,
  beginningSql,
  orderFoldSql,
  selectOrderFolds,
} from "../store/tables/orders.ts";

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

/**
 * Reads what the service shows of every other order that it shows with the same
 * transaction and address.
 */
export async function readSharing(
  driver: Driver,
  orderId: string,
  shown: OrderReading,
): Promise<readonly OrderReading[]> {
  const [read] = await readPrimary(driver, [selectCheckpoints]);
  const { live } = checkpointsOf(read);
  if (live === null) return [];
  const [folds] = await readPrimary(driver, [{
    sql: `SELECT ${orderFoldSql()} FROM orders WHERE generation = ?
      AND tx_id IS NOT NULL AND ${beginningSql("tx_id")} = ? COLLATE NOCASE
      AND order_id <> ? AND state ->> '$.confirmed' IS NOT NULL`,
    args: [live.generation, beginningOf(shown.txId ?? ""), orderId],
  }]);
  return (folds?.rows ?? []).flatMap(([fold]) => {
    const { latest } = decodeOrderFold(fold as string);
    return latest !== null && sharesTransfer(shown, latest) ? [latest] : [];
  });
}
