import type { OrderReading } from "../events/order_reading.ts";
import { factsBy, type OrderFacts } from "../events/order_facts.ts";
import { emptyToNull } from "../events/fact_text.ts";

/**
 * What a reading alone says of the fields that webhooks state too.
 *
 * @param latest The reading.
 * @returns The fields; what the service states as empty is null.
 */
export function readingFacts(latest: OrderReading): OrderFacts {
  return factsBy((field) => emptyToNull(latest[field]));
}
