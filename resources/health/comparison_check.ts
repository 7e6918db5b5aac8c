import { comparesNothing } from "../../ledger/for_resources.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { type Check, check } from "./check.ts";

const NAME = "Comparison";

/** What to do where no order can be compared. */
export const RECORD_WHAT_YOU_EXPECT =
  "Record what you ask for before the customer pays, with " +
  "ledger.recordSession(), ledger.expect() or POST /v1/sessions; until then " +
  "compare amount, asset and address yourself before you release";

/** Looks whether orders are compared with what the partner asked for. */
export async function comparisonCheck(ledger: Ledger): Promise<Check> {
  return await comparesNothing(ledger.driver)
    ? check(
      NAME,
      "warn",
      "Orders are released unchecked: nothing was ever recorded to compare " +
        "them with",
      RECORD_WHAT_YOU_EXPECT,
    )
    : check(
      NAME,
      "ok",
      "No order has succeeded unchecked for want of anything recorded",
    );
}
