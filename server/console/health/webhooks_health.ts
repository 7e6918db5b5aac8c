import type { DeliveryHealth } from "../../../sync/mod.ts";
import { counted } from "../../../resources/views/counted.ts";
import { NO_WEBHOOK } from "../../../resources/wording/delivery.ts";
import { span } from "../../../resources/wording/span.ts";
import type { HealthPart } from "./health_part.ts";

/** Whether webhooks still come, as the watchdog sees it. */
export function webhooksPart(
  health: DeliveryHealth,
  nowMs: number,
): HealthPart {
  const { state, since, silentOrders, lastReceivedAt, failingSince } = health;
  const name = "Webhooks";
  const ago = lastReceivedAt === null
    ? null
    : span(Math.max(0, nowMs - Date.parse(lastReceivedAt)));
  const moved = counted(silentOrders, "order");
  switch (state) {
    case "ok":
      return {
        name,
        level: "good",
        since: null,
        detail: `The last webhook came ${ago} ago; ` +
          (silentOrders === 0
            ? "nothing is overdue"
            : `${moved} moved without one, too few for an alarm`),
        advice: null,
      };
    case "suspected":
      return {
        name,
        level: "bad",
        since,
        detail: `${moved} moved without webhooks: delivery may be off. ` +
          (ago === null ? "None ever came" : `The last of any came ${ago} ago`),
        advice: PRESS_TEST,
      };
    case "failing":
      return {
        name,
        level: "bad",
        since: failingSince,
        detail:
          "Webhooks come and are not answered in time: the service will " +
          "switch delivery off",
        advice: PRESS_TEST,
      };
    case "never_received":
      return silentOrders === 0
        ? {
          name,
          level: "unused",
          since: null,
          detail: NO_WEBHOOK,
          advice: null,
        }
        : {
          name,
          level: "warn",
          since: null,
          detail: `${NO_WEBHOOK}, and ${moved} moved at the service`,
          advice: "Where webhooks are meant to come, set the endpoint's " +
            "address in the service's dashboard and press Test there",
        };
  }
}

const PRESS_TEST = "Press Test on the webhook page of the service's " +
  "dashboard. When nothing comes, enable delivery there, then read the time " +
  "again: the delivery page has the command";
