import { isDecimal } from "../../../core/decimal.ts";
import { thousands } from "../../../resources/views/text.ts";
import { outsideText } from "./outside.ts";

/** Decimals of a currency that the runtime does not know. */
const USUAL = 2;

/**
 * An amount of a currency as people write it, with all its decimals: `1,200.50
 * USD`. It is never rounded, and what is no plain number stays as it came.
 *
 * @returns Empty where the amount is not known.
 */
export function moneyText(
  amount: string | null,
  currency: string | null,
): string {
  if (amount === null) return "";
  return [sumText(amount, currency), outsideText(currency ?? "", 20)]
    .filter(Boolean).join(" ");
}

/** The same without the currency, for a column that names it. */
export function sumText(amount: string, currency: string | null): string {
  if (!isDecimal(amount)) return outsideText(amount, 60);
  const [whole = "", part = ""] = amount.split(".");
  const decimals = part.padEnd(decimalsOf(currency), "0");
  const shown = thousands(whole);
  return outsideText(decimals === "" ? shown : `${shown}.${decimals}`, 60);
}

/** Decimals that amounts of a currency usually have: of yen none. */
function decimalsOf(currency: string | null): number {
  if (currency === null || !/^[A-Za-z]{3}$/.test(currency)) return USUAL;
  return new Intl.NumberFormat("en", { style: "currency", currency })
    .resolvedOptions().maximumFractionDigits ?? USUAL;
}
