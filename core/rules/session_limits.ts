import { findAsset } from "../assets/assets.ts";
import type { AssetTable } from "../assets/environment.ts";

/** Fiat currencies that the service sells for. */
export const FIAT_CURRENCIES: readonly string[] = ["USD", "EUR"];

/** Decimals that a fiat amount of a session or of the widget may have. */
export const FIAT_DECIMALS = 2;

/**
 * The least fiat amount of an order.
 *
 * Source: service interface, "POST /api/external/hpp/create-session": 30 for
 * BTC; otherwise 1, which is stated for USD alone.
 */
export function minimumAmount(
  commodity: string,
  currency: unknown = "USD",
): "30" | "1" | null {
  if (commodity.toUpperCase() === "BTC") return "30";
  return currency === "EUR" ? null : "1";
}

/** What the service takes when nothing names a commodity; empty for none. */
export function defaultCommodity(table: AssetTable): "BTC" | "" {
  return findAsset(table, "BTC", "bitcoin") === null ? "" : "BTC";
}

/**
 * How long a session can be opened after it was made, in milliseconds.
 *
 * Source: service interface, "Limits".
 */
export const sessionValidityMs = 30_000;
