/** Who may poll, ask the chain nodes, or deliver under the name of a subscription. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname } from "node:path";
import process from "node:process";
import {
  type Driver,
  expectRow,
  isLostRace,
  selectValue,
  type SqlValue,
  type Statement,
  statement,
  write,
} from "./database.ts";
import { lockFile } from "./files.ts";

export interface Lease {
  readonly name: string;
  readonly holder: string;
  /** Grows with each holder; writes with an older one abort. */
  readonly fence: number;
  /** How long it lasts after each write. */
  readonly leaseMs: number;
}

interface HeldLease {
  readonly heldBy: string;
  readonly leftMs: number;
}

export const LEASE_MS = 30_000;

export const POLL_LEASE = "poll";

/** Of all that ask the partner's chain nodes. */
export const WITNESS_LEASE = "witness";

export const SUBSCRIPTION_LEASE = "subscription:";

/** The database's own clock, in milliseconds: processes may disagree on theirs. */
export const DATABASE_NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

const IS_HELD = `expires_at > ${DATABASE_NOW}`;

/**
 * Takes a lease that is free, expired, the holder's own from before a restart, or
 * that of a process of this machine which has ended. One that ends later than any
 * holder can request was given before the database's clock was set back, and counts
 * as expired.
 */
export async function takeLease(
  driver: Driver,
  { name, holder, leaseMs }: Omit<Lease, "fence">,
): Promise<Lease | HeldLease> {
  const own = driver.location === "memory" ? null : thisProcess();
  const take = async (...before: readonly Statement[]) => {
    const found = await write(driver, [
      ...before,
      statement(TAKE, name, holder, leaseMs, own),
      statement(LOOK, name),
    ]);
    return found.at(-1)?.[0] ?? [];
  };
  let [by, fence, leftMs, held] = await take();
  const ended = by === holder ? null : endedLock(held);
  if (ended !== null) {
    // All that it held: once its lock is gone, nothing tells that it has ended.
    [by, fence, leftMs] = await take(
      statement(
        "UPDATE leases SET expires_at = 0 WHERE process = ?",
        held ?? "",
      ),
    );
    forget(ended);
  }
  return by === holder
    ? { name, holder, fence: Number(fence), leaseMs }
    : { heldBy: String(by), leftMs: Math.max(0, Number(leftMs)) };
}

const LOOK = `SELECT holder, fence, expires_at - ${DATABASE_NOW}, process
  FROM leases WHERE name = ?1`;

const TAKE =
  `INSERT INTO leases (name, holder, fence, expires_at, lease_ms, process)
  VALUES (?1, ?2, 1, ${DATABASE_NOW} + ?3, ?3, ?4)
  ON CONFLICT (name) DO UPDATE SET
    holder = excluded.holder, fence = fence + 1,
    expires_at = excluded.expires_at, lease_ms = excluded.lease_ms,
    process = excluded.process
  WHERE expires_at <= ${DATABASE_NOW}
    OR expires_at > ${DATABASE_NOW} + lease_ms
    OR holder = excluded.holder`;

/**
 * The statements that begin each write batch of a holder: they renew the lease,
 * and the batch fails with `conflict` once another has taken it.
 */
export function renewLease(
  { name, holder, fence, leaseMs }: Lease,
): Statement[] {
  return [
    expectRow("leases", { name, holder, fence }),
    statement(
      `UPDATE leases SET expires_at = ${DATABASE_NOW} + ?2, lease_ms = ?2
        WHERE name = ?1`,
      ...[name, leaseMs],
    ),
  ];
}

export function holdsLease(
  driver: Driver,
  { name, holder, fence }: Lease,
): Promise<boolean> {
  return exists(driver, "holder = ?2 AND fence = ?3", name, holder, fence);
}

export function isPolled(driver: Driver): Promise<boolean> {
  return exists(driver, IS_HELD, POLL_LEASE);
}

export function isWitnessed(driver: Driver): Promise<boolean> {
  return exists(driver, IS_HELD, WITNESS_LEASE);
}

async function exists(
  driver: Driver,
  where: string,
  ...args: readonly SqlValue[]
): Promise<boolean> {
  const sql = `SELECT 1 FROM leases WHERE name = ?1 AND ${where}`;
  return await selectValue(driver, sql, ...args) === 1;
}

