import type { Driver } from "../../ledger/for_sync.ts";
import type { ForwardTarget } from "../../ledger/mod.ts";
import {
  selectTarget,
  switchTargetOff,
  targetOf,
  upsertTarget,
} from "../../ledger/for_server.ts";

/**
 * Stores a target, so that other commands can show it.
 *
 * @returns Whether it is off, and since when.
 */
export async function registerTarget(
  driver: Driver,
  name: string,
  url: string,
): Promise<ForwardTarget> {
  const [, found] = await driver.batch(
    [upsertTarget(name, url), selectTarget(name)],
    "write",
  );
  return targetOf(found?.rows[0]) ?? { url, offAt: null, offReason: null };
}

/** Whether a target is off. */
export async function isTargetOff(
  driver: Driver,
  name: string,
): Promise<boolean> {
  const [found] = await driver.batch([selectTarget(name)], "read");
  return (targetOf(found?.rows[0])?.offAt ?? null) !== null;
}

/** Switches a target off: nothing is sent to it until it is resumed. */
export async function turnTargetOff(
  driver: Driver,
  name: string,
  off: { readonly at: string; readonly reason: string },
): Promise<void> {
  await driver.batch([switchTargetOff(name, off)], "write");
}
