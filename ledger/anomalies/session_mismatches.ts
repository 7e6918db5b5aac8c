import type { AssetTable } from "../../core/assets/environment.ts";
import type { Expectation } from "../events/expectation.ts";
import type { OrderFacts } from "../orders/order_facts.ts";
import { type Difference, differences } from "../outcomes/differences.ts";
import type { MismatchKind, SessionMismatch } from "./anomaly.ts";

const kindOf: Readonly<Record<Difference["field"], MismatchKind>> = {
  currency: "amount_mismatch",
  currencyAmount: "amount_mismatch",
  cryptoAmount: "amount_mismatch",
  commodity: "asset_mismatch",
  network: "asset_mismatch",
  address: "address_mismatch",
  userId: "user_mismatch",
};

/**
 * Lists where an order is not what was asked for.
 *
 * @param fields Fields of the order; what is null is not compared.
 * @param expected What was asked for.
 * @param assets Asset table that gives the precision of amounts.
 * @returns The mismatches.
 */
export function sessionMismatches(
  fields: OrderFacts,
  expected: Expectation,
  assets: AssetTable,
): readonly SessionMismatch[] {
  const isRestricted = expected.flowType === "simple_full_restrict";
  return differences(fields, expected, assets).map((difference) => {
    const kind = kindOf[difference.field];
    return {
      kind,
      source: "session",
      ...difference,
      customerMayChoose: !isRestricted && kind !== "user_mismatch",
    };
  });
}
