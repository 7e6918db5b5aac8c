import { ORDER_FIELDS } from "../../core/wire/order_fields.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import type { Expectation } from "../events/expectation.ts";
import type { OrderFacts } from "../events/order_facts.ts";
import { differences } from "../outcomes/differences.ts";
import type { SessionMismatch } from "./anomaly.ts";

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
    const kind = ORDER_FIELDS[difference.field].mismatch;
    return {
      kind,
      source: "session",
      ...difference,
      customerMayChoose: !isRestricted && kind !== "user_mismatch",
    };
  });
}
