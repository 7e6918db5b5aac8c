import { compareTimes, orderMove, orderRank } from "../../ledger/for_sync.ts";
import type { OrderState, Status } from "../../ledger/mod.ts";

/**
 * Final statuses that the service has shown before the one it shows now: those
 * that the ledger read, and that of its last reading.
 *
 * @param service The order at the service.
 * @param ledger The order in the ledger.
 * @returns The statuses; empty when the service took none back.
 */
export function finalsBefore(
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
