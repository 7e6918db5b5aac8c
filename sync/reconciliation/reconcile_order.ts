import { assetDecimals } from "../../core/assets/assets.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import type { IncompleteReason } from "../../core/wire/objects.ts";
import {
  compareTimes,
  FACT_FIELDS,
  isFinal,
  type OrderFacts,
  orderMove,
  orderRank,
  outcomeOf,
  sameValue,
  settle,
} from "../../ledger/for_sync.ts";
import type { OrderState, Status, Trust } from "../../ledger/mod.ts";

/** All categories, in the order in which they are shown. */
export const RECONCILE_CATEGORIES = [
  "agree",
  "claimed_only",
  "behind",
  "final_changed",
  "contradicted",
  "absent",
] as const;

/**
 * How service and ledger compare on one order.
 *
 * - `agree`: the service has confirmed what the ledger holds.
 * - `claimed_only`: webhooks are ahead of what the ledger has read.
 * - `behind`: the service has moved on, or knows an order the ledger does not.
 * - `final_changed`: the service took a final status back; whatever was
 *   released or refunded by it has to be looked at.
 * - `contradicted`: a webhook claims what the service does not agree with.
 * - `absent`: the ledger knows an order the service does not.
 */
export type ReconcileCategory = (typeof RECONCILE_CATEGORIES)[number];

/** All flags, in the order in which they are shown. */
export const RECONCILE_FLAGS = [
  "refund_due",
  "sent_without_success",
  "cancelled_after_payment",
  "amount_mismatch",
  "not_as_requested",
  "contradictory_reading",
  "success_without_transaction",
  "stuck",
  "missed_webhook",
] as const;

/**
 * What a person should look at, whether or not the two agree.
 *
 * - `missed_webhook`: the webhook of the order's status never came.
 * - `stuck`: paid and not delivered for too long.
 * - `refund_due`: paid after the order's timeout (4016).
 * - `amount_mismatch`: paid amount is not the order's (4017).
 * - `not_as_requested`: success, and not what was asked for.
 * - `cancelled_after_payment`: cancelled, and not stated that nothing was
 *   charged.
 * - `success_without_transaction`: success, and the transaction is empty.
 * - `sent_without_success`: failed or cancelled, and a transaction is named.
 * - `contradictory_reading`: success, and a payment error is named.
 */
export type ReconcileFlag = (typeof RECONCILE_FLAGS)[number];

/** A field on which service and ledger differ. */
export interface FieldDifference {
  /** Name of the field in an order's state. */
  readonly field: keyof OrderFacts | "status";
  /** What the service says; null when it states none. */
  readonly service: string | null;
  /** What the ledger says; null when it states none. */
  readonly ledger: string | null;
}

/** What to look up on the chain. */
export type OnChain = Pick<
  OrderFacts,
  "commodity" | "network" | "cryptoAmount" | "address" | "txId"
>;

/** One order, compared. */
export interface ReconcileRow {
  /** Order identifier. */
  readonly orderId: string;
  /** Short identifier shown to people. */
  readonly externalOrderId: string | null;
  /** How the two compare. */
  readonly category: ReconcileCategory;
  /** Whether they disagree: what the exit code 3 is about. */
  readonly disagrees: boolean;
  /** What a person should look at. */
  readonly flags: readonly ReconcileFlag[];
  /** Status at the service; null when it does not know the order. */
  readonly serviceStatus: Status | null;
  /** Status in the ledger; null when it does not know the order. */
  readonly ledgerStatus: Status | null;
  /** How sure the ledger is. */
  readonly trust: Trust | null;
  /** Fields that differ. */
  readonly differences: readonly FieldDifference[];
  /** Creation time by the service, UTC ISO 8601. */
  readonly createdAt: string | null;
  /** Last change by the service, UTC ISO 8601. */
  readonly changedAt: string | null;
  /** For the partner's own check on chain: no chain is read here. */
  readonly onChain: OnChain;
  /** What was found. */
  readonly finding: ReconcileFinding;
}

/**
 * What was found about one order, as a code with its data. The fields that
 * differ stand in `differences` of the row.
 */
