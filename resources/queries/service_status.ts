import { isPolled } from "../../ledger/for_sync.ts";
import {
  type DeliveryHealth,
  type PollCompleted,
  type PollHealth,
  type PollStatus,
  readPollHealth,
  watchdog,
} from "../../sync/mod.ts";
import { readPollStatus } from "../../sync/polling/poll_status.ts";
import { type ChainHead, readWaiting } from "../../ledger/for_resources.ts";
import type { Ledger, Stats } from "../../ledger/mod.ts";
import type {
  ChainBreak,
  ChainState,
  WaitingDeliveries,
} from "../../ledger/types.ts";
import { type Check, checkOf, type LookAtHealth } from "../health/finding.ts";
import { lookAtStored } from "../health/stored_health.ts";
import { describeDelivery } from "../wording/delivery.ts";
import { describeChainBreak } from "../wording/phrases.ts";

/** Health of delivery and polling, from what the ledger has. */
export interface ServiceStatusJson {
  /** Whether no check fails. */
  readonly ok: boolean;
  /** Environment of the ledger. */
  readonly environment: string;
  /** Events that are not folded yet. */
  readonly lag: number;
  /** Deliveries that were answered and are not in the ledger yet; or null. */
  readonly waiting: WaitingDeliveries | null;
  /** Health of webhook delivery. */
  readonly delivery: DeliveryHealthJson;
  /** Health of polling. */
  readonly polling: PollHealth & PollStatus & {
    /** Whether a poller is at work. */
    readonly polled: boolean;
  };
  /** What `doctor` finds. */
  readonly checks: readonly Check[];
}

/**
 * How delivery and polling are: what `doctor` says of them, and the figures
 * behind it.
 */
export async function serviceStatus(
  ledger: Ledger,
  nowMs: number,
  look: LookAtHealth = () => lookAtStored(ledger, { nowMs }),
): Promise<ServiceStatusJson> {
  const { driver, environment } = ledger;
  const { health } = await watchdog(driver, { nowMs });
  const checks = (await look()).map(checkOf);
  return {
    ok: checks.every(({ status }) => status !== "fail"),
    environment,
    lag: await ledger.lag(),
    waiting: await readWaiting(driver, nowMs),
    delivery: deliveryHealthJson(health),
    polling: {
      polled: await isPolled(driver),
      ...await readPollHealth(driver),
      ...await readPollStatus(driver),
    },
    checks,
  };
}

/**
 * Whether webhooks still come, and when the service gives up where they fail.
 */
export interface DeliveryHealthJson extends DeliveryHealth {
  /** The same in one sentence. */
  readonly detail: string;
}

/** How delivery is, as `--json` prints it. */
function deliveryHealthJson(health: DeliveryHealth): DeliveryHealthJson {
  return { ...health, detail: describeDelivery(health) };
}

/** What every sweep read, and where the poller stands now. */
export interface PollReportJson extends PollCompleted {
  readonly delivery: DeliveryHealthJson;
}

/** What the sweeps did, as `--json` prints it. */
export function pollReportJson(report: PollCompleted): PollReportJson {
  return { ...report, delivery: deliveryHealthJson(report.delivery) };
}

/** Why the chain is not extended, in words and as data. */
interface ChainBreakJson {
  /** Why the chain is not extended, in one sentence; null when it is. */
  readonly broken: string | null;
  /** The same as a code with its data. */
  readonly reason: ChainBreak | null;
}

/** How far the evidence chain reaches: what to keep elsewhere. */
export type ChainStateJson = ChainHead & ChainBreakJson;

/** How far the evidence chain reaches, with a sentence. */
export function chainStateJson(state: ChainState): ChainStateJson {
  return { ...state, ...breakJson(state.broken) };
}

/** How much the ledger holds, and how far it is folded and chained. */
export interface LedgerStatsJson extends Omit<Stats, "chain"> {
  /** Its environment. */
  readonly environment: string;
  /** Its evidence chain. */
  readonly chain: Omit<Stats["chain"], "broken"> & ChainBreakJson;
}

/** How much the ledger holds, as `ledger stats --json` prints it. */
export async function ledgerStatsJson(
  ledger: Ledger,
): Promise<LedgerStatsJson> {
  const { environment } = ledger;
  const stats = await ledger.stats();
  const { chain } = stats;
  return {
    environment,
    ...stats,
    chain: { ...chain, ...breakJson(chain.broken) },
  };
}

function breakJson(reason: ChainBreak | null): ChainBreakJson {
  const broken = reason === null ? null : describeChainBreak(reason);
  return { broken, reason };
}
