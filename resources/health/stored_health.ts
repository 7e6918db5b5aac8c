import type { Ledger } from "../../ledger/mod.ts";
import { lookAtBacklog } from "./backlog_health.ts";
import { lookAtComparison } from "./comparison_health.ts";
import { lookAtDelivery, lookAtFreshness } from "./delivery_health.ts";
import { type Finding, gathered, lookedAt } from "./finding.ts";
import { lookAtChain, lookAtFolding, lookAtWaiting } from "./ledger_health.ts";
import { lookAtPolling } from "./polling_health.ts";
import { lookAtReceivers } from "./receiver_health.ts";
import { lookAtRefusals } from "./refusal_health.ts";

/** What of a ledger is looked at. */
export interface StoredLookOptions {
  /** The time, in milliseconds since the epoch. */
  readonly nowMs: number;
  /**
   * Whether the watchdog looks as well. Where nobody polls, each of its looks
   * reads all events since the last poll.
   *
   * @default {true}
   */
  readonly watchdog?: boolean;
}

/** How everything is, by what the ledger has. Nothing else is asked. */
export async function lookAtStored(
  ledger: Ledger,
  { nowMs, watchdog = true }: StoredLookOptions,
): Promise<readonly Finding[]> {
  const { driver } = ledger;
  return gathered(
    await Promise.all([
      lookedAt("waiting", () => lookAtWaiting(driver, nowMs)),
      lookedAt("projection", () => lookAtFolding(ledger)),
      lookedAt(
        "evidence",
        () => lookAtChain({ evidence: () => ledger.evidence() }),
      ),
      watchdog ? lookedAt("delivery", () => lookAtDelivery(ledger, nowMs)) : [],
      lookedAt("freshness", () => lookAtFreshness(ledger, nowMs)),
      lookedAt("refusals", () => lookAtRefusals(driver, nowMs)),
      lookedAt("polling", () => lookAtPolling(driver, nowMs)),
      lookedAt("backlog", () => lookAtBacklog(driver, nowMs)),
      lookedAt("comparison", () => lookAtComparison(driver)),
      lookedAt("forwarding", () => lookAtReceivers(ledger, nowMs)),
    ]),
  );
}
