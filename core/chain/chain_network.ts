import { type Asset, assets } from "../assets/assets.ts";
import type { AssetTable } from "../assets/environment.ts";

/** A kind of chain that can be looked at. */
export type ChainFamily = "evm" | "bitcoin";

/** What is known of a network's chain. */
export interface ChainNetwork {
  /** How its nodes are asked. */
  readonly family: ChainFamily;
  /** Asset that the chain itself moves, without a token contract. */
  readonly native: string;
  /** Decimals of that asset on the chain. */
  readonly nativeDecimals: number;
  /** EIP-155 id; null where the partner has to state it, and for Bitcoin. */
  readonly chainId: number | null;
  /** Time between two blocks, in milliseconds, to wait by. */
  readonly blockMs: number;
}

type Row = readonly [
  native: string,
  chainId: number | null,
  testChainId: number | null,
  blockMs: number,
];

/**
 * Networks of Ethereum's kin. The second id is the test chain that the service's
 * sandbox names alike. Ids that are not published by the network's own project
 * are left out: the partner states them.
 */
const EVM: Readonly<Record<string, Row>> = {
  amoy: ["POL", 80002, 80002, 2_000],
  arbitrum: ["ETH", 42161, 421614, 1_000],
  arbitrum_sepolia: ["ETH", 421614, 421614, 1_000],
  avalanche: ["AVAX", 43114, 43113, 2_000],
  base: ["ETH", 8453, 84532, 2_000],
  base_sepolia: ["ETH", 84532, 84532, 2_000],
  bsc: ["BNB", 56, 97, 1_000],
  ethereum: ["ETH", 1, 11155111, 12_000],
  etherlink: ["XTZ", 42793, null, 1_000],
  hemi: ["ETH", 43111, null, 12_000],
  kucoin: ["KCS", 321, 322, 3_000],
  opbnb: ["BNB", 204, 5611, 1_000],
  polygon: ["POL", 137, 80002, 2_000],
  puppynet: ["BONE", 157, 157, 5_000],
  rootstock: ["RBTC", 30, 31, 25_000],
  sepolia: ["ETH", 11155111, 11155111, 12_000],
  shibarium: ["BONE", 109, 157, 5_000],
  theta: ["TFUEL", 361, 365, 6_000],
  vyvo: ["VSC", null, null, 6_000],
};

const EVM_DECIMALS = 18;

/** Codes by which the asset tables name a chain's own asset otherwise. */
const ALSO_NATIVE: Readonly<Record<string, readonly string[]>> = {
  opbnb: ["OPBNB"],
};

/** What is known of a network's chain. */
export function chainNetwork(
  network: string,
  table: AssetTable = "production",
): ChainNetwork | null {
  const name = network.toLowerCase();
  if (name === "bitcoin") {
    return {
      family: "bitcoin",
      native: "BTC",
      nativeDecimals: 8,
      chainId: null,
      blockMs: 600_000,
    };
  }
  const row = EVM[name];
  if (row === undefined) return null;
  const [native, chainId, testChainId, blockMs] = row;
  return {
    family: "evm",
    native,
    nativeDecimals: EVM_DECIMALS,
    chainId: table === "sandbox" ? testChainId : chainId,
    blockMs,
  };
}

/** Whether an asset is what a network's chain itself moves, in any case. */
export function isNativeAsset(network: string, asset: string): boolean {
  const known = chainNetwork(network);
  if (known === null) return false;
  const code = asset.toUpperCase();
  return code === known.native ||
    (ALSO_NATIVE[network.toLowerCase()]?.includes(code) ?? false);
}

/** How the transactions of a pair of the asset table can be looked at. */
export interface ChainPair extends Asset {
  /**
   * - `native`: as soon as the network has a node.
   * - `token`: once the partner has pinned the token's contract as well.
   * - `unsupported`: not by this version.
   */
  readonly witness: "native" | "token" | "unsupported";
  /** How its nodes are asked; null where they are not. */
  readonly family: ChainFamily | null;
  /** EIP-155 id; null where the partner has to state it, and without one. */
  readonly chainId: number | null;
}

/** Every pair of an asset table, with how it can be looked at. */
export function chainPairs(table: AssetTable): readonly ChainPair[] {
  return assets[table].map((asset) => {
    const network = chainNetwork(asset.network, table);
    const family = network?.family ?? null;
    return {
      ...asset,
      witness: family === null
        ? "unsupported"
        : isNativeAsset(asset.network, asset.commodity)
        ? "native"
        : "token",
      family,
      chainId: network?.chainId ?? null,
    };
  });
}
