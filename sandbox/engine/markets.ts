/** An asset that simulated customers buy, at a fixed, invented price. */
export interface Market {
  readonly commodity: string;
  readonly network: string;
  readonly decimals: number;
  /** Price in US cents of one unit of the asset. */
  readonly cents: bigint;
}

/** Assets of the service interface's sandbox table. */
const SANDBOX_MARKETS: readonly Market[] = [
  { commodity: "POL", network: "amoy", decimals: 18, cents: 42n },
  { commodity: "ETH", network: "sepolia", decimals: 18, cents: 312_345n },
  { commodity: "TT", network: "sepolia", decimals: 18, cents: 100n },
  { commodity: "TT", network: "solana", decimals: 9, cents: 100n },
  { commodity: "cUSDC", network: "sepolia", decimals: 6, cents: 100n },
  { commodity: "SOL", network: "solana", decimals: 9, cents: 15_678n },
  { commodity: "XTZ", network: "ghostnet", decimals: 6, cents: 61n },
];

/** Assets of the service interface's production table. */
const PRODUCTION_MARKETS: readonly Market[] = [
  { commodity: "POL", network: "polygon", decimals: 18, cents: 42n },
  { commodity: "ETH", network: "ethereum", decimals: 18, cents: 312_345n },
  { commodity: "BTC", network: "bitcoin", decimals: 8, cents: 9_123_456n },
  { commodity: "USDC", network: "base", decimals: 6, cents: 100n },
  { commodity: "USDT", network: "bsc", decimals: 18, cents: 100n },
  { commodity: "SOL", network: "solana", decimals: 9, cents: 15_678n },
];

/** The markets of an asset table. */
export function marketsOf(table: "production" | "sandbox"): readonly Market[] {
  return table === "sandbox" ? SANDBOX_MARKETS : PRODUCTION_MARKETS;
}

/** The market of an asset; one dollar a unit where there is none. */
export function marketOf(
  markets: readonly Market[],
  commodity: string,
  network: string,
  decimals: number,
): Market {
  const name = commodity.toUpperCase();
  return markets.find((market) =>
    market.commodity.toUpperCase() === name && market.network === network
  ) ?? { commodity, network, decimals, cents: 100n };
}

/** Smallest units of the asset that `cents` buy, rounded down. */
export function unitsFor(market: Market, cents: bigint): bigint {
  return cents * 10n ** BigInt(market.decimals) / market.cents;
}

/** Cents that `units` cost, rounded up to the next cent. */
export function centsFor(market: Market, units: bigint): bigint {
  const scale = 10n ** BigInt(market.decimals);
  return (units * market.cents + scale - 1n) / scale;
}
