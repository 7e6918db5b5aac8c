import type { Expectation } from "../events/expectation.ts";
import type { OrderReading } from "../events/order_reading.ts";
import { compareTimes } from "../events/time.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { candidatesOf } from "../orders/expectations.ts";
import { readingFacts } from "../orders/reading_facts.ts";
import type { Resolved } from "../orders/resolve_order.ts";
import { compareText } from "../machines/sorted_list.ts";
import type { Anomaly } from "./anomaly.ts";
import { futureTimes } from "./future_times.ts";
import { sessionMismatches } from "./session_mismatches.ts";
import { statusAnomalies } from "./status_anomalies.ts";
import { transactionAnomalies } from "./transaction_anomalies.ts";
import { unreadableFields } from "./unreadable_fields.ts";
import { webhookMismatches } from "./webhook_mismatches.ts";

/**
 * Lists what is odd about an order.
 *
 * @param fold Folded facts of the order.
 * @param resolved Intermediate results of its state.
 * @param expected What it is compared with; null without.
 * @returns The anomalies, sorted by kind, then field.
 */
export function orderAnomalies(
  fold: OrderFold,
  resolved: Resolved,
  expected: Expectation | null,
): readonly Anomaly[] {
  const { latest } = fold;
  const found: Anomaly[] = statusAnomalies(fold);
  if (latest !== null) {
    found.push(...futureTimes({
      changedAt: latest.statedChangedAt,
      createdAt: latest.statedCreatedAt,
    }));
  }
  found.push(
    ...unreadableFields(countingReadings(fold)),
    ...transactionAnomalies(latest, resolved),
    ...webhookMismatches(latest, resolved, expected?.network ?? null),
  );
  if (latest !== null && expected !== null) {
    found.push(
      ...sessionMismatches(readingFacts(latest), expected, resolved.assets),
    );
  }
  const sessionIds = unknownSessions(fold);
  if (sessionIds.length > 0) {
    found.push({ kind: "session_mismatch", sessionIds });
  }
  return found.length < 2 ? found : found.sort(byKindThenField);
}

/** A, and a reading without a status unless A was read after it. */
function countingReadings({ latest, statusless }: OrderFold): OrderReading[] {
  const overtaken = latest !== null && statusless !== null &&
    compareTimes(latest.readAt, statusless.readAt) > 0;
  return [latest, overtaken ? null : statusless].filter((one) => one !== null);
}

/**
 * Sessions that webhooks name and that are not among those recorded under the
 * click id of the order; none where nothing was recorded under it.
 */
function unknownSessions(fold: OrderFold): readonly string[] {
  const candidates = candidatesOf(fold);
  if (candidates.length === 0) return [];
  return fold.sessions.map(({ sessionId }) => sessionId)
    .filter((id) => !candidates.some(({ sessionId }) => sessionId === id));
}

/** Equal ones keep their order, which follows from the fold alone. */
function byKindThenField(a: Anomaly, b: Anomaly): number {
  return compareText(a.kind, b.kind) ||
    compareText(a.field ?? "", b.field ?? "");
}
