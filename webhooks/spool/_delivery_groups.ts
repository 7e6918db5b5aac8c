import type { AppendDelivery, Delivery } from "../../core/wire/delivery.ts";

/** Most deliveries of a group, which a ledger commits together. */
export const MOST_AT_ONCE = 64;
/** Most bytes of their bodies. A new delivery waits while a group is stored. */
const MOST_BYTES_AT_ONCE = 1 << 20;

/** The next deliveries within the limits; at least one, however large. */
export function groupFrom(
  deliveries: readonly Delivery[],
  start: number,
  most: number,
): readonly Delivery[] {
  let end = start;
  let bytes = 0;
  while (end < deliveries.length && end - start < most) {
    bytes += deliveries[end]?.body.length ?? 0;
    if (end > start && bytes > MOST_BYTES_AT_ONCE) break;
    end++;
  }
  return deliveries.slice(start, end);
}

/**
 * Appends a group at once. Tells how many succeeded before the first failure.
 * Those after it are appended again later, which stores them only once.
 */
export async function appendGroup(
  group: readonly Delivery[],
  append: AppendDelivery,
): Promise<{ taken: number; failure: PromiseRejectedResult | null }> {
  const outcomes = await Promise.allSettled(
    group.map(async (delivery) => await append(delivery)),
  );
  for (const [taken, outcome] of outcomes.entries()) {
    if (outcome.status === "rejected") return { taken, failure: outcome };
  }
  return { taken: group.length, failure: null };
}
