import { assetDecimals } from "../../core/assets/assets.ts";
import type { AssetTable } from "../../core/assets/environment.ts";

/**
 * Decimals of an asset on a network.
 *
 * @param assets Asset table.
 * @param commodity Asset code; null when it is not known.
 * @param network Network; null when it is not known.
 * @returns Null when the table does not tell.
 */
export function assetPrecision(
  assets: AssetTable,
  commodity: string | null,
  network: string | null,
): number | null {
  return commodity === null || network === null
    ? null
    : assetDecimals(assets, commodity, network);
}
