import {
  CLAIM_FIELDS,
  compareTimes,
  type Expectation,
  type OrderFacts,
} from "../events/event.ts";
import {
  assetPrecision,
  type Claim,
  type OrderFold,
  sameValue,
} from "../orders/order_fold.ts";
import {
  compareText,
  isFinal,
  isKnown,
  orderRank,
} from "../machines/machine.ts";
import {
  claimedValue,
  claimState,
  contestingClaims,
  orderMove,
  otherFinals,
  readingFacts,
  type Resolved,
} from "../orders/order_status.ts";
import type { Status } from "../machines/transition.ts";
import type {
  Anomaly,
  SessionMismatch,
  StatusAnomaly,
  TimeInFuture,
  TransactionAnomaly,
  UnreadableField,
  WebhookMismatch,
} from "./anomaly.ts";
import { transactionForm } from "../../core/chain/canonical.ts";
import {
  type OrderReading,
  statedTransactionForm,
} from "../events/readings.ts";
import { candidatesOf } from "../orders/expectations.ts";
import type { OddField } from "../../core/wire/page.ts";
import { ORDER_FIELDS, orderField } from "../../core/wire/order_fields.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import { differences } from "../outcomes/match.ts";

/** What is odd about the status of an order. */
export function statusAnomalies(fold: OrderFold): StatusAnomaly[] {
  const { latest, absentAt, seenAt } = fold;
  const found: StatusAnomaly[] = [];
  const contesting = contestingClaims(fold);
  if (latest !== null && contesting.length > 0) {
    const kind = "contested";
    found.push({ kind, read: latest.status, claimed: contesting });
  }
  const finals = fold.claims.filter((claim) =>
    isFinal(claim.status) && claimState(fold, claim) !== "contradicted"
  );
  if (
    finals.length > 1 &&
    !finals.every((claim) => claimState(fold, claim) === "observed")
  ) {
    found.push({
      kind: "contradictory_webhooks",
      claimed: finals.map(({ status }) => status),
    });
  }
  for (const claim of fold.claims) {
    if (
      claimState(fold, claim) === "contradicted" && !isOvertaken(fold, claim)
    ) {
      found.push({
        kind: "contradicted",
        claimed: claim.status,
        read: latest?.status ?? null,
      });
    }
  }
  const before = otherFinals(fold);
  const backwards = regression(fold);
  if (latest !== null && before.length > 0) {
    found.push({ kind: "final_changed", read: latest.status, before });
  } else if (backwards !== null) {
    found.push(backwards);
  }
  if (
    absentAt !== null &&
    (seenAt === null || compareTimes(absentAt, seenAt) > 0)
  ) {
    found.push({ kind: "absent", wasObserved: seenAt !== null });
  }
  if (latest !== null && !isKnown(latest.status)) {
    found.push({ kind: "unrecognised_status", read: latest.status });
  }
  return found;
}

/**
 * Whether a claim was overtaken: the latest reading ranks at least as high and
 * the claim is not final, so that nothing depends on it any more.
 */
function isOvertaken(fold: OrderFold, claim: Claim): boolean {
  return fold.latest !== null && !isFinal(claim.status) &&
    orderRank(fold.latest.status) >= orderRank(claim.status);
}

/**
 * The service went back, and has reached no other final status since. Going
 * back from a final status and reaching it again is a regression too.
 */
function regression({ observedStatuses }: OrderFold): StatusAnomaly | null {
  for (const { status: from, first: fromAt } of observedStatuses) {
    if (fromAt === "") continue;
    const after = observedStatuses.find(({ status, last }) =>
      goesBack(from, status) && last !== "" && compareTimes(last, fromAt) > 0
    );
    if (after !== undefined) {
      const { status: to, last: toAt } = after;
      return { kind: "regression", from, fromAt, to, toAt };
    }
  }
  return null;
}

function goesBack(from: Status, to: Status): boolean {
  const { anomaly } = orderMove(from, to);
  return isKnown(to) &&
    (anomaly === "regression" || anomaly === "final_changed");
}

/** What is odd about an order, sorted by kind, then field. */
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
      const kind = "time_before_creation";
      found.push({ kind, field: "changedAt", stated: changedAt });
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

/** Times of the service that lie after the reading that shows them; null is none. */
export function futureTimes(
  stated: Readonly<Record<string, string | null>>,
): readonly TimeInFuture[] {
  return Object.entries(stated).flatMap(([field, time]) =>
    time === null ? [] : [{ kind: "time_in_future", field, stated: time }]
  );
}

/** Fields that could not be read, each with each kind of value once. */
export function unreadableFields(
  readings: readonly { readonly odd: readonly OddField[] }[],
): readonly UnreadableField[] {
  const found = new Map<string, UnreadableField>();
  for (const { odd } of readings) {
    for (const { field, value } of odd) {
      const kind = "unreadable_field";
      found.set(`${field} ${value}`, { kind, field, value });
    }
  }
  return [...found].sort(([a], [b]) => a < b ? -1 : 1).map(([, one]) => one);
}

/** How an order differs from what was asked for; what is null is not compared. */
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

/** The first difference of each field between the webhooks and the latest reading. */
function webhookMismatches(
  latest: OrderReading | null,
  resolved: Resolved,
  network: string | null,
): WebhookMismatch[] {
  if (latest === null) return [];
  const of = latest.network ?? network;
  const decimals = assetPrecision(resolved.assets, latest.commodity, of);
  const bodies = resolved.claims.flatMap((claim) => claim.bodies);
  const found: WebhookMismatch[] = [];
  for (const { field, kind } of COMPARED) {
    const read = latest[field];
    if (!read) continue;
    const other = bodies.find(({ [field]: stated }) =>
      stated !== null && stated !== read &&
      !sameValue(field, stated, read, { network: of, decimals })
    );
    const stated = other?.[field] ?? null;
    if (stated !== null) {
      found.push({ kind, field, source: "webhook", stated, read });
    }
  }
  return found;
}
