import { isDecimal } from "../../core/decimal.ts";

/** Decimals of a currency that the runtime does not know. */
const USUAL = 2;

/**
 * An amount of a currency with all its decimals, `100.50` for `100.5` of USD.
 * It is never rounded, and what is not a plain number stays as it came.
 */
export function withDecimals(amount: string, currency: string | null): string {
  if (!isDecimal(amount)) return amount;
  const [whole = "", part = ""] = amount.split(".");
  const decimals = part.padEnd(decimalsOf(currency), "0");
  return decimals === "" ? whole : `${whole}.${decimals}`;
}

/**
 * The same with its digits in groups, as people write it: `1,200.50` for
 * `1200.5` of USD.
 */
export function groupedAmount(amount: string, currency: string | null): string {
  if (!isDecimal(amount)) return amount;
  const [whole = "", decimals] = withDecimals(amount, currency).split(".");
  const shown = thousands(whole);
  return decimals === undefined ? shown : `${shown}.${decimals}`;
}

/** Decimals that amounts of a currency usually have: of yen none. */
function decimalsOf(currency: string | null): number {
  if (currency === null || !/^[A-Za-z]{3}$/.test(currency)) return USUAL;
  return new Intl.NumberFormat("en", { style: "currency", currency })
    .resolvedOptions().maximumFractionDigits ?? USUAL;
}

/** Digits in groups of three, as people read them: `1,200,000`. */
export function thousands(digits: string): string {
  return digits.replace(/\B(?=(?:\d{3})+$)/g, ",");
}
