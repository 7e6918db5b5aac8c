import type { DeliveryHealth, PollCompleted } from "../../sync/mod.ts";
import { describeDelivery } from "../wording/delivery.ts";

/** The stable `--json` shape of how delivery is; fields are only ever added. */
export interface DeliveryHealthJson extends DeliveryHealth {
  /** The same in one sentence. */
  readonly detail: string;
}

/** How delivery is, as `--json` prints it. */
export function deliveryHealthJson(health: DeliveryHealth): DeliveryHealthJson {
  return { ...health, detail: describeDelivery(health) };
}

/** The stable `--json` shape of `poll --once`; fields are only ever added. */
export interface PollReportJson extends PollCompleted {
  readonly delivery: DeliveryHealthJson;
}

/** What the sweeps did, as `--json` prints it. */
export function pollReportJson(report: PollCompleted): PollReportJson {
  return { ...report, delivery: deliveryHealthJson(report.delivery) };
}
