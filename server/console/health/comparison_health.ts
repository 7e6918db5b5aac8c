import type { Ledger } from "../../../ledger/mod.ts";
import { comparisonCheck } from "../../../resources/health/comparison_check.ts";
import type { HealthPart } from "./health_part.ts";

/** Whether orders are compared with what was recorded, as `doctor` says. */
export async function comparisonHealth(ledger: Ledger): Promise<HealthPart> {
  const { status, detail, advice = null } = await comparisonCheck(ledger);
  const isWarning = status === "warn";
  return {
    name: "Comparison",
    level: isWarning ? "warn" : "good",
    since: null,
    detail,
    advice: isWarning ? advice : null,
  };
}
