import { isFinal } from "../../ledger/for_sync.ts";
import type { OrderState } from "../../ledger/mod.ts";
import { fieldDifferences } from "./field_differences.ts";
import { finalsBefore } from "./finals_before.ts";
import type { ReconcileFinding } from "./reconcile_finding.ts";
import { ageMs, reconcileFlags } from "./reconcile_flags.ts";
import type {
  BothSides,
  FieldDifference,
  ReconcileCategory,
  ReconcileRow,
  ReconcileRules,
} from "./reconcile_row.ts";

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
