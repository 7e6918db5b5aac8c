import { listDeliveries } from "../../ledger/for_resources.ts";
import type { Ledger } from "../../ledger/for_resources.ts";
import { watchdog } from "../../sync/watchdog/watchdog.ts";
import type { DeliveryHealth } from "../../sync/watchdog/watchdog_rule.ts";
import { describeCountdown, describeDelivery } from "../wording/delivery.ts";
import { span } from "../wording/phrases.ts";
import { PRESS_TEST } from "./conditions.ts";
import { type Finding, found } from "./finding.ts";

/** Whether webhooks still come, as the watchdog sees it. */
export async function lookAtDelivery(
  { driver }: Pick<Ledger, "driver">,
  nowMs: number,
): Promise<readonly Finding[]> {
  const { health } = await watchdog(driver, { nowMs });
  return [deliveryFinding(health)];
}

/** What the watchdog saw, as a finding. */
export function deliveryFinding(health: DeliveryHealth): Finding {
  const { state, countdown, silentOrders, silentSince, clearsAfter } = health;
  const more = describeDelivery(health);
  if (state === "ok") return found("delivery_works", { more });
  if (state === "never_received") {
    return silentOrders === 0
      ? found("delivery_unused")
      : found("delivery_never_worked", { more, since: silentSince });
  }
  const since = countdown?.firstFailureAt ?? health.since ??
    health.failingSince;
  return found(`delivery_${state}`, {
    since,
    ...clearsAfter !== null && {
      means: "Webhooks come again, after orders moved without them",
    },
    more: countdown === null || clearsAfter !== null
      ? more
      : `${more}. ${describeCountdown(countdown)}`,
    ...since !== null && {
      next: clearsAfter === null
        ? PRESS_TEST.replace("WHEN-IT-BEGAN", since)
        : `Read what was missed: rampkit recover --from ${since}`,
    },
    facts: {
      silentOrders,
      offAtFromFirst: countdown?.offAtFromFirst ?? null,
      offAtFromPrevious: countdown?.offAtFromPrevious ?? null,
    },
  });
}

/** When the last webhook came, whatever it was about. */
export async function lookAtFreshness(
  { driver }: Pick<Ledger, "driver">,
  nowMs: number,
): Promise<readonly Finding[]> {
  for await (const { receivedAt } of listDeliveries(driver)) {
    const ago = span(Math.max(0, nowMs - Date.parse(receivedAt)));
    return [found("last_webhook", {
      more: `${ago} ago`,
      facts: { receivedAt },
    })];
  }
  return [
    found("last_webhook", { more: "never", facts: { receivedAt: null } }),
  ];
}
