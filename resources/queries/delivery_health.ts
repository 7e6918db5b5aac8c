import type { DeliveryHealth, PollCompleted } from "../../sync/mod.ts";
import { describeDelivery } from "../wording/delivery.ts";

/**
 * Whether webhooks still come, and when the service gives up where they fail.
 */
export interface DeliveryHealthJson extends DeliveryHealth {
  /** The same in one sentence. */
  readonly detail: string;
}

/** How delivery is, as `--json` prints it. */
export function deliveryHealthJson(health: DeliveryHealth): DeliveryHealthJson {
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
