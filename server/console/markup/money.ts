import { groupedAmount } from "../../../resources/wording/money.ts";
import { outsideText } from "./outside.ts";

/**
 * An amount of a currency as people write it, with all its decimals:
 * `1,200.50 USD`. It is never rounded, and what is not a plain number stays as
 * it came.
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
  return outsideText(groupedAmount(amount, currency), 60);
}
