import { assetDecimals } from "../../client/assets.ts";
import type { AssetTable } from "../../client/environment.ts";
import { sameAmount, sameHash, sameIgnoringCase } from "../fold/compare.ts";
import { isFinal } from "../fold/order_rank.ts";
import type {
  OrderFacts,
  OrderState,
  Status,
  Trust,
} from "../fold/order_state.ts";

/**
 * How service and ledger stand to each other about one order.
 *
 * - `agree`: the ledger holds the service's word, and it is the same.
 * - `claimed_only`: webhooks are ahead of what the ledger has read.
 * - `behind`: the service has moved on, or knows an order the ledger does not.
 * - `contradicted`: a webhook claims what the service does not agree with.
 * - `absent`: the ledger knows an order the service does not.
 */
export type ReconcileCategory =
  | "agree"
  | "claimed_only"
  | "behind"
  | "contradicted"
  | "absent";

/**
 * What a person should look at, whether or not the two agree.
 *
 * - `missed_webhook`: the webhook of the order's status never came.
 * - `stuck`: paid and not delivered for too long.
 * - `refund_due`: paid after the order's timeout (4016).
 * - `amount_mismatch`: paid amount is not the order's (4017), or the amounts
 *   of webhook, session and service differ.
 * - `cancelled_after_payment`: cancelled, and no word that nothing was charged.
 * - `success_without_transaction`: success, and the transaction is empty.
 */
export type ReconcileFlag =
  | "missed_webhook"
  | "stuck"
  | "refund_due"
  | "amount_mismatch"
  | "cancelled_after_payment"
  | "success_without_transaction";

/** All categories, in the order in which they are shown. */
export const RECONCILE_CATEGORIES: readonly ReconcileCategory[] = [
  "agree",
  "claimed_only",
  "behind",
  "contradicted",
  "absent",
];

/** All flags, in the order in which they are shown. */
export const RECONCILE_FLAGS: readonly ReconcileFlag[] = [
  "missed_webhook",
  "stuck",
  "refund_due",
  "amount_mismatch",
  "cancelled_after_payment",
  "success_without_transaction",
];

/** A field on which service and ledger differ. */
export interface FieldDifference {
  /** Name of the field in an order's state. */
  readonly field: keyof OrderFacts | "status";
  /** What the service says; null when it states none. */
  readonly service: string | null;
  /** What the ledger says; null when it states none. */
  readonly ledger: string | null;
}

/** One order, compared. */
export interface ReconcileRow {
  /** Order identifier. */
  readonly orderId: string;
  /** Short identifier shown to people. */
  readonly externalOrderId: string | null;
  /** How the two stand to each other. */
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
  readonly onChain: {
    /** Asset code. */
    readonly commodity: string | null;
    /** Network. */
    readonly network: string | null;
    /** Amount of the asset, a decimal string. */
    readonly cryptoAmount: string | null;
    /** Address the asset goes to. */
    readonly address: string | null;
    /** Transaction hash. */
    readonly txId: string | null;
  };
  /** The finding in one sentence. */
  readonly detail: string;
}

/** Both sides of one order. */
export interface BothSides {
  /** The order by the service's answer alone; null when it is not there. */
  readonly service: OrderState | null;
  /** The order in the ledger; null when it is not there. */
  readonly ledger: OrderState | null;
}

/** How to compare. */
export interface ReconcileRules {
  /** The service's time at the reading, in milliseconds since the epoch. */
  readonly readAtMs: number;
  /** Asset table that gives the precision of amounts. */
  readonly assets: AssetTable;
  /** Paid and not delivered for this long is stuck, in milliseconds. */
  readonly stuckAfterMs: number;
  /** A webhook may take this long, in milliseconds. */
  readonly webhookGraceMs: number;
  /** A change this fresh is no disagreement yet, in milliseconds. */
  readonly toleranceMs: number;
}

/**
 * Compares one order.
 *
 * @param sides Both sides; at least one must be known.
 * @param rules How to compare.
 * @throws {TypeError} When neither side knows the order.
 *
 * @example Compare an answer with the ledger
 * ```ts ignore
 * reconcileOrder({ service, ledger }, rules).category;
 * ```
 */
export function reconcileOrder(
  sides: BothSides,
  rules: ReconcileRules,
): ReconcileRow {
  const { service, ledger } = sides;
  const known = service ?? ledger;
  if (known === null) {
    throw new TypeError("Cannot compare an order that neither side knows");
  }
  const differences = service !== null && ledger !== null
    ? fieldDifferences(service, ledger, rules.assets)
    : [];
  const category = categoryOf(service, ledger, differences);
  const disagrees = category === "absent" || service === null ||
    (!isFresh(service, rules) && (ledger === null || differences.length > 0));
  return {
    orderId: known.orderId,
    externalOrderId: known.externalOrderId,
    category,
    disagrees,
    flags: flagsOf(service, ledger, rules),
    serviceStatus: service?.status ?? null,
    ledgerStatus: ledger?.status ?? null,
    trust: ledger?.trust ?? null,
    differences,
    createdAt: known.createdAt,
    changedAt: known.changedAt,
    onChain: {
      commodity: known.commodity,
      network: known.network,
      cryptoAmount: known.cryptoAmount,
      address: known.address,
      txId: known.txId,
    },
    detail: detailOf(category, service, ledger, differences),
  };
}

