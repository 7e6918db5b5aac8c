import type { AssetTable } from "../../core/assets/environment.ts";
import type { OrderFacts } from "../orders/order_state.ts";
import type { OwnSession } from "../orders/own_session.ts";
import type { MismatchKind, SessionMismatch } from "./anomaly.ts";
import { assetPrecision } from "./asset_precision.ts";
import { sameAmount, sameHash, sameIgnoringCase } from "../orders/compare.ts";

/**
 * Lists where an order is not what its session asked for.
 *
 * @param fields Fields of the order; what is null is not compared.
 * @param session The session of the order.
 * @param assets Asset table that gives the precision of amounts.
 * @returns The mismatches.
 */
export function sessionMismatches(
  fields: OrderFacts,
  { asked, trust }: OwnSession,
  assets: AssetTable,
): readonly SessionMismatch[] {
  const found: SessionMismatch[] = [];
  const isRestricted = asked.flowType === "simple_full_restrict";
  const compare = (
    kind: MismatchKind,
    field: keyof OrderFacts,
    requested: string | null,
    same: (a: string, b: string) => boolean,
  ): void => {
    const ordered = fields[field];
    if (requested === null || ordered === null || same(requested, ordered)) {
      return;
    }
    found.push({
      kind,
      field,
      source: "session",
      sessionTrust: trust,
      requested,
      ordered,
      customerMayChoose: !isRestricted && kind !== "user_mismatch",
    });
  };
  compare("amount_mismatch", "currency", asked.currency, sameIgnoringCase);
  compare(
    "amount_mismatch",
    "currencyAmount",
    asked.currencyAmount,
    (a, b) => sameAmount(a, b, null),
  );
  // The service ignores commodity_amount where currency_amount is set.
  if (asked.currencyAmount === null) {
    const decimals = assetPrecision(
      assets,
      fields.commodity,
      fields.network ?? asked.network,
    );
    compare(
      "amount_mismatch",
      "cryptoAmount",
      asked.commodityAmount,
      (a, b) => sameAmount(a, b, decimals),
    );
  }
  compare("asset_mismatch", "commodity", asked.commodity, sameIgnoringCase);
  compare("asset_mismatch", "network", asked.network, sameIgnoringCase);
  compare("address_mismatch", "address", asked.walletAddress, sameHash);
  compare("user_mismatch", "userId", asked.userId, (a, b) => a === b);
  return found;
}
