import { isPolled } from "../../ledger/for_sync.ts";
import {
  type PollHealth,
  type PollStatus,
  readPollHealth,
  watchdog,
} from "../../sync/mod.ts";
import { readPollStatus } from "../../sync/for_resources.ts";
import { readWaiting } from "../../ledger/for_resources.ts";
import type { Ledger } from "../../ledger/mod.ts";
import type { WaitingDeliveries } from "../../ledger/types.ts";
import {
  type DeliveryHealthJson,
  deliveryHealthJson,
} from "./delivery_health.ts";
import { type Check, checkOf, type LookAtHealth } from "../health/finding.ts";
import { lookAtStored } from "../health/stored_health.ts";

/** How delivery and polling are, by what the ledger has. */
export interface ServiceStatusJson {
  /** Whether no check fails. */
  readonly ok: boolean;
  /** Environment of the ledger. */
  readonly environment: string;
  /** Events that are not folded yet. */
  readonly lag: number;
  /** Deliveries that were answered and are not in the ledger yet; or null. */
  readonly waiting: WaitingDeliveries | null;
  /** How webhook delivery is. */
  readonly delivery: DeliveryHealthJson;
  /** How polling is. */
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
 *
 * @param nowMs The time, in milliseconds since the epoch.
 * @param look Looks how everything is. @default {by what the ledger has}
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
