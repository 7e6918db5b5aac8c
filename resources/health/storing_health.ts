import { type Finding, found } from "./finding.ts";
import { LIMITS } from "./limits.ts";

/** What is known of where deliveries are stored. */
export interface Storing {
  /** Why nothing durable takes deliveries; null where something does. */
  readonly problem: string | null;
  /** Why the ledger takes no writes; null where it does. */
  readonly refusal: string | null;
  /** Deliveries that wait in the spool of this process. */
  readonly spooled: number;
  /** When the oldest of them was received, ms; null without any. */
  readonly oldestMs: number | null;
}

/** Whether deliveries are stored durably, and where. */
export function storingFindings(
  { problem, refusal, spooled, oldestMs }: Storing,
  nowMs: number,
): readonly Finding[] {
  if (problem !== null) return [found("deliveries_refused", { more: problem })];
  if (refusal !== null) {
    return [found("ledger_refuses", { more: refusal, facts: { spooled } })];
  }
  if (oldestMs === null || nowMs - oldestMs <= LIMITS.deliveryWaitsMs) {
    return [found("ledger_writable")];
  }
  return [
    found("ledger_writable"),
    found("deliveries_waiting", {
      since: new Date(oldestMs).toISOString(),
      more: `${spooled} in the spool`,
      facts: { waiting: spooled },
    }),
  ];
}
