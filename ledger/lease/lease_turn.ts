import { isLostRace } from "../store/driver/retrying_driver.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import {
  type HeldLease,
  type Lease,
  releaseLease,
  renewLease,
  takeLease,
} from "./lease.ts";

/** What a turn works with. */
export interface LeaseTurnParts {
  /** The database. */
  readonly driver: Driver;
  /** Name of the lease. */
  readonly name: string;
  /** Who wants it. */
  readonly holder: string;
  /** How long it lasts unless renewed, ms. */
  readonly leaseMs: number;
  /** Steady clock, ms. */
  readonly steadyNow: () => number;
  /** Waits. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called after each renewal. */
  readonly onRenewed?: (() => Promise<void>) | undefined;
  /** Called when a renewal fails, unless the lease was lost. */
  readonly onError: (error: unknown) => void;
}

/**
 * The time in which a process holds a lease. The lease is renewed until the
 * turn is over: it ends when another process has taken the lease, when it could
 * not be renewed in time, or when {@linkcode LeaseTurn.end} is called.
 */
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

  /**
   * Begins a turn, or returns who holds the lease.
   *
   * @param parts What it works with.
   * @throws {LedgerError} When the database fails.
   */
  static async take(parts: LeaseTurnParts): Promise<LeaseTurn | HeldLease> {
    const asked = parts.steadyNow();
    const { driver, name, holder, leaseMs } = parts;
    const lease = await takeLease(driver, { name, holder, leaseMs });
    return "fence" in lease
      ? new LeaseTurn(parts, lease, asked + leaseMs)
      : lease;
  }

  /** Aborted when the turn is over. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /**
   * Whether no other process can have the lease. A process that was paused for
   * longer than the lease lasts learns of it here.
   */
  get isHeld(): boolean {
    return !this.#over.signal.aborted &&
      this.#parts.steadyNow() < this.#heldUntil;
  }

  /** The statements that begin each write; they fail once the lease is lost. */
  guard(): Statement[] {
    return renewLease(this.#lease);
  }

  /**
   * Ends the turn at once; {@linkcode LeaseTurn.end} also gives the lease back.
   */
  abort(): void {
    this.#over.abort();
  }

  /** Ends the turn, and gives the lease back unless it is lost. */
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
