import { dottedAsset, type SandboxOrder } from "./sandbox_order.ts";
import { orderTime } from "../seeded/seeded_values.ts";

/** What the service would say about an order, in the ledger's own forms. */
export interface OrderTruth {
  /** Order identifier. */
  readonly orderId: string;
  /** Status. */
  readonly status: string;
  /** Fiat currency, upper case. */
  readonly currency: string;
  /** Amount in `currency`, a decimal string. */
  readonly currencyAmount: string;
  /** Dotted asset, lower case. */
  readonly crypto: string;
  /** Amount of the asset, a decimal string. */
  readonly cryptoAmount: string;
  /** Transaction hash, or empty. */
  readonly txId: string;
  /** Payment error code, or empty. */
  readonly failReason: string;
  /** Who buys. */
  readonly userId: string;
  /** Last change, UTC, `YYYY-MM-DD HH:MM:SS`. */
  readonly changedAt: string;
}

/**
 * What the service would say about an order.
 *
 * @param order The order as the service has it.
 * @returns The same in the ledger's own forms.
 *
 * @example State what an order is
 * ```ts
 * import { createSandbox, truthOf } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const order = createSandbox().createOrder({ currencyAmount: "25" });
 * assert.equal(truthOf(order).currencyAmount, "25");
 * assert.equal(truthOf(order).status, "created");
 * ```
 */
export function truthOf(order: SandboxOrder): OrderTruth {
  return {
    orderId: order.orderId,
    status: order.status,
    currency: order.currency,
    currencyAmount: order.currencyAmount,
    crypto: dottedAsset(order),
    cryptoAmount: order.cryptoAmount,
    txId: order.txId,
    failReason: order.failReason,
    userId: order.userId,
    changedAt: orderTime(order.changedAtMs),
  };
}
