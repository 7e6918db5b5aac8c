import type { DeliveryHealth } from "../../ledger/watchdog/watchdog_rule.ts";

/** How webhook delivery is, in one sentence. */
export function describeDelivery(health: DeliveryHealth): string {
  const { waitingSince } = health;
  return said(health) +
    (waitingSince === null
      ? ""
      : `; deliveries since ${waitingSince} wait to go into the ledger`);
}

function said(
  { state, silentSince, silentOrders, lastReceivedAt, failingSince }:
    DeliveryHealth,
): string {
  const last = lastReceivedAt === null
    ? "no webhook was ever received in time"
    : `the last webhook was received at ${lastReceivedAt}`;
  const orders = silentOrders === 1 ? "1 order" : `${silentOrders} orders`;
  switch (state) {
    case "ok":
      return `Nothing is overdue; ${last}`;
    case "suspected":
      return `${orders} moved at the service since ${silentSince} without a ` +
        `webhook; ${last}; delivery may be switched off`;
    case "failing":
      return `Deliveries have not been answered in time since ` +
        `${failingSince}; ${last}; the service will switch delivery off`;
    case "never_received":
      return silentSince === null
        ? "No webhook was ever received; none is overdue"
        : `No webhook was ever received, and ${orders} moved at the service ` +
          `since ${silentSince}: either webhooks are not used here, or they ` +
          "never worked";
  }
}
