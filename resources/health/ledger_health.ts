import {
  type Driver,
  FOLD_VERSION,
  readOldestWaiting,
} from "../../ledger/for_sync.ts";
import { readFolded, readWaiting } from "../../ledger/for_resources.ts";
import type { Ledger } from "../../ledger/for_resources.ts";
import { counted } from "../views/text.ts";
import { describeChainBreak } from "../wording/damage_reason.ts";
import { span } from "../wording/phrases.ts";
import { type Finding, found } from "./finding.ts";
import { LIMITS } from "./limits.ts";

/** Whether events are folded, and by which version. */
export async function lookAtFolding(
  ledger: Pick<Ledger, "driver" | "lag">,
): Promise<readonly Finding[]> {
  const lag = await ledger.lag();
  const more = lag === 0 ? "none waits" : `${counted(lag, "event")} to go`;
  const { foldVersion: version } = await readFolded(ledger.driver);
  if (version > FOLD_VERSION) {
    return [found("fold_newer", {
      more: `fold ${version}, and this version knows ${FOLD_VERSION}; ${more}`,
      facts: { lag, version },
    })];
  }
  return [
    found(lag > LIMITS.eventsNotFolded ? "folding_behind" : "events_folded", {
      more,
      facts: { lag },
    }),
  ];
}

/** Whether the evidence chain continues from its anchored head. */
export async function lookAtChain(
  { evidence }: { readonly evidence: Ledger["evidence"] },
): Promise<readonly Finding[]> {
  const { broken, events } = await evidence();
  return [
    broken === null
      ? found("chain_whole", {
        more: `it covers ${counted(events, "event")}; ` +
          "`rampkit ledger verify` computes it again",
        facts: { events },
      })
      : found("chain_broken", { more: describeChainBreak(broken) }),
  ];
}

/**
 * Deliveries that wait in the processes that take them. What a process that
 * ended has left raises no alarm: the next `serve` takes it.
 */
export async function lookAtWaiting(
  driver: Driver,
  nowMs: number,
): Promise<readonly Finding[]> {
  const waiting = await readWaiting(driver, nowMs);
  if (waiting === null) return [found("nothing_waiting")];
  const oldestMs = await readOldestWaiting(driver, nowMs);
  const details = {
    more: `${waiting.count}, the oldest for ${
      span(Math.max(0, nowMs - waiting.oldestMs))
    }`,
    facts: { waiting: waiting.count, ended: waiting.ended },
  };
  if (oldestMs !== null && nowMs - oldestMs > LIMITS.deliveryWaitsMs) {
    const since = new Date(oldestMs).toISOString();
    return [found("deliveries_waiting", { ...details, since })];
  }
  return [
    waiting.ended === 0
      ? found("deliveries_moving", details)
      : found("deliveries_left", {
        ...details,
        since: new Date(waiting.oldestMs).toISOString(),
      }),
  ];
}
