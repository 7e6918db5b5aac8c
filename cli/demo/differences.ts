// @ts-types="@types/big.js"
import Big from "big.js";
import type { OrderState } from "../../ledger/mod.ts";
import type { OrderTruth } from "../../sandbox/mod.ts";

/** One field of one order in which ledger and service differ. */
export interface Difference {
  /** The order. */
  readonly orderId: string;
  /** The field, or `order` when one side lacks it. */
  readonly field: string;
  /** What the service says. */
  readonly service: string | null;
  /** What the ledger says. */
  readonly ledger: string | null;
}

/** Compares what the service truly holds with what the ledger says. */
export function differences(
  truth: readonly OrderTruth[],
  orders: ReadonlyMap<string, OrderState>,
): Difference[] {
  const known = new Set(truth.map(({ orderId }) => orderId));
  const extra = [...orders.keys()].filter((orderId) => !known.has(orderId));
  return [
    ...truth.flatMap((order) => ofOrder(order, orders.get(order.orderId))),
    ...extra.map((orderId) => ({
      orderId,
      field: "order",
      service: null,
      ledger: orderId,
    })),
  ];
}

function ofOrder(
  truth: OrderTruth,
  order: OrderState | undefined,
): Difference[] {
  const { orderId, crypto, ...shown } = truth;
  if (order === undefined) {
    return [{ orderId, field: "order", service: orderId, ledger: null }];
  }
  const [commodity, , network] = crypto.split(".");
  const fields = {
    ...shown,
    trust: "confirmed",
    commodity: commodity?.toUpperCase() ?? null,
    network: network ?? null,
    txId: shown.txId || null,
    failReason: shown.failReason || null,
    changedAt: `${shown.changedAt.replace(" ", "T")}Z`,
  } satisfies Partial<Record<keyof OrderState, string | null>>;
  return (Object.keys(fields) as (keyof typeof fields)[])
    .map((field) => ({
      ...{ orderId, field },
      service: fields[field],
      ledger: order[field],
    }))
    .filter(({ field, service, ledger }) => !same(field, service, ledger));
}

function same(field: string, a: string | null, b: string | null): boolean {
  if (a === b) return true;
  if (a === null || b === null || !field.endsWith("Amount")) return false;
  return new Big(a).eq(b);
}
