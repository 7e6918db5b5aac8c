import type { Expectation } from "../events/expectation.ts";
import type { OrderReading } from "../events/order_reading.ts";
import { compareTimes } from "../events/time.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { candidatesOf } from "../orders/expectations.ts";
import { readingFacts } from "../orders/reading_facts.ts";
import { claimedValue, type Resolved } from "../orders/resolve_order.ts";
import { compareText } from "../machines/sorted_list.ts";
import type {
  Anomaly,
  TimeInFuture,
  TransactionAnomaly,
  UnreadableField,
} from "./anomaly.ts";
import { sessionMismatches } from "./mismatches.ts";
import { statusAnomalies } from "./status_anomalies.ts";
import { webhookMismatches } from "./mismatches.ts";
import type { OddField } from "../../core/wire/odd_field.ts";

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

/**
 * Lists what is odd about the transaction of an order.
 *
 * @param latest The latest reading of the order.
 * @param resolved Intermediate results of its state.
 * @returns The anomalies.
 */
export function transactionAnomalies(
  latest: OrderReading | null,
  { claims: claims, decided: { status } }: Resolved,
): TransactionAnomaly[] {
  const found: TransactionAnomaly[] = [];
  if (latest !== null && latest.status === "success" && latest.txId === "") {
    found.push({ kind: "success_without_transaction", field: "txId" });
  }
  if (status !== "failed" && status !== "cancelled") return found;
  const read = latest?.txId || null;
  const txId = read ?? claimedValue(claims, "txId");
  if (txId !== null) {
    found.push({
      kind: "transaction_on_unsuccessful",
      field: "txId",
      status,
      txId,
      source: read === null ? "webhook" : "snapshot",
    });
  }
  return found;
}

/**
 * The anomalies of times that lie after the reading that shows them.
 *
 * @param stated What the service states, by field of the state; null where the
 * time counts as stated.
 * @returns One for each such time.
 */
export function futureTimes(
  stated: Readonly<Record<string, string | null>>,
): readonly TimeInFuture[] {
  return Object.entries(stated).flatMap(([field, time]) =>
    time === null ? [] : [{ kind: "time_in_future", field, stated: time }]
  );
}

/**
 * The anomalies of fields that could not be read.
 *
 * @param readings The readings that count.
 * @returns One for each field and kind of value, sorted by them.
 */
export function unreadableFields(
  readings: readonly { readonly odd: readonly OddField[] }[],
): readonly UnreadableField[] {
  const found = new Map<string, UnreadableField>();
  for (const { odd } of readings) {
    for (const { field, value } of odd) {
      found.set(`${field} ${value}`, {
        kind: "unreadable_field",
        field,
        value,
      });
    }
  }
  return [...found].sort(([a], [b]) => a < b ? -1 : 1).map(([, one]) => one);
}
