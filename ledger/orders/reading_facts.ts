import type { OrderReading } from "../events/order_reading.ts";
import type { OrderFacts } from "./order_facts.ts";
import { emptyToNull } from "../events/fact_text.ts";

/**
 * What a reading alone says of the fields that webhooks state too.
 *
 * @param latest The reading.
 * @returns The fields; what the service states as empty is null.
 */
export function readingFacts(latest: OrderReading): OrderFacts {
  return {
    currency: emptyToNull(latest.currency),
    currencyAmount: emptyToNull(latest.currencyAmount),
    commodity: emptyToNull(latest.commodity),
    network: emptyToNull(latest.network),
    cryptoAmount: emptyToNull(latest.cryptoAmount),
    address: emptyToNull(latest.address),
    txId: emptyToNull(latest.txId),
    userId: emptyToNull(latest.userId),
    clickId: emptyToNull(latest.clickId),
    externalOrderId: emptyToNull(latest.externalOrderId),
    failReason: emptyToNull(latest.failReason),
  };
}
