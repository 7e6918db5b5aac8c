import type { DeliveryAlert } from "../../sync/watchdog/watchdog_rule.ts";
import type { PollAlert } from "../../sync/polling/poll_health.ts";
import {
  describeCountdown,
  describeDelivery,
} from "../../resources/wording/delivery.ts";
import { pollFailureAdvice } from "../../resources/wording/poll_failure.ts";
import type { Log } from "./logger.ts";

/** Writes an alarm about webhook delivery, or its all-clear, into the log. */
export function logDeliveryAlert(log: Log, alert: DeliveryAlert): void {
  const { kind, since, silentOrders, silentOrderIds, health } = alert;
  const message = describeDelivery(health);
  const facts = { since, silentOrders, silentOrderIds, message };
  if (kind === "recovered") return log("info", "delivery_recovered", facts);
  const { countdown } = health;
  log(
    "error",
    kind === "suspected" ? "delivery_suspected" : "delivery_failing",
    countdown === null
      ? facts
      : { ...facts, countdown: describeCountdown(countdown), ...countdown },
  );
}

/** Writes an alarm about polling, or its all-clear, into the log. */
export function logPollAlert(log: Log, alert: PollAlert): void {
  if (alert.kind === "recovered") {
    log("info", "poll_recovered", { since: alert.since });
    return;
  }
  const { failure, sweeps } = alert;
  const { sweep, attempts, since, nextAttemptAt, cause, status, message } =
    failure;
  log("error", "poll_failing", {
    sweep,
    sweeps,
    attempts,
    since,
    nextAttemptAt,
    cause,
    status,
    message,
    advice: pollFailureAdvice(cause),
  });
}
