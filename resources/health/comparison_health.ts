import { uncheckedSince } from "../../ledger/for_resources.ts";
import type { Driver } from "../../ledger/for_sync.ts";
import { type Finding, found } from "./finding.ts";

/** Whether orders are compared with what the partner asked for. */
export async function lookAtComparison(
  driver: Driver,
): Promise<readonly Finding[]> {
  const since = await uncheckedSince(driver);
  return [
    since === null
      ? found("orders_checked")
      : found("released_unchecked", { since }),
  ];
}
