import type { DeliveryHealth } from "./watchdog_rule.ts";

/** An alarm about webhook delivery, as it is remembered between two looks. */
export interface DeliveryAlarm {
  /**
   * - `suspected`: orders move at the service and no webhook comes any more.
   * - `failing`: deliveries arrive and are not answered in time.
   */
  readonly kind: "suspected" | "failing";
  /** When it began, UTC ISO 8601. */
  readonly since: string;
  /** Orders that moved without a webhook, at most at once. */
  readonly silentOrders: number;
  /** The first of them, at most twenty. */
  readonly silentOrderIds: readonly string[];
}

/** An alarm about webhook delivery, or its all-clear. */
export interface DeliveryAlert extends Omit<DeliveryAlarm, "kind"> {
  /** `recovered` is the all-clear; the other facts are those of the alarm. */
  readonly kind: DeliveryAlarm["kind"] | "recovered";
  /** How delivery is now, with the countdown of the ladder. */
  readonly health: DeliveryHealth;
}

/**
 * The alarm after a look: it keeps when it began, and the orders it was about.
 *
 * @param before The alarm of the last look.
 * @param health What this look found.
 */
export function deliveryAlarm(
  before: DeliveryAlarm | null,
  health: DeliveryHealth,
): DeliveryAlarm | null {
  const { state, countdown, silentOrders, silentOrderIds } = health;
  if (countdown === null || (state !== "suspected" && state !== "failing")) {
    return null;
  }
  const since = countdown.firstFailureAt;
  const more = before !== null && before.silentOrders > silentOrders;
  return {
    kind: state,
    since: before !== null && before.since < since ? before.since : since,
    silentOrders: more ? before.silentOrders : silentOrders,
    silentOrderIds: more ? before.silentOrderIds : silentOrderIds,
  };
}

/** What to report after a look: a new alarm, another one, or the all-clear. */
export function deliveryAlert(
  before: DeliveryAlarm | null,
  after: DeliveryAlarm | null,
  health: DeliveryHealth,
): DeliveryAlert | null {
  if (after === null) {
    return before === null ? null : { ...before, kind: "recovered", health };
  }
  return before?.kind === after.kind ? null : { ...after, health };
}
