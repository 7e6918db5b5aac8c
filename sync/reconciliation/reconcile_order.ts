import {
  compareTimes,
  FACT_FIELDS,
  isFinal,
  orderMove,
  orderRank,
  outcomeOf,
  sameValue,
  settle,
} from "../../ledger/for_sync.ts";
import type { OrderState, Status } from "../../ledger/mod.ts";
import {
  type BothSides,
  type FieldDifference,
  RECONCILE_FLAGS,
  type ReconcileCategory,
  type ReconcileFinding,
  type ReconcileFlag,
  type ReconcileRow,
  type ReconcileRules,
} from "./reconcile_row.ts";
import { assetDecimals } from "../../core/assets/assets.ts";
import type { AssetTable } from "../../core/assets/environment.ts";

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
  const before = service !== null && ledger !== null
    ? finalsBefore(service, ledger)
    : [];
  const category = before.length > 0
    ? "final_changed"
    : categoryOf(service, ledger, differences);
  const disagrees = category === "absent" || category === "final_changed" ||
    service === null ||
    (ageMs(service, rules) >= rules.toleranceMs &&
      (ledger === null || differences.length > 0));
  return {
    orderId: known.orderId,
    externalOrderId: known.externalOrderId,
    category,
    disagrees,
    flags: reconcileFlags(sides, rules),
    serviceStatus: service?.status ?? null,
    ledgerStatus: ledger?.status ?? null,
    trust: ledger?.trust ?? null,
    differences,
    createdAt: known.createdAt,
    changedAt: known.changedAt,
    onChain: onChainOf(known),
    finding: category === "final_changed"
      ? { code: "final_changed", read: known.status, before }
      : findingOf(category, known, sides, differences),
  };
}

function onChainOf(
  { commodity, network, cryptoAmount, address, txId }: OrderState,
): ReconcileRow["onChain"] {
  return { commodity, network, cryptoAmount, address, txId };
}

function categoryOf(
  service: OrderState | null,
  ledger: OrderState | null,
  differences: readonly FieldDifference[],
): Exclude<ReconcileCategory, "final_changed"> {
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

/** `known` is the order at the service, or in the ledger where that alone
 * knows it. */
function findingOf(
  category: Exclude<ReconcileCategory, "final_changed">,
  known: OrderState,
  { ledger }: BothSides,
  differences: readonly FieldDifference[],
): ReconcileFinding {
  const { status, trust } = known;
  switch (category) {
    case "absent":
      return { code: "unknown_to_service", status, trust };
    case "behind":
      return ledger === null
        ? { code: "unknown_to_ledger", status }
        : { code: "change_not_read" };
    case "contradicted":
      return refusedClaim(ledger) ?? { code: "claim_of_other_end" };
    case "claimed_only":
      return {
        code: differences.length === 0 ? "claim_equal" : "claim_differs",
      };
    case "agree":
      return { code: "agree", status };
  }
}

function refusedClaim(ledger: OrderState | null): ReconcileFinding | null {
  for (const anomaly of ledger?.anomalies ?? []) {
    if (anomaly.kind === "contested") {
      const { read, claimed } = anomaly;
      return { code: "claim_contests_final", read, claimed };
    }
    if (anomaly.kind === "contradicted") {
      const { claimed, read } = anomaly;
      return { code: "claim_contradicted", claimed, read };
    }
  }
  return null;
}

/** Finds the fields on which the service and the ledger differ. */
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
  const found = new Set<Status>();
  for (const anomaly of ledger.anomalies) {
    if (anomaly.kind !== "final_changed") continue;
    for (const status of anomaly.before) found.add(status);
    addLeft(found, anomaly.read, service.status);
  }
  if (isLater(service, ledger) && ledger.trust === "confirmed") {
    addLeft(found, ledger.status, service.status);
  }
  found.delete(service.status);
  return [...found];
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

function addLeft(found: Set<Status>, from: Status, to: Status): void {
  if (orderMove(from, to).anomaly === "final_changed") found.add(from);
}

/**
 * Finds what a person should look at in one order: kinds of attention by the
 * table of outcomes, of what the service shows now, without what a person has
 * settled; that it is not what was asked for by the ledger, which knows what
 * was; and a webhook that is missing.
 */
function reconcileFlags(
  { service, ledger }: BothSides,
  rules: ReconcileRules,
): ReconcileFlag[] {
  if (service === null) return [];
  const byRow = outcomeOf({
    ...service.facts,
    overdue: isOverdue(service, ledger, rules) ? "yes" : "no",
  });
  const byHand = ledger?.byHand ?? null;
  const { attention } = settle(byRow, service.facts, byHand);
  const found = new Set<string>(attention);
  if (missedWebhook(service, ledger, rules)) found.add("missed_webhook");
  if (ledger?.attention.includes("not_as_requested")) {
    found.add("not_as_requested");
  }
  return RECONCILE_FLAGS.filter((flag) => found.has(flag));
}

function missedWebhook(
  service: OrderState,
  ledger: OrderState | null,
  rules: ReconcileRules,
): boolean {
  if (service.status === "created") return false;
  if (ageMs(service, rules) < rules.webhookGraceMs) return false;
  const claims = ledger?.history.filter(({ source }) => source === "webhook") ??
    [];
  return isFinal(service.status)
    ? !claims.some(({ status }) => status === service.status)
    : claims.length === 0;
}

/** Paid: the service has it as pending, or a webhook saw the transfer begin. */
function isOverdue(
  service: OrderState,
  ledger: OrderState | null,
  rules: ReconcileRules,
): boolean {
  const paid = service.status === "pending" ||
    (service.status === "progress" && (ledger?.transferSeen ?? false));
  return paid && ageMs(service, rules) >= rules.stuckAfterMs;
}

/**
 * Time since the last change in ms, between two times of the service's clock.
 */
export function ageMs(
  service: OrderState,
  { readAtMs }: ReconcileRules,
): number {
  const changedAt = service.changedAt ?? service.createdAt;
  return changedAt === null ? Infinity : readAtMs - Date.parse(changedAt);
}
