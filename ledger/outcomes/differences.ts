import {
  type FieldsWith,
  fieldsWith,
  ORDER_FIELDS,
} from "../../core/wire/order_fields.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import type { Expectation } from "../events/expectation.ts";
import { assetPrecision } from "../orders/asset_precision.ts";
import { sameValue } from "../orders/compare.ts";
import type { OrderFacts } from "../events/order_facts.ts";

/** A field in which an order is not what was asked for. */
export interface Difference {
  /** Field of the order. */
  readonly field: FieldsWith<"asked">;
  /** Value that was asked for. */
  readonly requested: string;
  /** Value of the order. */
  readonly ordered: string;
}

const COMPARED = fieldsWith("asked");

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
  const decimals = assetPrecision(
    assets,
    ordered.commodity,
    ordered.network ?? asked.network,
  );
  return COMPARED.flatMap((field) => {
    // The service ignores commodity_amount where currency_amount is set.
    if (field === "cryptoAmount" && asked.currencyAmount !== null) return [];
    const requested = asked[ORDER_FIELDS[field].asked];
    const value = ordered[field];
    return requested === null || value === null ||
        sameValue(field, requested, value, decimals)
      ? []
      : [{ field, requested, ordered: value }];
  });
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
