import { assetDecimals } from "../core/assets/assets.ts";
import type { AssetTable } from "../core/assets/environment.ts";

/** Decimal text of `units` smallest units, without trailing zeros. */
export function decimalOf(units: bigint, decimals: number): string {
  const sign = units < 0n ? "-" : "";
  const digits = (units < 0n ? -units : units).toString()
    .padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return sign + whole + (fraction ? `.${fraction}` : "");
}

/** Smallest units of plain decimal text; digits beyond `decimals` are cut. */
export function unitsOf(text: string, decimals: number): bigint {
  const match = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text);
  if (!match) {
    throw new TypeError(
      `Cannot read an amount: "${text}" is not a plain decimal; use digits ` +
        'with an optional point, such as "100.5"',
    );
  }
  const [, sign, whole = "0", fraction = ""] = match;
  const units = BigInt(
    whole + fraction.slice(0, decimals).padEnd(decimals, "0"),
  );
  return sign ? -units : units;
}

/** Adds zeros until there are at least `places` decimals: 10 -> 10.00. */
export function withPlaces(text: string, places: number): string {
  const [whole = "0", fraction = ""] = text.split(".");
  return `${whole}.${fraction.padEnd(places, "0")}`;
}

/** An asset at a fixed, invented price. */
export interface Market {
  readonly commodity: string;
  readonly network: string;
  readonly decimals: number;
  /** Price in US cents of one unit of the asset. */
  readonly cents: bigint;
}

/** Assets that simulated customers buy, and their prices in US cents. */
const PRICES: Readonly<
  Record<AssetTable, readonly (readonly [string, string, bigint])[]>
> = {
  sandbox: [
    ["POL", "amoy", 42n],
    ["ETH", "sepolia", 312_345n],
    ["TT", "sepolia", 100n],
    ["TT", "solana", 100n],
    ["cUSDC", "sepolia", 100n],
    ["SOL", "solana", 15_678n],
    ["XTZ", "ghostnet", 61n],
  ],
  production: [
    ["POL", "polygon", 42n],
    ["ETH", "ethereum", 312_345n],
    ["BTC", "bitcoin", 9_123_456n],
    ["USDC", "base", 100n],
    ["USDT", "bsc", 100n],
    ["SOL", "solana", 15_678n],
  ],
};

/** The markets of an asset table. */
export function marketsOf(table: AssetTable): readonly Market[] {
  return PRICES[table].map(([commodity, network]) =>
    marketOf(table, commodity, network)
  );
}

/** The market of an asset; one dollar a unit where it has no price. */
export function marketOf(
  table: AssetTable,
  commodity: string,
  network: string,
): Market {
  const row = PRICES[table].find((row) =>
    row[0].toUpperCase() === commodity.toUpperCase() && row[1] === network
  );
  const name = row?.[0] ?? commodity;
  const decimals = assetDecimals(table, name, network) ?? 18;
  return { commodity: name, network, decimals, cents: row?.[2] ?? 100n };
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
