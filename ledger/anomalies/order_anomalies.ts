import type { Expectation } from "../events/expectation.ts";
import { transactionForm } from "../../core/chain/canonical.ts";
import {
  type OrderReading,
  statedTransactionForm,
} from "../events/order_reading.ts";
import { compareTimes } from "../events/time.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { candidatesOf } from "../orders/expectations.ts";
import { readingFacts } from "../orders/readings.ts";
import { claimedValue, type Resolved } from "../orders/resolve_order.ts";
import { compareText } from "../machines/sorted_list.ts";
import type {
  Anomaly,
  SessionMismatch,
  TimeInFuture,
  TransactionAnomaly,
  UnreadableField,
  WebhookMismatch,
} from "./anomaly.ts";
import { statusAnomalies } from "./status_anomalies.ts";
import type { OddField } from "../../core/wire/odd_field.ts";
import { ORDER_FIELDS, orderField } from "../../core/wire/order_fields.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import { CLAIM_FIELDS, type OrderFacts } from "../events/order_facts.ts";
import { differences } from "../outcomes/match.ts";
import {
  assetPrecision,
  type ComparedOn,
  sameValue,
} from "../orders/compare.ts";

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
    const { statedChangedAt: changedAt, statedCreatedAt: createdAt } = latest;
    const isLate = changedAt !== null &&
      compareTimes(changedAt, latest.readAt) > 0;
    found.push(...futureTimes({
      changedAt: isLate ? changedAt : null,
      createdAt,
    }));
    if (changedAt && !isLate) {
      found.push({
        kind: "time_before_creation",
        field: "changedAt",
        stated: changedAt,
      });
    }
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
function transactionAnomalies(
  latest: OrderReading | null,
  { claims: claims, decided: { status } }: Resolved,
): TransactionAnomaly[] {
  const found: TransactionAnomaly[] = [];
  const form = latest === null ? "unstated" : statedTransactionForm(latest);
  if (latest?.status === "success" && form === "empty") {
    found.push({ kind: "success_without_transaction", field: "txId" });
  }
  if (latest !== null && form === "unreadable") {
    const { txId } = latest;
    found.push({ kind: "transaction_unreadable", field: "txId", txId });
  }
  if (status !== "failed" && status !== "cancelled") return found;
  const read = form === "empty" ? null : latest?.txId ?? null;
  const txId = read ?? claimedValue(claims, "txId");
  if (
    txId !== null && transactionForm(latest?.network ?? null, txId) !== "empty"
  ) {
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
  const found: TimeInFuture[] = [];
  for (const field in stated) {
    const time = stated[field] ?? null;
    if (time !== null) {
      found.push({ kind: "time_in_future", field, stated: time });
    }
  }
  return found;
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

/**
 * Lists how an order differs from what was asked for.
 *
 * @param fields Fields of the order; what is null is not compared.
 * @param expected What was asked for.
 * @param assets Asset table that gives the precision of amounts.
 * @returns The mismatches.
 */
function sessionMismatches(
  fields: OrderFacts,
  expected: Expectation,
  assets: AssetTable,
): readonly SessionMismatch[] {
  const isRestricted = expected.flowType === "simple_full_restrict";
  return differences(fields, expected, assets).map((difference) => {
    const kind = ORDER_FIELDS[difference.field].mismatch;
    return {
      kind,
      source: "session",
      ...difference,
      customerMayChoose: !isRestricted && kind !== "user_mismatch",
    };
  });
}

/** Fields that are compared: a mismatch of them has a kind. */
const COMPARED = CLAIM_FIELDS.flatMap((field) => {
  if (field === "scAddress" || field === "scInputData") return [];
  const kind = orderField(field).mismatch;
  return kind === undefined ? [] : [{ field, kind }];
});

type ComparedField = (typeof COMPARED)[number]["field"];

/**
 * Lists the fields in which a webhook differs from the latest reading.
 *
 * @param latest The latest reading of the order.
 * @param resolved Intermediate results of its state.
 * @param network Network that was asked for; null when it is not known.
 * @returns The first difference of each field.
 */
function webhookMismatches(
  latest: OrderReading | null,
  resolved: Resolved,
  network: string | null,
): WebhookMismatch[] {
  if (latest === null) return [];
  const found: WebhookMismatch[] = [];
  for (const { field, kind } of COMPARED) {
    const read = latest[field];
    if (!read) continue;
    const of = latest.network ?? network;
    const stated = firstOther(field, read, resolved, {
      network: of,
      decimals: assetPrecision(resolved.assets, latest.commodity, of),
    });
    if (stated !== null) {
      found.push({
        kind,
        field,
        source: "webhook",
        stated,
        read,
      });
    }
  }
  return found;
}

/** The first value of a webhook that differs from the reading. */
function firstOther(
  field: ComparedField,
  read: string,
  resolved: Resolved,
  on: ComparedOn,
): string | null {
  for (const { bodies } of resolved.claims) {
    for (const { [field]: stated } of bodies) {
      if (
        stated !== null && stated !== read &&
        !sameValue(field, stated, read, on)
      ) return stated;
    }
  }
  return null;
}