function categoryOf(
  service: OrderState | null,
  ledger: OrderState | null,
  differences: readonly FieldDifference[],
): ReconcileCategory {
  if (service === null) return "absent";
  if (ledger === null) return "behind";
  const refused = ledger.anomalies.some(({ kind }) =>
    kind === "contested" || kind === "contradicted"
  );
  const otherEnd = ledger.trust === "claimed" && isFinal(ledger.status) &&
    isFinal(service.status) && ledger.status !== service.status;
  if (refused || otherEnd) return "contradicted";
  if (ledger.trust === "claimed") return "claimed_only";
  return differences.length > 0 ? "behind" : "agree";
}

type Same = (service: string, ledger: string, state: OrderState) => boolean;

/** Fields both sides state, and when two values of each are the same. */
function comparisons(table: AssetTable): Readonly<Record<string, Same>> {
  return {
    currency: sameIgnoringCase,
    currencyAmount: (a, b) => sameAmount(a, b, null),
    commodity: sameIgnoringCase,
    network: sameIgnoringCase,
    cryptoAmount: (a, b, { commodity, network }) =>
      sameAmount(
        a,
        b,
        commodity === null || network === null
          ? null
          : assetDecimals(table, commodity, network),
      ),
    address: sameHash,
    txId: sameHash,
    userId: (a, b) => a === b,
    clickId: (a, b) => a === b,
    externalOrderId: (a, b) => a === b,
    failReason: (a, b) => a === b,
  };
}

function fieldDifferences(
  service: OrderState,
  ledger: OrderState,
  table: AssetTable,
): FieldDifference[] {
  const found: FieldDifference[] = [];
  if (service.status !== ledger.status) {
    found.push({
      field: "status",
      service: service.status,
      ledger: ledger.status,
    });
  }
  for (const [name, same] of Object.entries(comparisons(table))) {
    const field = name as keyof OrderFacts;
    const theirs = service[field];
    const ours = ledger[field];
    // A field the answer leaves out says nothing; the ledger may know it.
    if (theirs === null) continue;
    if (ours === null || !same(theirs, ours, service)) {
      found.push({ field, service: theirs, ledger: ours });
    }
  }
  return found;
}

function flagsOf(
  service: OrderState | null,
  ledger: OrderState | null,
  rules: ReconcileRules,
): ReconcileFlag[] {
  if (service === null) return [];
  const found: Record<ReconcileFlag, boolean> = {
    missed_webhook: missedWebhook(service, ledger, rules),
    stuck: isStuck(service, ledger, rules),
    refund_due: service.failReason === "4016",
    amount_mismatch: service.failReason === "4017" ||
      (ledger?.anomalies.some(({ kind }) => kind === "amount_mismatch") ??
        false),
    cancelled_after_payment: service.status === "cancelled" &&
      service.failReason !== "4018",
    success_without_transaction: service.anomalies.some(({ kind }) =>
      kind === "success_without_transaction"
    ),
  };
  return RECONCILE_FLAGS.filter((flag) => found[flag]);
}

function missedWebhook(
  service: OrderState,
  ledger: OrderState | null,
  rules: ReconcileRules,
): boolean {
  if (service.status === "created") return false;
  if (ageMs(service, rules) < rules.webhookGraceMs) return false;
  const heard = ledger?.history.filter(({ source }) => source === "webhook") ??
    [];
  return isFinal(service.status)
    ? !heard.some(({ status }) => status === service.status)
    : heard.length === 0;
}

/** Paid: the service has it as pending, or a webhook saw the transfer begin. */
function isStuck(
  service: OrderState,
  ledger: OrderState | null,
  rules: ReconcileRules,
): boolean {
  const paid = service.status === "pending" ||
    (service.status === "progress" && (ledger?.transferSeen ?? false));
  return paid && ageMs(service, rules) >= rules.stuckAfterMs;
}

function isFresh(service: OrderState, rules: ReconcileRules): boolean {
  return ageMs(service, rules) < rules.toleranceMs;
}

/** Since the last change, between two times of the service's own clock. */
function ageMs(service: OrderState, { readAtMs }: ReconcileRules): number {
  const changedAt = service.changedAt ?? service.createdAt;
  return changedAt === null ? Infinity : readAtMs - Date.parse(changedAt);
}

function detailOf(
  category: ReconcileCategory,
  service: OrderState | null,
  ledger: OrderState | null,
  differences: readonly FieldDifference[],
): string {
  const list = differences.map(({ field, service, ledger }) =>
    `${field} is ${service} at the service and ${ledger ?? "unknown"} here`
  ).join("; ");
  switch (category) {
    case "absent":
      return `The ledger has it as ${ledger?.status} (${ledger?.trust}), the service does not know it`;
    case "behind":
      return ledger === null
        ? `The service has it as ${service?.status}, the ledger does not know it`
        : `The ledger has not read the last change: ${list}`;
    case "contradicted":
      return ledger?.anomalies.find(({ kind }) =>
        kind === "contested" || kind === "contradicted"
      )?.detail ?? `A webhook claims another end: ${list}`;
    case "claimed_only":
      return differences.length === 0
        ? "A webhook claims what the service shows; the ledger has not read it yet"
        : `A webhook is ahead of the service or wrong: ${list}`;
    case "agree":
      return `Both have it as ${service?.status}`;
  }
}
