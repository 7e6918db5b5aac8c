import type { AssetTable } from "./environment.ts";

/** An asset on a network, as the service lists it. */
export interface Asset extends AnyAssetPair {
  /** Decimals of the asset on this network. */
  readonly decimals: number;
  /** Whether smart-contract orders can use it; null where not documented. */
  readonly smartContracts: boolean | null;
}

/** Rows of the documented tables: commodity, networks, decimals, contracts. */
export const assetRows = {
  production: [
    ["GHST", "polygon", 18, true],
    ["ARB", "arbitrum", 18, true],
    ["AVAX", "avalanche", 18, true],
    ["BNB", "bsc", 18, true],
    ["BTC", "bitcoin", 8, false],
    ["BONE", "shibarium", 18, true],
    ["CCD", "concordium", 5, true],
    ["CUSDT", "mainnet", 6, false],
    ["ETH", "ethereum arbitrum base hemi", 18, true],
    ["EUROE", "mainnet", 6, false],
    ["GPRO", "polygon", 18, true],
    ["HEMI", "hemi", 18, true],
    ["LAI", "ethereum bsc", 18, false],
    ["LMWR", "ethereum", 18, true],
    ["MANA", "polygon ethereum", 18, true],
    ["NEAR", "near", 8, true],
    ["OPBNB", "opbnb", 18, true],
    ["POL", "polygon", 18, true],
    ["RBTC", "rootstock", 18, true],
    ["STX", "stacks", 6, false],
    ["SOL", "solana", 9, true],
    ["XTZ", "tezos", 6, true],
    ["XTZ", "etherlink", 18, true],
    ["TFUEL", "theta", 18, true],
    ["TON", "ton", 8, true],
    ["USDC", "arbitrum base ethereum avalanche shibarium solana", 6, true],
    ["USDC", "polygon hemi etherlink", 6, true],
    ["USDSM", "etherlink", 18, true],
    ["USDT", "polygon ethereum", 6, true],
    ["USDT", "bsc", 18, true],
    ["USDT", "ton hemi", 6, true],
    ["VSC", "vyvo", 5, true],
    ["WETH", "polygon", 18, true],
    ["XCAD", "opbnb bsc", 18, true],
  ],
  sandbox: [
    ["BNB", "bsc", 18, null],
    ["BONE", "puppynet", 18, null],
    ["CCD", "concordium", 18, null],
    ["cUSDC", "sepolia", 6, null],
    ["ETH", "sepolia base_sepolia arbitrum_sepolia", 18, null],
    ["EUROe", "concordium", 18, null],
    ["HEMI", "hemi", 18, null],
    ["POL", "amoy", 18, null],
    ["SOL", "solana", 9, null],
    ["TT", "amoy bsc kucoin base_sepolia arbitrum_sepolia", 18, null],
    ["TT", "sepolia opbnb puppynet hemi etherlink", 18, null],
    ["TT", "solana", 9, null],
    ["XTZ", "ghostnet etherlink", 6, null],
    ["opBNB", "opbnb", 18, null],
    ["usdsm", "etherlink", 18, null],
  ],
} as const;

/** A commodity on a network, listed or not. */
export interface AnyAssetPair {
  /** Asset code, in the service's own spelling. */
  readonly commodity: string;
  /** Network it is delivered on. */
  readonly network: string;
}

/**
 * The listed pairs of one table, or of both: a pair that the service does not
 * sell does not compile.
 */
export type AssetPair<Table extends AssetTable = AssetTable> =
  typeof assetRows[Table][number] extends infer Listed
    ? Listed extends readonly [infer Commodity, infer Networks, ...unknown[]]
      ? {
        readonly commodity: Commodity;
        readonly network: WordsOf<Networks>;
      }
    : never
    : never;

/** The words of a text, which spaces separate. */
export type WordsOf<Text> = Text extends `${infer Word} ${infer More}`
  ? Word | WordsOf<More>
  : Text;

/**
 * The documented asset tables, one entry for each pair of commodity and
 * network. The service changes them often, so callers can allow other pairs.
 *
 * Source: service interface, "Supported commodities and networks".
 */
export const assets: Readonly<Record<AssetTable, readonly Asset[]>> = {
  production: assetRows.production.flatMap(pairsOf),
  sandbox: assetRows.sandbox.flatMap(pairsOf),
};

function pairsOf(
  [commodity, networks, decimals, smartContracts]:
    (typeof assetRows)[AssetTable][number],
): readonly Asset[] {
  return networks.split(" ").map((network) =>
    Object.freeze({ commodity, network, decimals, smartContracts })
  );
}

/**
 * Finds a listed pair, without regard to case.
 *
 * @param table Which table to look in.
 * @param commodity Asset code.
 * @param network Network.
 * @returns The entry, or null when the pair is not listed.
 *
 * @example Look up a pair
 * ```ts
 * import { findAsset } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * assert.equal(findAsset("production", "usdt", "bsc")?.decimals, 18);
 * assert.equal(findAsset("production", "BTC", "bsc"), null);
 * ```
 */
export function findAsset(
  table: AssetTable,
  commodity: string,
  network: string,
): Asset | null {
  const [code, chain] = [commodity.toLowerCase(), network.toLowerCase()];
  return assets[table].find((asset) =>
    asset.commodity.toLowerCase() === code &&
    asset.network.toLowerCase() === chain
  ) ?? null;
}

/**
 * Says how many decimals an asset has on a network.
 *
 * @param table Which table to look in.
 * @param commodity Asset code, in any case.
 * @param network Network, in any case.
 * @returns The decimals, or null when the pair is not listed.
 *
 * @example Ask for decimals
 * ```ts
 * import { assetDecimals } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * assert.equal(assetDecimals("production", "BTC", "bitcoin"), 8);
 * assert.equal(assetDecimals("sandbox", "BTC", "bitcoin"), null);
 * ```
 */
export function assetDecimals(
  table: AssetTable,
  commodity: string,
  network: string,
): number | null {
  return findAsset(table, commodity, network)?.decimals ?? null;
}

/**
 * Lists the networks a commodity is delivered on.
 *
 * @param table Which table to look in.
 * @param commodity Asset code, in any case.
 * @returns The networks in table order; empty when the commodity is not listed.
 *
 * @example List networks
 * ```ts
 * import { networksOf } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(networksOf("production", "XTZ"), ["tezos", "etherlink"]);
 * ```
 */
export function networksOf(
  table: AssetTable,
  commodity: string,
): readonly string[] {
  const wanted = commodity.toLowerCase();
  return assets[table]
    .filter((asset) => asset.commodity.toLowerCase() === wanted)
    .map((asset) => asset.network);
}
