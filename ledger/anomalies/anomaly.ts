import type { VerificationState } from "../../core/webhook_event/webhook_event.ts";
import {
  fieldsWith,
  type MismatchKind,
  ORDER_FIELDS,
} from "../../core/wire/fields.ts";
import type { OddField, OddValue } from "../../core/wire/objects.ts";
import type { Expectation } from "../events/event.ts";
import { compareTimes } from "../events/time.ts";
import {
  assetPrecision,
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
import { transactionForm } from "../../core/chain/canonical.ts";
import {
  type OrderReading,
  statedTransactionForm,
} from "../events/readings.ts";
import { candidatesOf } from "../orders/expectations.ts";
import { differences } from "../outcomes/match.ts";

/**
 * Something odd that a person may have to look at: a value, not an error. It
 * holds a kind and data; a sentence is made of them where they are shown.
 */
export type Anomaly =
  | StatusAnomaly
  | TransactionAnomaly
  | WebhookMismatch
  | SessionMismatch
  | UnknownSession
  | VerificationReversed
  | TimeInFuture
  | TimeBeforeCreation
  | UnreadableField;

/** The kinds of anomaly. */
export type AnomalyKind = Anomaly["kind"];

/** An anomaly that is not about a single field. */
export interface WithoutField {
  /** Never set. */
  readonly field?: never;
}

/** An anomaly of the status of an order. */
export type StatusAnomaly =
  & WithoutField
  & (
    /**
     * Final claims that still count differ from the confirmed final status.
     */
    | {
      readonly kind: "contested";
      /** Status of the latest reading. */
      readonly read: Status;
      /** Final statuses that webhooks claim. */
      readonly claimed: readonly Status[];
    }
    /** Webhooks claim more than one final status. */
    | {
      readonly kind: "contradictory_webhooks";
      /** Final statuses that webhooks claim. */
      readonly claimed: readonly Status[];
    }
    /** The service did not agree with a claim for ten minutes. */
    | {
      readonly kind: "contradicted";
      /** Status that a webhook claimed. */
      readonly claimed: Status;
      /** Status of the latest reading; null without one. */
      readonly read: Status | null;
    }
    /** The service showed another final status before: it took it back. */
    | {
      readonly kind: "final_changed";
      /** Status of the latest reading. */
      readonly read: Status;
      /** Final statuses that the service showed before. */
      readonly before: readonly Status[];
    }
    /** The service's own history went backwards. */
    | {
      readonly kind: "regression";
      /** The higher status. */
      readonly from: Status;
      /** When the service first showed it, UTC ISO 8601. */
      readonly fromAt: string;
      /** The lower status. */
      readonly to: Status;
      /** When the service last showed it, UTC ISO 8601. */
      readonly toAt: string;
    }
    /** The service was asked after its latest reading and has no such order. */
    | {
      readonly kind: "absent";
      /** Whether a reading showed the order before. */
      readonly wasObserved: boolean;
    }
    /** A status this version does not know. */
    | { readonly kind: "unrecognised_status"; readonly read: Status }
  );

/** An anomaly of the transaction of an order. */
export type TransactionAnomaly =
  /** Confirmed success whose transaction field is present and empty. */
  | {
    readonly kind: "success_without_transaction";
    readonly field: "txId";
  }
  /** The service states a transaction that is not in the form of its network. */
  | {
    readonly kind: "transaction_unreadable";
    readonly field: "txId";
    /** The transaction as stated; null once erased. */
    readonly txId: string | null;
  }
  /** A transaction on a failed or cancelled order. */
  | {
    readonly kind: "transaction_on_unsuccessful";
    readonly field: "txId";
    /** Status of the order. */
    readonly status: Status;
    /** The transaction. */
    readonly txId: string;
    /** Who states the transaction. */
    readonly source: "snapshot" | "webhook";
  };

/** A webhook states another value than the latest reading. */
export interface WebhookMismatch {
  /** Kind of anomaly. */
  readonly kind: MismatchKind;
  /** Field of the state. */
  readonly field: string;
  /** What differs from the reading. */
  readonly source: "webhook";
  /** Value of the webhook. */
  readonly stated: string;
  /** Value of the latest reading. */
  readonly read: string;
}

/** An order has another value than its session asked for. */
export interface SessionMismatch {
  /** Kind of anomaly. */
  readonly kind: MismatchKind;
  /** Field of the state. */
  readonly field: string;
  /** What differs from the order. */
  readonly source: "session";
  /** Value that the session asked for. */
  readonly requested: string;
  /** Value of the order. */
  readonly ordered: string;
  /** Whether the flow of the session lets the customer choose another value. */
  readonly customerMayChoose: boolean;
}

/** Webhooks name sessions that are not candidates of the order. */
export interface UnknownSession extends WithoutField {
  /** Kind of anomaly. */
  readonly kind: "session_mismatch";
  /** The sessions, in the order in which they were named. */
  readonly sessionIds: readonly string[];
}

/**
 * The service took a success of a verification back, or shows one as not
 * initiated that had begun.
 */
export interface VerificationReversed {
  /** Kind of anomaly. */
  readonly kind: "verification_reversed";
  /** Which verification. */
  readonly field: "lkyc" | "fkyc";
  /** State by the latest reading. */
  readonly read: VerificationState;
  /** The states, shown by earlier readings, that it follows unexpectedly. */
  readonly before: readonly VerificationState[];
}

/** A time of the service lies after the reading that shows it. */
export interface TimeInFuture {
  /** Kind of anomaly. */
  readonly kind: "time_in_future";
  /** Field of the state. */
  readonly field: string;
  /** The time as the service states it, UTC ISO 8601. */
  readonly stated: string;
}

/** The service states that an order changed before it was created. */
export interface TimeBeforeCreation {
  /** Kind of anomaly. */
  readonly kind: "time_before_creation";
  /** Field of the state. */
  readonly field: "changedAt";
  /** The time as the service states it, UTC ISO 8601. */
  readonly stated: string;
}

/** The service sent another kind of value than documented; it is left out. */
export interface UnreadableField {
  /** Kind of anomaly. */
  readonly kind: "unreadable_field";
  /** Path of the field by the service's names. */
  readonly field: string;
  /** The value that was sent. */
  readonly value: OddValue;
}

/** Every kind, so that a list can be searched for one of them. */
export const ANOMALY_KINDS: readonly AnomalyKind[] = Object.keys(
  {
    contested: true,
    contradictory_webhooks: true,
    contradicted: true,
    amount_mismatch: true,
    asset_mismatch: true,
    user_mismatch: true,
    address_mismatch: true,
    transaction_mismatch: true,
    success_without_transaction: true,
    transaction_on_unsuccessful: true,
    transaction_unreadable: true,
    session_mismatch: true,
    regression: true,
    final_changed: true,
    absent: true,
    verification_reversed: true,
    time_before_creation: true,
    time_in_future: true,
    unreadable_field: true,
    unrecognised_status: true,
  } satisfies Record<AnomalyKind, true>,
) as AnomalyKind[];

export function statusAnomalies(fold: OrderFold): StatusAnomaly[] {
  const { latest, absentAt, seenAt } = fold;
  const found: StatusAnomaly[] = [];
  const read = latest?.status ?? null;
  const contesting = contestingClaims(fold);
  if (read !== null && contesting.length > 0) {
    found.push({ kind: "contested", read, claimed: contesting });
  }
  const claims = fold.claims.map((claim) => ({
    claimed: claim.status,
    state: claimState(fold, claim),
  }));
  const finals = claims.filter(({ claimed, state }) =>
    isFinal(claimed) && state !== "contradicted"
  );
  if (finals.length > 1 && finals.some(({ state }) => state !== "observed")) {
    const claimed = finals.map(({ claimed }) => claimed);
    found.push({ kind: "contradictory_webhooks", claimed });
  }
  for (const { claimed, state } of claims) {
    // Where the reading ranks as high, nothing depends on a claim that is not final.
    const isOvertaken = read !== null && !isFinal(claimed) &&
      orderRank(read) >= orderRank(claimed);
    if (state === "contradicted" && !isOvertaken) {
      found.push({ kind: "contradicted", claimed, read });
    }
  }
  const before = otherFinals(fold);
  const backwards = regression(fold);
  if (read !== null && before.length > 0) {
    found.push({ kind: "final_changed", read, before });
  } else if (backwards !== null) {
    found.push(backwards);
  }
  if (
    absentAt !== null &&
    (seenAt === null || compareTimes(absentAt, seenAt) > 0)
  ) {
    found.push({ kind: "absent", wasObserved: seenAt !== null });
  }
  if (read !== null && !isKnown(read)) {
    found.push({ kind: "unrecognised_status", read });
  }
  return found;
}

/**
 * The service went back, and has reached no other final status since. Going
 * back from a final status and reaching it again is a regression too.
 */
function regression({ observedStatuses }: OrderFold): StatusAnomaly | null {
  for (const { status: from, first: fromAt } of observedStatuses) {
    if (fromAt === "") continue;
    for (const { status: to, last: toAt } of observedStatuses) {
      const { anomaly } = orderMove(from, to);
      const isBack = isKnown(to) &&
        (anomaly === "regression" || anomaly === "final_changed");
      if (isBack && toAt !== "" && compareTimes(toAt, fromAt) > 0) {
        return { kind: "regression", from, fromAt, to, toAt };
      }
    }
  }
  return null;
}

export function orderAnomalies(
  fold: OrderFold,
  resolved: Resolved,
  expected: Expectation | null,
): readonly Anomaly[] {
  const { latest, statusless } = fold;
  const found: Anomaly[] = statusAnomalies(fold);
  const isOvertaken = latest !== null && statusless !== null &&
    compareTimes(latest.readAt, statusless.readAt) > 0;
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
    // A, and a reading without a status unless A was read after it.
    ...unreadableFields(
      [latest, isOvertaken ? null : statusless].filter((one) => one !== null),
    ),
    ...transactionAnomalies(latest, resolved),
    ...latest === null ? [] : webhookMismatches(latest, resolved, expected),
  );
  if (latest !== null && expected !== null) {
    const { assets } = resolved;
    const isRestricted = expected.flowType === "simple_full_restrict";
    for (const one of differences(readingFacts(latest), expected, assets)) {
      const kind = ORDER_FIELDS[one.field].mismatch;
      const customerMayChoose = !isRestricted && kind !== "user_mismatch";
      found.push({ kind, source: "session", ...one, customerMayChoose });
    }
  }
  // Where nothing was recorded under the click id, no session is unknown.
  const candidates = candidatesOf(fold);
  const sessionIds = candidates.length === 0
    ? []
    : fold.sessions.map(({ sessionId }) => sessionId)
      .filter((id) => !candidates.some(({ sessionId }) => sessionId === id));
  if (sessionIds.length > 0) {
    found.push({ kind: "session_mismatch", sessionIds });
  }
  // Equal ones keep their order, which follows from the fold alone.
  return found.sort((a, b) =>
    compareText(a.kind, b.kind) || compareText(a.field ?? "", b.field ?? "")
  );
}

function transactionAnomalies(
  latest: OrderReading | null,
  { claims, decided: { status } }: Resolved,
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
  const found = new Map(
    readings.flatMap(({ odd }) => odd).map((one) =>
      [`${one.field} ${one.value}`, one] as const
    ),
  );
  return [...found].sort(([a], [b]) => compareText(a, b)).map(([, one]) => ({
    kind: "unreadable_field",
    ...one,
  }));
}

/** Fields that are compared: a mismatch of them has a kind. */
const COMPARED = fieldsWith("mismatch").filter((field) => field !== "network");

/** The first difference of each field between the webhooks and the latest reading. */
function webhookMismatches(
  latest: OrderReading,
  resolved: Resolved,
  expected: Expectation | null,
): WebhookMismatch[] {
  const of = latest.network ?? expected?.network ?? null;
  const decimals = assetPrecision(resolved.assets, latest.commodity, of);
  const bodies = resolved.claims.flatMap((claim) => claim.bodies);
  const found: WebhookMismatch[] = [];
  for (const field of COMPARED) {
    const kind = ORDER_FIELDS[field].mismatch;
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
