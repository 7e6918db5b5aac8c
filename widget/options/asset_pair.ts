/** Which of the two documented asset tables holds. */
export type WidgetAssetTable = "production" | "sandbox";

/**
 * The networks of each commodity in production.
 *
 * Source: service interface, "Supported commodities and networks".
 */
export type ProductionNetworks = {
  readonly GHST: "polygon";
  readonly ARB: "arbitrum";
  readonly AVAX: "avalanche";
  readonly BNB: "bsc";
  readonly BTC: "bitcoin";
  readonly BONE: "shibarium";
  readonly CCD: "concordium";
  readonly CUSDT: "mainnet";
  readonly ETH: "ethereum" | "arbitrum" | "base" | "hemi";
  readonly EUROE: "mainnet";
  readonly GPRO: "polygon";
  readonly HEMI: "hemi";
  readonly LAI: "ethereum" | "bsc";
  readonly LMWR: "ethereum";
  readonly MANA: "polygon" | "ethereum";
  readonly NEAR: "near";
  readonly OPBNB: "opbnb";
  readonly POL: "polygon";
  readonly RBTC: "rootstock";
  readonly STX: "stacks";
  readonly SOL: "solana";
  readonly XTZ: "tezos" | "etherlink";
  readonly TFUEL: "theta";
  readonly TON: "ton";
  readonly USDC:
    | "arbitrum"
    | "base"
    | "ethereum"
    | "avalanche"
    | "shibarium"
    | "solana"
    | "polygon"
    | "hemi"
    | "etherlink";
  readonly USDSM: "etherlink";
  readonly USDT: "polygon" | "ethereum" | "bsc" | "ton" | "hemi";
  readonly VSC: "vyvo";
  readonly WETH: "polygon";
  readonly XCAD: "opbnb" | "bsc";
};

/**
 * The networks of each commodity in the sandbox.
 *
 * Source: service interface, "Supported commodities and networks".
 */
export type SandboxNetworks = {
  readonly BNB: "bsc";
  readonly BONE: "puppynet";
  readonly CCD: "concordium";
  readonly cUSDC: "sepolia";
  readonly ETH: "sepolia" | "base_sepolia" | "arbitrum_sepolia";
  readonly EUROe: "concordium";
  readonly HEMI: "hemi";
  readonly POL: "amoy";
  readonly SOL: "solana";
  readonly TT:
    | "amoy"
    | "bsc"
    | "kucoin"
    | "base_sepolia"
    | "arbitrum_sepolia"
    | "sepolia"
    | "opbnb"
    | "puppynet"
    | "hemi"
    | "etherlink"
    | "solana";
  readonly XTZ: "ghostnet" | "etherlink";
  readonly opBNB: "opbnb";
  readonly usdsm: "etherlink";
};

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
export type AssetPair<Table extends WidgetAssetTable = WidgetAssetTable> =
  | (Table extends "production" ? PairsOf<ProductionNetworks> : never)
  | (Table extends "sandbox" ? PairsOf<SandboxNetworks> : never);

/** Turns a table of networks by commodity into a union of pairs. */
export type PairsOf<Networks> = {
  [Commodity in keyof Networks]: Networks[Commodity] extends infer Network
    ? Network extends string
      ? { readonly commodity: Commodity; readonly network: Network }
    : never
    : never;
}[keyof Networks];
