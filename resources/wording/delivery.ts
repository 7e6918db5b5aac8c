import type {
  DeliveryHealth,
  RetryCountdown,
} from "../../sync/watchdog/watchdog_rule.ts";

/** A webhook counts only when the service has shown what it is about. */
export const NO_WEBHOOK =
  "No webhook of an order or user that the service has " +
  "shown was received yet";

/** Health of webhook delivery, in one sentence. */
export function describeDelivery(health: DeliveryHealth): string {
  const { waitingSince } = health;
  return said(health) +
    (waitingSince === null
      ? ""
      : `; deliveries since ${waitingSince} wait to go into the ledger`);
}

function said(
  {
    state,
    silentSince,
    silentOrders,
    lastReceivedAt,
    failingSince,
    clearsAfter,
  }: DeliveryHealth,
): string {
  const last = lastReceivedAt === null
    ? "no webhook was ever received in time"
    : `the last webhook was received at ${lastReceivedAt}`;
  const orders = silentOrders === 1 ? "1 order" : `${silentOrders} orders`;
  switch (state) {
    case "ok":
      return silentSince === null
        ? `Nothing is overdue; ${last}`
        : `${orders} moved at the service since ${silentSince} without a ` +
          `webhook, too few for an alarm; ${last}`;
    case "suspected":
      return `${orders} moved at the service since ${silentSince} without a ` +
        `webhook; ${last}; ` +
        (clearsAfter === null
          ? "delivery may be switched off"
          : `they come again; clears ${
            clearsAfter === 0
              ? "in a few minutes"
              : `after ${clearsAfter} more in a row`
          }`);
    case "failing":
      return `Deliveries have not been answered in time since ` +
        `${failingSince}; ${last}; the service will switch delivery off`;
    case "never_received":
      return silentSince === null
        ? `${NO_WEBHOOK}; none is overdue`
        : `${NO_WEBHOOK}, and ${orders} moved at the service since ` +
          `${silentSince}: either webhooks are not used here, or they ` +
          "never worked";
  }
}

/**
 * When the service gives up, in both readings of its retry schedule: 8 h and
 * 15 h 05 min after the first failure.
 */
export function describeCountdown(countdown: RetryCountdown): string {
  const { offAtFromFirst, leftFromFirstMs } = countdown;
  const { offAtFromPrevious, leftFromPreviousMs } = countdown;
  return "Delivery may be off already: the service may switch it off after one " +
    `failure. After five retries it is off at ${offAtFromFirst} ` +
    `(${left(leftFromFirstMs)}) if retries count from the first failure, at ` +
    `${offAtFromPrevious} (${left(leftFromPreviousMs)}) if each counts from ` +
    "the one before";
}

/** The remaining time: `7 h 05 min left`, or that it is over. */
function left(ms: number): string {
  if (ms <= 0) return "that time is over";
  const minutes = Math.round(ms / 60_000);
  const rest = `${minutes % 60}`.padStart(2, "0");
  return `${Math.floor(minutes / 60)} h ${rest} min left`;
}
