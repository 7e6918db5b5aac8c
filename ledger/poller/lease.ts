import type { Driver, Statement } from "../store/driver.ts";

/** How long a lease lasts unless it is renewed, in milliseconds. */
export const LEASE_MS = 30_000;

/** The database's own clock, in milliseconds: pollers may disagree on theirs. */
const databaseNow = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** The right to poll, until it expires. */
export interface Lease {
  /** What it is for. */
  readonly name: string;
  /** Who has it. */
  readonly holder: string;
  /** Grows with each holder; writes with an older one abort. */
  readonly fence: number;
  /** How long it lasts after each write, in milliseconds. */
  readonly leaseMs: number;
}

/** Somebody else has the lease. */
export interface HeldLease {
  /** Who has it. */
  readonly heldBy: string;
  /** How long it still lasts unless it is renewed, in milliseconds. */
  readonly leftMs: number;
}

/**
 * Takes a lease that is free, expired, or the holder's own from before a
 * restart.
 *
 * @param driver The database.
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
  const [, found] = await driver.batch([{
    sql: `INSERT INTO poll_lease (name, holder, fence, expires_at)
      VALUES (?, ?, 1, ${databaseNow} + ?)
      ON CONFLICT (name) DO UPDATE SET
        holder = excluded.holder,
        fence = poll_lease.fence + 1,
        expires_at = excluded.expires_at
      WHERE poll_lease.expires_at <= ${databaseNow}
        OR poll_lease.holder = excluded.holder`,
    args: [name, holder, leaseMs],
  }, {
    sql: `SELECT holder, fence, expires_at - ${databaseNow}
      FROM poll_lease WHERE name = ?`,
    args: [name],
  }], "write");
  const row = found?.rows[0];
  if (row?.[0] === holder) {
    return { name, holder, fence: Number(row[1]), leaseMs };
  }
  return {
    heldBy: String(row?.[0] ?? "nobody"),
    leftMs: Math.max(0, Number(row?.[2] ?? 0)),
  };
}

/**
 * The statement that begins each write batch of a holder: it renews the lease,
 * and violates NOT NULL, which aborts the batch, once another has taken it.
 *
 * @param lease The lease.
 *
 * @example Write under a lease
 * ```ts ignore
 * await driver.batch([leaseGuard(lease), ...statements], "write");
 * ```
 */
export function leaseGuard(lease: Lease): Statement {
  return {
    sql: `INSERT INTO poll_lease (name, holder, fence, expires_at)
      VALUES (?1, ?2, ?3, (
        SELECT ${databaseNow} + ?4 FROM poll_lease
        WHERE name = ?1 AND holder = ?2 AND fence = ?3))
      ON CONFLICT (name) DO UPDATE SET expires_at = excluded.expires_at`,
    args: [lease.name, lease.holder, lease.fence, lease.leaseMs],
  };
}

/**
 * Whether a lease still belongs to its holder.
 *
 * @param driver The database.
 * @param lease The lease.
 */
export async function holdsLease(
  driver: Driver,
  lease: Lease,
): Promise<boolean> {
  const [found] = await driver.batch([{
    sql: "SELECT 1 FROM poll_lease WHERE name = ? AND holder = ? AND fence = ?",
    args: [lease.name, lease.holder, lease.fence],
  }], "read");
  return (found?.rows.length ?? 0) > 0;
}

/**
 * Gives a lease back, so that the next poller need not wait for it to expire.
 *
 * @param driver The database.
 * @param lease The lease; one that is lost already is left alone.
 */
export async function releaseLease(
  driver: Driver,
  lease: Lease,
): Promise<void> {
  await driver.batch([{
    sql: `UPDATE poll_lease SET expires_at = 0
      WHERE name = ? AND holder = ? AND fence = ?`,
    args: [lease.name, lease.holder, lease.fence],
  }], "write");
}
