import { uncheckedSince } from "../../ledger/for_resources.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { type Check, check } from "./check.ts";
import { RELEASED_UNCHECKED } from "./released_unchecked.ts";

/** Looks whether orders are compared with what the partner asked for. */
export async function comparisonCheck(ledger: Ledger): Promise<Check> {
  const { message, advice } = RELEASED_UNCHECKED;
  return await uncheckedSince(ledger.driver) === null
    ? check(
      "Comparison",
      "ok",
      "No order has succeeded unchecked for want of anything recorded",
    )
    : check("Comparison", "warn", message, advice);
}
