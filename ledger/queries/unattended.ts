import type { Driver } from "../store/driver/driver.ts";
import {
  checkpointsOf,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import { selectUnattended } from "../store/tables/subscriptions/subscriptions.ts";

/** A subscription for which transitions wait, and to which nothing delivers. */
export interface Unattended {
  /** Name of the subscription. */
  readonly name: string;
  /** When the oldest of them was recorded, UTC ISO 8601. */
  readonly since: string;
}

/**
 * Reads which subscriptions no process delivers to, by their leases.
 *
 * @param before Only where a transition of before this waits, UTC ISO 8601.
 * @throws {LedgerError} When the database fails.
 */
export async function readUnattended(
  driver: Driver,
  before: string,
): Promise<Unattended[]> {
  const [result] = await driver.batch([selectUnattended(before)], "read");
  return (result?.rows ?? []).map(([name, since]) => ({
    name: String(name),
    since: String(since),
  }));
}

/**
 * Reads which version of the fold made the states.
 *
 * @returns Null before the first fold.
 * @throws {LedgerError} When the database fails.
 */
export async function readFoldVersion(driver: Driver): Promise<number | null> {
  const [result] = await driver.batch([selectCheckpoints], "read");
  return checkpointsOf(result).live?.foldVersion ?? null;
}