/** Gives a lease back; one that is lost already is left alone. */
export async function releaseLease(
  driver: Driver,
  { name, holder, fence }: Lease,
): Promise<void> {
  await write(driver, [statement(
    `UPDATE leases SET expires_at = 0
      WHERE name = ? AND holder = ? AND fence = ?`,
    ...[name, holder, fence],
  )]);
}

let own: string | null | undefined;

/**
 * Names this process by a file that it holds locked while it lives, so that others
 * of this machine need not wait for the leases of one that was killed. No runtime
 * lets us ask for a process by its number without more permissions. Null where
 * there is no such file: on Deno Deploy, or where temporary files may not be
 * written.
 */
function thisProcess(): string | null {
  if (own !== undefined) return own;
  try {
    const path = `${mkdtempSync(`${tmpdir()}/rampkit-`)}/lock`;
    const lock = lockFile(path, "exclusive");
    process.once("exit", () => {
      lock?.[Symbol.dispose]();
      forget(path);
    });
    return own = `${hostname()}:${path}`;
  } catch {
    return own = null;
  }
}

/** The lock of another process of this machine that has ended, else null. */
function endedLock(other: SqlValue | undefined): string | null {
  if (typeof other !== "string" || other === own) return null;
  try {
    const machine = `${hostname()}:`;
    const path = other.slice(machine.length);
    if (!other.startsWith(machine)) return null;
    // Another container of the same name has another folder: nothing is known.
    const taken = existsSync(path) ? lockFile(path, "exclusive") : null;
    taken?.[Symbol.dispose]();
    return taken && path;
  } catch {
    return null;
  }
}

function forget(path: string): void {
  rmSync(dirname(path), { recursive: true, force: true });
}

interface LeaseTurnParts extends Omit<Lease, "fence"> {
  readonly driver: Driver;
  readonly steadyNow: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onRenewed?: (() => Promise<void>) | undefined;
  /** Called when a renewal fails, unless the lease was lost. */
  readonly onError: (error: unknown) => void;
}

/** Renews a lease until another process has it, it could not be renewed in time, or it is given back. */
export class LeaseTurn {
  readonly #parts: LeaseTurnParts;
  readonly #lease: Lease;
  readonly #over = new AbortController();
  /** By the steady clock: later than this another process may have it. */
  #heldUntil: number;
  readonly #renewing: Promise<void>;

  private constructor(parts: LeaseTurnParts, lease: Lease, heldUntil: number) {
    this.#parts = parts;
    this.#lease = lease;
    this.#heldUntil = heldUntil;
    this.#renewing = this.#renew();
  }

  static async take(parts: LeaseTurnParts): Promise<LeaseTurn | HeldLease> {
    const asked = parts.steadyNow();
    const lease = await takeLease(parts.driver, parts);
    return "fence" in lease
      ? new LeaseTurn(parts, lease, asked + parts.leaseMs)
      : lease;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** A process that was paused for longer than the lease lasts learns of it here. */
  get isHeld(): boolean {
    return !this.#over.signal.aborted &&
      this.#parts.steadyNow() < this.#heldUntil;
  }

  guard(): Statement[] {
    return renewLease(this.#lease);
  }

  abort(): void {
    this.#over.abort();
  }

  async end(): Promise<void> {
    this.abort();
    await this.#renewing;
    const { driver, onError } = this.#parts;
    await releaseLease(driver, this.#lease).catch(onError);
  }

  async #renew(): Promise<void> {
    const { driver, leaseMs, steadyNow, sleep, onRenewed, onError } =
      this.#parts;
    const { signal } = this.#over;
    const everyMs = Math.floor(leaseMs / 3);
    while (!signal.aborted) {
      await sleep(everyMs, signal).catch(() => {});
      if (signal.aborted) return;
      const asked = steadyNow();
      try {
        await driver.batch(renewLease(this.#lease), "write");
        this.#heldUntil = asked + leaseMs;
        await onRenewed?.();
      } catch (error) {
        if (isLostRace(error) || asked >= this.#heldUntil) this.abort();
        if (!isLostRace(error)) onError(error);
      }
    }
  }
}
