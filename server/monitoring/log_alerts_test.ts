import assert from "node:assert/strict";
import { deliveryHealth } from "../../sync/watchdog/watchdog_rule.ts";
import { describeCountdown } from "../../resources/wording/delivery.ts";
import { logDeliveryAlert } from "./log_alerts.ts";

const minute = 60_000;
const sinceMs = Date.parse("2026-11-20T10:00:00.000Z");
const at = (ms: number) => new Date(ms).toISOString();

/** Two orders moved at ten o'clock, and no webhook came since. */
function silent(nowMs: number, failingSince: string | null = null) {
  return deliveryHealth({
    changes: ["order-1", "order-2"].map((orderId) => ({
      orderId,
      status: "progress",
      movedAt: at(sinceMs),
      seenAt: at(sinceMs),
      announced: false,
    })),
    lastReceivedAt: at(sinceMs - 60 * minute),
    waitingSince: null,
    failingSince,
    watchedSince: at(sinceMs - 600 * minute),
    nowMs,
  });
}

function logged(
  alert: Parameters<typeof logDeliveryAlert>[1],
): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  logDeliveryAlert(
    (level, event, fields) => lines.push({ level, event, ...fields }),
    alert,
  );
  return lines;
}

Deno.test("describeCountdown() states both readings of the retry schedule, also when one is over", () => {
  const { countdown } = silent(sinceMs + 55 * minute);
  assert.ok(countdown);
  assert.equal(
    describeCountdown(countdown),
    "Delivery may be off already: the service may switch it off after one " +
      "failure. After five retries it is off at 2026-11-20T18:00:00.000Z " +
      "(7 h 05 min left) if retries count from the first failure, at " +
      "2026-11-21T01:05:00.000Z (14 h 10 min left) if each counts from the " +
      "one before",
  );
  const later = silent(sinceMs + 9 * 60 * minute).countdown;
  assert.ok(later);
  assert.match(describeCountdown(later), /that time is over.*6 h 05 min left/);
});

Deno.test("logDeliveryAlert() tells of an alarm with the countdown, and of its end with since and the silent orders", () => {
  const health = silent(sinceMs + 10 * minute);
  const facts = {
    since: at(sinceMs),
    silentOrders: health.silentOrders,
    silentOrderIds: health.silentOrderIds,
  };
  const [alarm] = logged({ kind: "suspected", ...facts, health });
  assert.equal(alarm?.level, "error");
  assert.equal(alarm?.event, "delivery_suspected");
  assert.equal(alarm?.offAtFromFirst, "2026-11-20T18:00:00.000Z");
  assert.equal(alarm?.offAtFromPrevious, "2026-11-21T01:05:00.000Z");
  assert.match(String(alarm?.countdown), /7 h 50 min left.*14 h 55 min left/);
  const [clear] = logged({ kind: "recovered", ...facts, health });
  assert.equal(clear?.level, "info");
  assert.equal(clear?.event, "delivery_recovered");
  assert.equal(clear?.since, at(sinceMs));
  assert.equal(clear?.silentOrders, 2);
  assert.deepEqual(clear?.silentOrderIds, ["order-1", "order-2"]);
});
