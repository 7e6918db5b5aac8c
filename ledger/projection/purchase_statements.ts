import type { LoggedReleases } from "../releases/log_releases.ts";
import type { Statement } from "../store/driver/driver.ts";
import {
  deletePurchases,
  deletePurchaseWaits,
  insertHandReleases,
  insertPurchases,
  upsertPurchaseWaits,
} from "../store/tables/purchases.ts";

/**
 * The statements that write which orders have purchases or wait for them, and
 * which were released by hand.
 *
 * @param releases What was decided.
 */
export function purchaseStatements(
  { purchases, freed, waits, hands }: Pick<
    LoggedReleases,
    "purchases" | "freed" | "waits" | "hands"
  >,
): Statement[] {
  const statements: Statement[] = [];
  if (freed.size > 0) statements.push(deletePurchases([...freed]));
  if (purchases.size > 0) statements.push(insertPurchases(purchases));
  const ended = [...waits].filter(([, wait]) => wait === null);
  if (ended.length > 0) {
    statements.push(deletePurchaseWaits(ended.map(([orderId]) => orderId)));
  }
  const begun = [...waits.values()].filter((wait) => wait !== null);
  if (begun.length > 0) statements.push(upsertPurchaseWaits(begun));
  if (hands.length > 0) statements.push(insertHandReleases(hands));
  return statements;
}
