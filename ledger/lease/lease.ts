import type { Driver } from "../store/driver/driver.ts";
import {
  expireLease,
  type Lease,
  selectHeldLease,
  selectLease,
  takeStatements,
} from "../store/tables/leases.ts";

export type { Lease } from "../store/tables/leases.ts";
export { renewLease } from "../store/tables/leases.ts";

/** How long a lease lasts unless it is renewed, in milliseconds. */
export const LEASE_MS = 30_000;

/** Name of the lease of all pollers of a ledger. */
export const POLL_LEASE = "poll";

/** Name of the lease of all that ask the partner's chain nodes. */
export const WITNESS_LEASE = "witness";

/** Another process has the lease. */
export interface HeldLease {
  /** Who has it. */
  readonly heldBy: string;
  /** Time until it ends unless it is renewed, in milliseconds. */
  readonly leftMs: number;
}

/**
 * Takes a lease that is free, expired, or the holder's own from before a
 * restart. One that ends later than any holder can request was given
 * before the database's clock was set back, and counts as expired.
 *
 * @param wanted Name of the lease, who wants it, and for how long.
 * @returns The lease, or who has it.
 *
 * @example Take the poller's lease
 * ```ts ignore
 * const lease = await takeLease(driver, { name: "poll", holder, leaseMs: LEASE_MS });
 * ```
 */
export async function takeLease(
  driver: Driver,
  wanted: {
    readonly name: string;
    readonly holder: string;
    readonly leaseMs: number;
  },
): Promise<Lease | HeldLease> {
  const { name, holder, leaseMs } = wanted;
  const [, found] = await driver.batch(takeStatements(wanted), "write");
  const [by, fence, leftMs] = found?.rows[0] ?? [];
  if (by === holder) {
    return { name, holder, fence: Number(fence), leaseMs };
  }
  return {
    heldBy: String(by ?? "nobody"),
    leftMs: Math.max(0, Number(leftMs ?? 0)),
  };
}

/**
 * Whether a lease still belongs to its holder.
 *
 * @param lease The lease.
 */
export async function holdsLease(
  driver: Driver,
  lease: Lease,
): Promise<boolean> {
  const [found] = await driver.batch([selectLease(lease)], "read");
  return (found?.rows.length ?? 0) > 0;
}

/**
 * Whether a poller works on a ledger now.
 *
 * @example Look before polling beside it
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { isPolled } from "./lease.ts";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * assert.equal(await isPolled(ledger.driver), false);
 * ```
 */
export function isPolled(driver: Driver): Promise<boolean> {
  return isHeld(driver, POLL_LEASE);
}

/** Whether a process asks the partner's chain nodes for a ledger now. */
export function isWitnessed(driver: Driver): Promise<boolean> {
  return isHeld(driver, WITNESS_LEASE);
}

async function isHeld(driver: Driver, name: string): Promise<boolean> {
  const [found] = await driver.batch([selectHeldLease(name)], "read");
  return (found?.rows.length ?? 0) > 0;
}

/**
 * Gives a lease back, so that the next poller need not wait for it to expire.
 *
 * @param lease The lease; one that is lost already is left alone.
 */
export async function releaseLease(
  driver: Driver,
  lease: Lease,
): Promise<void> {
  await driver.batch([expireLease(lease)], "write");
}
