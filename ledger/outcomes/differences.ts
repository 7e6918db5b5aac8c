import type { AssetTable } from "../../core/assets/environment.ts";
import type { Expectation } from "../events/expectation.ts";
import { assetPrecision } from "../orders/asset_precision.ts";
import { sameAmount, sameHash, sameIgnoringCase } from "../orders/compare.ts";
import type { OrderFacts } from "../orders/order_facts.ts";

/** A field in which an order is not what was asked for. */
export interface Difference {
  /** Field of the order. */
  readonly field:
    | "currency"
    | "currencyAmount"
    | "cryptoAmount"
    | "commodity"
    | "network"
    | "address"
    | "userId";
  /** Value that was asked for. */
  readonly requested: string;
  /** Value of the order. */
  readonly ordered: string;
}

/**
 * Lists where an order is not what the partner asked for.
 *
 * @param ordered Fields of the order; what is null is not compared.
 * @param asked What was asked for; what is null is not compared.
 * @param assets Asset table that gives the precision of amounts.
 * @returns The differences; empty when all that both state agrees.
 */
export function differences(
  ordered: OrderFacts,
  asked: Expectation,
  assets: AssetTable,
): readonly Difference[] {
  const found: Difference[] = [];
  const compare = (
    field: Difference["field"],
    requested: string | null,
    same: (a: string, b: string) => boolean,
  ): void => {
    const value = ordered[field];
    if (requested === null || value === null || same(requested, value)) return;
    found.push({ field, requested, ordered: value });
  };
  compare("currency", asked.currency, sameIgnoringCase);
  compare(
    "currencyAmount",
    asked.currencyAmount,
    (a, b) => sameAmount(a, b, null),
  );
  // The service ignores commodity_amount where currency_amount is set.
  if (asked.currencyAmount === null) {
    const decimals = assetPrecision(
      assets,
      ordered.commodity,
      ordered.network ?? asked.network,
    );
    compare(
      "cryptoAmount",
      asked.commodityAmount,
      (a, b) => sameAmount(a, b, decimals),
    );
  }
  compare("commodity", asked.commodity, sameIgnoringCase);
  compare("network", asked.network, sameIgnoringCase);
  compare("address", asked.walletAddress, sameHash);
  compare("userId", asked.userId, (a, b) => a === b);
  return found;
}

/**
 * Whether an amount can be compared: a fiat amount was asked for and the order
 * has one, or else an amount of the asset.
 *
 * @param ordered Fields of the order.
 * @param asked What was asked for.
 */
export function statesAmount(
  ordered: OrderFacts,
  asked: Expectation,
): boolean {
  return asked.currencyAmount === null
    ? asked.commodityAmount !== null && ordered.cryptoAmount !== null
    : ordered.currencyAmount !== null;
}