export type ReconcileFinding =
  | {
    /** The ledger knows the order, the service does not. */
    readonly code: "unknown_to_service";
    /** Status in the ledger. */
    readonly status: Status;
    /** How sure the ledger is. */
    readonly trust: Trust;
  }
  | {
    /** The service knows the order, the ledger does not. */
    readonly code: "unknown_to_ledger";
    /** Status at the service. */
    readonly status: Status;
  }
  | {
    /** Webhooks claim other final statuses than the service shows. */
    readonly code: "claim_contests_final";
    /** Status that the service shows. */
    readonly read: Status;
    /** Statuses that webhooks claim. */
    readonly claimed: readonly Status[];
  }
  | {
    /** The service did not agree with a claim. */
    readonly code: "claim_contradicted";
    /** Status that a webhook claimed. */
    readonly claimed: Status;
    /** Status that the service shows; null when it does not know the order. */
    readonly read: Status | null;
  }
  | {
    /** The service took a final status back. */
    readonly code: "final_changed";
    /** Status that the service shows. */
    readonly read: Status;
    /** Final statuses that it has shown before. */
    readonly before: readonly Status[];
  }
  | {
    /**
     * - `claim_of_other_end`: a webhook claims another final status.
     * - `claim_equal`: a webhook claims what the service shows, and the
     *   ledger has not read it yet.
     * - `claim_differs`: a webhook is ahead of the service, or wrong.
     * - `change_not_read`: the ledger has not read the last change.
     */
    readonly code:
      | "claim_of_other_end"
      | "claim_equal"
      | "claim_differs"
      | "change_not_read";
  }
  | {
    /** Both sides hold the same. */
    readonly code: "agree";
    /** The status that both have. */
    readonly status: Status;
  };

/** Why it is not proven that the service showed everything. */
export type UnprovenReason =
  | IncompleteReason
  | {
    /** The service refuses each request that asks for the order. */
    readonly code: "order_refused";
    /** The order. */
    readonly orderId: string;
  }
  | {
    /** A search by order ids did not reach its end. */
    readonly code: "search_not_ended";
  };

/** All findings, the gravest first: money that is owed or may be lost, then
 * states that are not what the service says, then what is only slow. */
export const RECONCILE_SEVERITY: readonly (
  | ReconcileCategory
  | ReconcileFlag
)[] = [
  "refund_due",
  "final_changed",
  "sent_without_success",
  "cancelled_after_payment",
  "amount_mismatch",
  "not_as_requested",
  "contradictory_reading",
  "success_without_transaction",
  "stuck",
  "contradicted",
  "absent",
  "behind",
  "claimed_only",
  "missed_webhook",
  "agree",
];

export interface ReconcileRules {
  readonly readAtMs: number;
  readonly assets: AssetTable;
}

/** Paid and not delivered for this long is stuck, in milliseconds. */
const STUCK_AFTER_MS = 3_600_000;

/** A webhook may take this long, in milliseconds. */
const WEBHOOK_GRACE_MS = 300_000;

/** An order by the service's answer alone, and in the ledger; null is not there. */
interface BothSides {
  readonly service: OrderState | null;
  readonly ledger: OrderState | null;
}

/** Compares what both sides have of one order. */
export function reconcileOrder(
  sides: BothSides,
  rules: ReconcileRules,
): ReconcileRow {
  const { service, ledger } = sides;
  const known = service ?? ledger;
  if (known === null) {
    throw new TypeError("Cannot compare an order that neither side knows");
  }
  const differences = service === null || ledger === null
    ? []
    : fieldDifferences(service, ledger, rules.assets);
  const [category, finding] = findingOf(sides, known, differences);
  const { commodity, network, cryptoAmount, address, txId } = known;
  return {
    orderId: known.orderId,
    externalOrderId: known.externalOrderId,
    category,
    disagrees: category === "final_changed" || service === null ||
      ledger === null || differences.length > 0,
    flags: reconcileFlags(sides, rules),
    serviceStatus: service?.status ?? null,
    ledgerStatus: ledger?.status ?? null,
    trust: ledger?.trust ?? null,
    differences,
    createdAt: known.createdAt,
    changedAt: known.changedAt,
    onChain: { commodity, network, cryptoAmount, address, txId },
    finding,
  };
}

/** `known` is the order at the service, or in the ledger where that alone knows it. */
function findingOf(
  { service, ledger }: BothSides,
  known: OrderState,
  differences: readonly FieldDifference[],
): [ReconcileCategory, ReconcileFinding] {
  const { status, trust } = known;
  if (service === null) {
    return ["absent", { code: "unknown_to_service", status, trust }];
  }
  if (ledger === null) return ["behind", { code: "unknown_to_ledger", status }];
  const before = finalsBefore(service, ledger);
  if (before.length > 0) {
    return ["final_changed", { code: "final_changed", read: status, before }];
  }
  for (const anomaly of ledger.anomalies) {
    if (anomaly.kind === "contested") {
      const { read, claimed } = anomaly;
      const code = "claim_contests_final";
      return ["contradicted", { code, read, claimed }];
    }
    if (anomaly.kind === "contradicted") {
      const { read, claimed } = anomaly;
      return ["contradicted", { code: "claim_contradicted", claimed, read }];
    }
  }
  if (ledger.trust !== "claimed") {
    return differences.length > 0
      ? ["behind", { code: "change_not_read" }]
      : ["agree", { code: "agree", status }];
  }
  const areFinal = isFinal(ledger.status) && isFinal(status);
  if (areFinal && ledger.status !== status) {
    return ["contradicted", { code: "claim_of_other_end" }];
  }
  const code = differences.length === 0 ? "claim_equal" : "claim_differs";
  return ["claimed_only", { code }];
}

