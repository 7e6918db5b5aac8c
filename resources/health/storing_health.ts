import type { LedgerErrorCode } from "../../ledger/for_resources.ts";
import { type Finding, found } from "./finding.ts";
import { LIMITS } from "./limits.ts";

/** What is known of where deliveries are stored. */
export interface Storing {
  /** Why nothing durable takes deliveries; null where something does. */
  readonly problem: string | null;
  /** Why the ledger takes no writes; null where it does. */
  readonly refusal: string | null;
  /** The ledger's word for that; null where it has none. */
  readonly cause: LedgerErrorCode | null;
  /** Deliveries that wait in the spool of this process. */
  readonly spooled: number;
  /** When the oldest of them was received, ms; null without any. */
  readonly oldestMs: number | null;
}

/** What to do about each reason why a ledger takes no writes. */
export const REFUSAL_ADVICE: Readonly<
  Partial<Record<LedgerErrorCode, string>>
> = {
  busy: "Find the process that holds the lock (fuser FILE names it), and let " +
    "it end: what waits then goes into the ledger by itself",
  full:
    "Make room on the disk, or raise the quota: what waits then goes into " +
    "the ledger by itself",
  read_only:
    "Give the user of serve the right to write the file and its folder",
  unreachable: "Bring the database's server back: check it, its address and " +
    "the network between",
  unauthorised: "Give serve a token that the database's server accepts: " +
    "RAMPKIT_DATABASE_TOKEN",
  corrupt: "Restore the last backup that verifies: rampkit ledger restore",
};

/** Whether deliveries are stored durably, and where. */
export function storingFindings(
  { problem, refusal, cause, spooled, oldestMs }: Storing,
  nowMs: number,
): readonly Finding[] {
  const next = cause === null ? undefined : REFUSAL_ADVICE[cause];
  const why = { facts: { spooled, cause }, ...next !== undefined && { next } };
  if (problem !== null) {
    return [found("deliveries_refused", { more: problem, ...why })];
  }
  if (refusal !== null) {
    return [found("ledger_refuses", { more: refusal, ...why })];
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
