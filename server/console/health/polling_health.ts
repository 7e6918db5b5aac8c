import type { Ledger } from "../../../ledger/mod.ts";
import { readPollHealth } from "../../../sync/mod.ts";
import { pollAlarm } from "../../../sync/for_resources.ts";
import type { Check } from "../../../resources/health/check.ts";
import { pollingCheck } from "../../../resources/health/polling_check.ts";
import type { HealthLevel, HealthPart } from "./health_part.ts";

/** Whether the service is asked and answers; the same as `doctor` says. */
export async function pollingHealth(
  ledger: Ledger,
  nowMs: number,
): Promise<HealthPart> {
  const found = await pollingCheck(ledger, () => nowMs);
  const health = await readPollHealth(ledger.driver);
  const level = LEVELS[found.status];
  return {
    name: "Polling",
    level,
    since: level === "good"
      ? null
      : pollAlarm(health)?.since ?? health.failures[0]?.since ??
        health.workedAt,
    detail: found.detail,
    advice: level === "good" ? null : found.advice ?? null,
  };
}

const LEVELS: Readonly<Record<Check["status"], HealthLevel>> = {
  ok: "good",
  warn: "warn",
  fail: "bad",
  skip: "unused",
};