function fieldDifferences(
  service: OrderState,
  ledger: OrderState,
  table: AssetTable,
): FieldDifference[] {
  const [status, other] = [service.status, ledger.status];
  const found: FieldDifference[] = status === other
    ? []
    : [{ field: "status", service: status, ledger: other }];
  const { commodity, network } = service;
  const decimals = commodity === null || network === null
    ? null
    : assetDecimals(table, commodity, network);
  for (const field of FACT_FIELDS) {
    const theirs = service[field];
    const ours = ledger[field];
    // A field the answer leaves out says nothing; the ledger may know it. An
    // ended order whose transaction is stated as none has lost it.
    const isTakenBack = field === "txId" && ours !== null &&
      isFinal(service.status) && service.facts.tx === "empty";
    if (theirs === null && !isTakenBack) continue;
    if (
      theirs === null || ours === null ||
      !sameValue(field, theirs, ours, { network, decimals })
    ) {
      found.push({ field, service: theirs, ledger: ours });
    }
  }
  return found;
}

/**
 * Final statuses that the service has shown before the one it shows now: those
 * that the ledger read, and that of its last reading.
 */
function finalsBefore(
  service: OrderState,
  ledger: OrderState,
): Status[] {
  const isLeft = (from: Status) =>
    orderMove(from, service.status).anomaly === "final_changed";
  const found = ledger.anomalies.flatMap((one) =>
    one.kind === "final_changed"
      ? [...one.before, ...[one.read].filter(isLeft)]
      : []
  );
  if (isLater(service, ledger) && ledger.trust === "confirmed") {
    found.push(...[ledger.status].filter(isLeft));
  }
  return [...new Set(found)].filter((status) => status !== service.status);
}

/**
 * Whether the service's state is the later one: the ledger may have read another
 * since the service was asked. Times are of whole seconds, so that ranks decide
 * within one, as they do among readings.
 */
function isLater(service: OrderState, ledger: OrderState): boolean {
  if (service.changedAt === null) return false;
  if (ledger.changedAt === null) return true;
  const order = compareTimes(service.changedAt, ledger.changedAt);
  return order > 0 ||
    (order === 0 && orderRank(service.status) > orderRank(ledger.status));
}

/**
 * Finds what a person should look at in one order: kinds of attention by the
 * table of outcomes, of what the service shows now, without what a person has
 * settled; that it is not what was asked for by the ledger, which knows what
 * was; and a webhook that is missing.
 */
function reconcileFlags(
  { service, ledger }: BothSides,
  { readAtMs }: ReconcileRules,
): ReconcileFlag[] {
  if (service === null) return [];
  const { status, facts } = service;
  const changedAt = service.changedAt ?? service.createdAt;
  // Between two times of the service's clock.
  const ageMs = changedAt === null
    ? Infinity
    : readAtMs - Date.parse(changedAt);
  // Paid: the service has it as pending, or a webhook saw the transfer begin.
  const isPaid = status === "pending" ||
    (status === "progress" && (ledger?.transferSeen ?? false));
  const overdue = isPaid && ageMs >= STUCK_AFTER_MS ? "yes" : "no";
  const byRow = outcomeOf({ ...facts, overdue });
  const { attention } = settle(byRow, facts, ledger?.byHand ?? null);
  const found = new Set<string>(attention);
  const claims = (ledger?.history ?? []).filter(({ source }) =>
    source === "webhook"
  );
  const isAnnounced = isFinal(status)
    ? claims.some((claim) => claim.status === status)
    : claims.length > 0;
  if (status !== "created" && ageMs >= WEBHOOK_GRACE_MS && !isAnnounced) {
    found.add("missed_webhook");
  }
  if (ledger?.attention.includes("not_as_requested")) {
    found.add("not_as_requested");
  }
  return RECONCILE_FLAGS.filter((flag) => found.has(flag));
}
