import type { OrderTotal } from "../../ledger/types.ts";
import { groupedAmount } from "../wording/money.ts";
import { counted } from "./text.ts";

/** How many orders some filters choose, and the exact sums of their amounts. */
export interface OrderTotalsJson {
  /** How many orders there are. */
  readonly orders: number;
  /** The same by currency and trust, confirmed orders before claimed ones. */
  readonly totals: readonly OrderTotal[];
}

/** A total in words: the sum, and what it is the sum of. */
export interface TotalText {
  /** The amount with its currency, or that none is known. */
  readonly sum: string;
  /** How many orders, and what the sum leaves out. */
  readonly of: string;
}

/** One currency and trust in words. */
export function totalText(
  { currency, trust, orders, sum, notSummed }: OrderTotal,
): TotalText {
  const isNone = notSummed === orders;
  return {
    sum: isNone
      ? "No amount"
      : [groupedAmount(sum, currency), currency ?? ""].join(" ").trim(),
    of: `in ${counted(orders, "order")}` +
      (trust === "claimed" ? ", claimed by webhooks alone" : "") +
      (notSummed > 0 && !isNone
        ? `, ${counted(notSummed, "amount")} not in it`
        : ""),
  };
}

/** All totals, a line each below how many orders there are. */
export function totalsLines(
  { orders, totals }: OrderTotalsJson,
): readonly string[] {
  return [
    counted(orders, "order"),
    ...totals.map((total) => {
      const { sum, of } = totalText(total);
      return `  ${sum} ${of}`;
    }),
  ];
}
