import type { Statement } from "../driver/driver.ts";
import { expectRow } from "../driver/expect_row.ts";

/**
 * Who polls, who asks the chain nodes, and who delivers under the name of a
 * subscription. `expires_at` is milliseconds of the database's own clock; `fence`
 * grows with each holder. A lease that lasts longer than `lease_ms` was given
 * before that clock was set back.
 */
export const leasesSchema: readonly string[] = [
  `CREATE TABLE poll_lease (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    fence INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    lease_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
];

/** The right to poll or to send, until it expires. */
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

/** The database's own clock, in milliseconds: pollers may disagree on theirs. */
export const databaseNow = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/**
 * Takes a lease that is free, expired, of the same holder, or ends later than
 * any holder could have asked for; then selects holder, fence and the time left.
 *
 * @param wanted Name of the lease, who wants it, and for how long.
 */
export function takeStatements(
  { name, holder, leaseMs }: Omit<Lease, "fence">,
): Statement[] {
  return [{
    sql: `INSERT INTO poll_lease (name, holder, fence, expires_at, lease_ms)
      VALUES (?1, ?2, 1, ${databaseNow} + ?3, ?3)
      ON CONFLICT (name) DO UPDATE SET
        holder = excluded.holder,
        fence = poll_lease.fence + 1,
        expires_at = excluded.expires_at,
        lease_ms = excluded.lease_ms
      WHERE poll_lease.expires_at <= ${databaseNow}
        OR poll_lease.expires_at > ${databaseNow} + poll_lease.lease_ms
        OR poll_lease.holder = excluded.holder`,
    args: [name, holder, leaseMs],
  }, {
    sql: `SELECT holder, fence, expires_at - ${databaseNow}
      FROM poll_lease WHERE name = ?1`,
    args: [name],
  }];
}

/**
 * The statements that begin each write batch of a holder: they renew the lease,
 * and the batch fails with `conflict` once another has taken it.
 *
 * @param lease The lease.
 */
export function renewLease(lease: Lease): Statement[] {
  const { name, holder, fence, leaseMs } = lease;
  return [
    expectRow("poll_lease", { name, holder, fence }),
    {
      sql: `UPDATE poll_lease
        SET expires_at = ${databaseNow} + ?2, lease_ms = ?2 WHERE name = ?1`,
      args: [name, leaseMs],
    },
  ];
}

/** Selects a row while the lease belongs to its holder. */
export function selectLease({ name, holder, fence }: Lease): Statement {
  return {
    sql: "SELECT 1 FROM poll_lease WHERE name = ? AND holder = ? AND fence = ?",
    args: [name, holder, fence],
  };
}

/** Leases to deliver begin with it. */
export const SUBSCRIPTION_LEASE = "subscription:";

/** Selects a row while anybody holds a lease. */
export function selectHeldLease(name: string): Statement {
  return {
    sql: `SELECT 1 FROM poll_lease WHERE name = ?
      AND expires_at > ${databaseNow}`,
    args: [name],
  };
}

/** Selects a row for each lease that anybody holds. */
export const selectHeldLeases: Statement = {
  sql: `SELECT name FROM poll_lease WHERE expires_at > ${databaseNow}`,
  args: [],
};

/** Ends a lease, unless it is lost already. */
export function expireLease({ name, holder, fence }: Lease): Statement {
  return {
    sql: `UPDATE poll_lease SET expires_at = 0
      WHERE name = ? AND holder = ? AND fence = ?`,
    args: [name, holder, fence],
  };
}
