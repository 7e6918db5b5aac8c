import { outcomeOf } from "../outcomes/outcome.ts";
import type { Release, ReleaseReason } from "../outcomes/outcome_table.ts";
import type { Driver } from "../store/driver/driver.ts";
import { selectOutcomeFacts } from "../store/tables/order_context.ts";

/** Whether the goods of an order may be released by what is known now. */
export interface ReleaseNow {
  /** Whether they may. */
  readonly release: Release;
  /** Why. */
  readonly releaseReason: ReleaseReason;
}

/**
 * Reads the release of several orders as of now.
 *
 * @param orderIds Which ones; those that are not there are left out.
 * @returns The release of each.
 * @throws {LedgerError} When the database fails.
 */
export async function readReleasesNow(
  driver: Driver,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, ReleaseNow>> {
  const releases = new Map<string, ReleaseNow>();
  if (orderIds.length === 0) return releases;
  const [found] = await driver.batch([selectOutcomeFacts(orderIds)], "read");
  for (const [orderId, facts, twice] of found?.rows ?? []) {
    const { release, reason } = outcomeOf({
      ...JSON.parse(facts as string),
      twice: twice === 1 ? "yes" : "no",
    });
    releases.set(orderId as string, { release, releaseReason: reason });
  }
  return releases;
}
