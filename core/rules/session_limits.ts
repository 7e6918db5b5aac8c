import { findAsset } from "../assets/assets.ts";
import type { AssetTable } from "../assets/environment.ts";
import { compareDecimals, countDecimals, isDecimal } from "../decimal.ts";

/** Fiat currencies that the service sells for. */
export const FIAT_CURRENCIES: readonly string[] = ["USD", "EUR"];

/** Decimals that a fiat amount of a session or of the widget may have. */
export const FIAT_DECIMALS = 2;

/** The longest amount, in characters. */
const LONGEST_AMOUNT = 100;

/** How an amount breaks its rule. */
type AmountFault = "not_decimal" | "not_positive" | "too_many_decimals";

/** An amount, a decimal or a whole number, as a decimal; else how it breaks its rule. */
export function readAmount(
  value: unknown,
  decimals: number = Infinity,
): { readonly amount: string } | { readonly fault: AmountFault } {
  const text = Number.isSafeInteger(value) ? String(value) : value;
  if (
    typeof text !== "string" || text.length > LONGEST_AMOUNT || !isDecimal(text)
  ) return { fault: "not_decimal" };
  if (compareDecimals(text, "0") <= 0) return { fault: "not_positive" };
  return countDecimals(text) > decimals
    ? { fault: "too_many_decimals" }
    : { amount: text };
}

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
