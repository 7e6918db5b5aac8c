import type { Anomaly } from "../anomalies/anomaly.ts";
import { isFinal, isKnown } from "./order_rank.ts";
import type { OrderState } from "./order_state.ts";
import type { Status } from "./status.ts";

/**
 * What is to be said of an order first, as a code with its data; the command
 * line makes a sentence of it. `read` is what the service shows, `claimed` what
 * webhooks say.
 */
export type OrderVerdict =
  /** Nothing was said of the order. */
  | { readonly code: "nothing_known" }
  /** The service does not know it, and no claim counts any more: forged. */
  | { readonly code: "unknown_to_service" }
  /** A webhook claims a status, and the service has not shown the order yet. */
  | { readonly code: "not_shown_yet"; readonly claimed: Status }
  /** The service showed the order once and does not know it any more. */
  | { readonly code: "no_longer_shown"; readonly read: Status }
  /** The service shows it without a status that can be read. */
  | { readonly code: "without_status" }
  /** The service shows a status that this version does not know. */
  | { readonly code: "unrecognised_status"; readonly read: Status }
  /** A webhook claims more than the service shows; null is not read yet. */
  | {
    readonly code: "not_confirmed";
    readonly claimed: Status;
    readonly read: Status | null;
  }
  /** The service did not agree with what webhooks claim. */
  | {
    readonly code: "claim_rejected";
    readonly claimed: readonly Status[];
    readonly read: Status;
  }
  /** The customer has not paid yet. */
  | { readonly code: "created" }
  /** The payment is under way. */
  | { readonly code: "progress" }
  /** Paid, and not sent yet; `transferSeen` when a webhook saw it begin. */
  | { readonly code: "pending"; readonly transferSeen: boolean }
  /** The service has taken a final status back. */
  | {
    readonly code: "final_changed";
    readonly read: Status;
    readonly before: readonly Status[];
    readonly txId: string | null;
  }
  /** Success, and as it was asked for. */
  | { readonly code: "succeeded"; readonly txId: string | null }
  /** Success, and the transaction is stated as empty. */
  | { readonly code: "success_without_transaction" }
  /** Success, and not what the order's session asked for. */
  | {
    readonly code: "success_not_as_requested";
    readonly fields: readonly string[];
  }
  /** Failed or cancelled, and the service names a transaction. */
  | {
    readonly code: "sent_without_success";
    readonly read: Status;
    readonly txId: string;
  }
  /** Paid too late (4016): the service owes the customer a refund. */
  | (UnsentOrder & {
    readonly code: "refund_due";
    readonly read: Status;
  })
  /** The payment failed. */
  | (UnsentOrder & {
    readonly code: "failed";
    readonly failReason: string | null;
  })
  /** The customer cancelled before anything was charged (4018). */
  | (UnsentOrder & { readonly code: "cancelled_by_customer" })
  /** Cancelled after the payment was processed. */
  | (UnsentOrder & { readonly code: "cancelled_after_payment" });

/** An order that the service ended without a transaction. */
export interface UnsentOrder {
  /** Transaction that webhooks alone name; null when none does. */
  readonly claimedTxId: string | null;
}

/**
 * Sums up an order: the one thing that a person has to know first.
 *
 * @param state The order.
 * @returns A code, and what it is about.
 *
 * @example An order of which nothing is known
 * ```ts
 * import { verdictOf } from "@rampkit/onramp/ledger";
 * import { initialOrderFold, orderState } from "@rampkit/onramp/ledger/internals";
 * import assert from "node:assert/strict";
 *
 * const { code } = verdictOf(orderState(initialOrderFold("01ORDER")));
 * assert.equal(code, "nothing_known");
 * ```
 */
export function verdictOf(state: OrderState): OrderVerdict {
  const { reason, status, trust } = state;
  const absent = anomalyOf(state, "absent");
  if (absent?.wasShown === true && state.confirmed !== null) {
    return { code: "no_longer_shown", read: state.confirmed.status };
  }
  switch (reason.code) {
    case "nothing_claimed_or_read":
      return { code: "nothing_known" };
    case "nothing_claimed_of_absent_order":
    case "all_claims_contradicted":
      return { code: "unknown_to_service" };
    case "claim_of_absent_order":
      return { code: "not_shown_yet", claimed: reason.claimed };
    case "reading_without_status":
      return { code: "without_status" };
    case "claim_not_read":
      return { code: "not_confirmed", claimed: reason.claimed, read: null };
    case "claim_ahead_of_reading": {
      const { claimed, read } = reason;
      return changed(state) ?? { code: "not_confirmed", claimed, read };
    }
    case "higher_claims_contradicted": {
      const { contradicted: claimed, read } = reason;
      return changed(state) ?? { code: "claim_rejected", claimed, read };
    }
  }
  if (trust === "confirmed" && !isKnown(status)) {
    return { code: "unrecognised_status", read: status };
  }
  return changed(state) ??
    (isFinal(status) ? finalVerdict(state) : openVerdict(state));
}

/** The verdict where the service has taken a final status back. */
function changed(state: OrderState): OrderVerdict | null {
  const anomaly = anomalyOf(state, "final_changed");
  if (anomaly === undefined) return null;
  const { read, before } = anomaly;
  return { code: "final_changed", read, before, txId: readTxId(state) };
}

function finalVerdict(state: OrderState): OrderVerdict {
  const { status, release, failReason } = state;
  const txId = readTxId(state);
  if (status === "success") {
    if (release !== "yes") {
      return {
        code: "success_not_as_requested",
        fields: requestedOtherwise(state),
      };
    }
    return anomalyOf(state, "success_without_transaction") === undefined
      ? { code: "succeeded", txId }
      : { code: "success_without_transaction" };
  }
  if (txId !== null) {
    return { code: "sent_without_success", read: status, txId };
  }
  const unsent = { claimedTxId: state.claimed?.txId ?? null };
  if (failReason === "4016") {
    return { code: "refund_due", read: status, ...unsent };
  }
  if (status === "failed") return { code: "failed", failReason, ...unsent };
  return failReason === "4018"
    ? { code: "cancelled_by_customer", ...unsent }
    : { code: "cancelled_after_payment", ...unsent };
}

function openVerdict({ status, transferSeen }: OrderState): OrderVerdict {
  switch (status) {
    case "progress":
      return { code: "progress" };
    case "pending":
      return { code: "pending", transferSeen };
    default:
      return { code: "created" };
  }
}

/** The transaction by the service's own word. */
function readTxId({ confirmed }: OrderState): string | null {
  return confirmed?.txId ?? null;
}

/** Fields in which the order differs from what its session asked for. */
function requestedOtherwise({ anomalies }: OrderState): string[] {
  const fields = anomalies.flatMap((anomaly) =>
    "source" in anomaly && anomaly.source === "session" ? [anomaly.field] : []
  );
  return [...new Set(fields)].sort();
}

function anomalyOf<Kind extends Anomaly["kind"]>(
  { anomalies }: OrderState,
  kind: Kind,
): Extract<Anomaly, { readonly kind: Kind }> | undefined {
  return anomalies.find((anomaly): anomaly is Extract<
    Anomaly,
    { readonly kind: Kind }
  > => anomaly.kind === kind);
}
