import { assetDecimals } from "../../core/assets/assets.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import { FACT_FIELDS, sameValue } from "../../ledger/for_sync.ts";
import type { OrderState } from "../../ledger/mod.ts";
import type { FieldDifference } from "./reconcile_row.ts";

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
  const { commodity, network } = service;
  const decimals = commodity === null || network === null
    ? null
    : assetDecimals(table, commodity, network);
  for (const field of FACT_FIELDS) {
    const theirs = service[field];
    const ours = ledger[field];
    // A field the answer leaves out says nothing; the ledger may know it.
    if (theirs === null) continue;
    if (ours === null || !sameValue(field, theirs, ours, decimals)) {
      found.push({ field, service: theirs, ledger: ours });
    }
  }
  return found;
}
