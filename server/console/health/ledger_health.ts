import { describeChainBreak } from "../../../resources/wording/damage_reason.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import { readWaiting } from "../../../ledger/for_resources.ts";
import { counted } from "../../../resources/views/counted.ts";
import { waitingText } from "../../../resources/wording/waiting.ts";
import type { HealthPart } from "./health_part.ts";

/** More events than this waiting to be folded is worth a look. */
const LAG_NOTED = 1000;

/** Whether the ledger has what came, and has folded it. */
export async function ledgerHealth(
  ledger: Ledger,
  nowMs: number,
): Promise<HealthPart> {
  const name = "Ledger";
  // Its statistics count every event, which takes long.
  const [chain, lag, waiting] = await Promise.all([
    ledger.evidence(),
    ledger.lag(),
    readWaiting(ledger.driver, nowMs),
  ]);
  if (chain.broken !== null) {
    return {
      name,
      level: "bad",
      since: null,
      detail: describeChainBreak(chain.broken),
      advice: "Change nothing; RUNBOOK.md says what to do when " +
        "`ledger verify` exits with 3",
    };
  }
  if (waiting !== null && waiting.ended > 0) {
    return {
      name,
      level: "warn",
      since: new Date(waiting.oldestMs).toISOString(),
      detail: waitingText(waiting, nowMs),
      advice: "Is `serve` running? It takes them into the ledger",
    };
  }
  if (lag > LAG_NOTED) {
    return {
      name,
      level: "warn",
      since: null,
      detail: `${counted(lag, "event")} wait to be folded: what is shown is ` +
        "behind by as many",
      advice: "Is `serve` running, in this version?",
    };
  }
  return {
    name,
    level: "good",
    since: null,
    detail: `Everything that came is folded; the evidence chain covers ${
      counted(chain.events, "event")
    }`,
    advice: null,
  };
}
