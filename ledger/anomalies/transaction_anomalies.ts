import type { OrderReading } from "../events/order_reading.ts";
import { claimedValue, type Resolved } from "../orders/resolve_order.ts";
import type { TransactionAnomaly } from "./anomaly.ts";

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
