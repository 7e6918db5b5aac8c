import { assetDecimals } from "../../core/assets/assets.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  type OrderFacts,
  sameAmount,
  sameHash,
  sameIgnoringCase,
} from "../../ledger/for_sync.ts";
import type { OrderState } from "../../ledger/mod.ts";
import type { FieldDifference } from "./reconcile_row.ts";

type Same = (service: string, ledger: string, state: OrderState) => boolean;

/** For each compared field: whether two values of it are the same. */
function comparisons(table: AssetTable): Readonly<Record<string, Same>> {
  return {
    currency: sameIgnoringCase,
    currencyAmount: (a, b) => sameAmount(a, b, null),
    commodity: sameIgnoringCase,
    network: sameIgnoringCase,
    cryptoAmount: (a, b, { commodity, network }) =>
      sameAmount(
        a,
        b,
        commodity === null || network === null
          ? null
          : assetDecimals(table, commodity, network),
      ),
    address: sameHash,
    txId: sameHash,
    userId: (a, b) => a === b,
    clickId: (a, b) => a === b,
    externalOrderId: (a, b) => a === b,
    failReason: (a, b) => a === b,
  };
}

/**
 * Finds the fields on which the service and the ledger differ.
 *
 * @param service The order by the service's answer alone.
 * @param ledger The order in the ledger.
 * @param table Asset table that gives the precision of amounts.
 */
export function fieldDifferences(
  service: OrderState,
  ledger: OrderState,
  table: AssetTable,
): FieldDifference[] {
  const found: FieldDifference[] = [];
  if (service.status !== ledger.status) {
    found.push({
      field: "status",
      service: service.status,
      ledger: ledger.status,
    });
  }
  for (const [name, same] of Object.entries(comparisons(table))) {
    const field = name as keyof OrderFacts;
    const theirs = service[field];
    const ours = ledger[field];
    // A field the answer leaves out says nothing; the ledger may know it.
    if (theirs === null) continue;
    if (ours === null || !same(theirs, ours, service)) {
      found.push({ field, service: theirs, ledger: ours });
    }
  }
  return found;
}
