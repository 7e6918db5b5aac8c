import { messageOf } from "../../core/guards.ts";
import { type Driver, readSweep, writeSweep } from "../../ledger/for_sync.ts";
import {
  pollAlarm,
  pollFailureCause,
  type PollHealth,
  type PollPart,
  type SweepFailure,
  UNTRIED,
  withFailure,
  withoutFailure,
} from "./poll_health.ts";

/** Name under which the health of polling is kept. */
const HEALTH = "poll_health";

/** An alarm about polling, or its all-clear. */
export type PollAlert =
  | {
    /** Sweeps fail. */
    readonly kind: "failing";
    /** The one that has failed for longest. */
    readonly failure: SweepFailure;
    /** Every sweep that fails. */
    readonly sweeps: readonly PollPart[];
  }
  | {
    /** Every sweep works again. */
    readonly kind: "recovered";
    /** When the outage began, UTC ISO 8601. */
    readonly since: string;
  };

/** What the failures are kept with. */
export interface PollFailuresOptions {
  /** The ledger's database. */
  readonly driver: Driver;
  /** The time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Called once when polling fails, and once when it works again. */
  readonly onAlert: ((alert: PollAlert) => void) | undefined;
  /** Called on each change and at each check of the watchdog. */
  readonly onHealth: ((health: PollHealth) => void) | undefined;
}

/**
 * Reads the health of polling: what `doctor` and `/readyz` show of a poller in
 * another process.
 *
 * @param driver The ledger's database.
 * @throws {LedgerError} When the database fails.
 *
 * @example Find out whether polling works
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { readPollHealth } from "@rampkit/onramp/sync";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const { failures } = await readPollHealth(ledger.driver);
 * assert.deepEqual(failures, []);
 * ```
 */
export async function readPollHealth(driver: Driver): Promise<PollHealth> {
  return await readSweep<PollHealth>(driver, HEALTH) ?? UNTRIED;
}

/** What failed since it last worked; stored in the ledger, reported once. */
export class PollFailures {
  readonly #options: PollFailuresOptions;
  #health: PollHealth = UNTRIED;
  /**
   * Since when the outage lasts that was reported, here or before a restart.
   */
  #outageSince: string | null = null;
  #reported = false;

  /** @param options What to keep them with. */
  constructor(options: PollFailuresOptions) {
    this.#options = options;
  }

  /** Continues where the last process ended. */
  async load(): Promise<void> {
    if (this.#reported) return;
    this.#health = await readPollHealth(this.#options.driver);
    this.#outageSince = pollAlarm(this.#health)?.since ?? null;
  }

  /** Failures in a row of a sweep. */
  attempts(sweep: PollPart): number {
    return this.#health.failures.find((one) => one.sweep === sweep)?.attempts ??
      0;
  }

  /** A sweep failed, and is tried again at `nextTryMs`. */
  async failed(
    sweep: PollPart,
    error: unknown,
    nextTryMs: number | null,
  ): Promise<void> {
    this.#health = withFailure(this.#health, {
      sweep,
      lastAt: new Date(this.#options.now()).toISOString(),
      nextAttemptAt: nextTryMs === null
        ? null
        : new Date(nextTryMs).toISOString(),
      cause: pollFailureCause(error),
      status: statusOf(error),
      message: messageOf(error),
    });
    const failure = pollAlarm(this.#health);
    if (failure !== null && !this.#reported) {
      this.#reported = true;
      this.#outageSince ??= failure.since;
      const sweeps = this.#health.failures.map((one) => one.sweep);
      this.#report({ kind: "failing", failure, sweeps });
    }
    await this.store();
  }

  /**
   * A sweep made a step that the service answered; the first is stored at once.
   */
  async stepped(): Promise<void> {
    const isFirst = this.#health.workedAt === null;
    const workedAt = new Date(this.#options.now()).toISOString();
    this.#health = { ...this.#health, workedAt };
    if (isFirst) await this.store();
  }

  /** A sweep works again. */
  async worked(sweep: PollPart): Promise<void> {
    if (this.attempts(sweep) === 0) return;
    this.#health = withoutFailure(this.#health, sweep);
    if (this.#outageSince !== null && this.#health.failures.length === 0) {
      this.#report({ kind: "recovered", since: this.#outageSince });
      this.#outageSince = null;
      this.#reported = false;
    }
    await this.store();
  }

  /** Another poller has the lease: nothing is wrong, and nothing is stored. */
  async standBy(): Promise<void> {
    await this.worked("poller");
    quietly(() => this.#options.onHealth?.(this.#health));
  }

  /** Stores it in the ledger; where that fails, `failed` will report it. */
  async store(): Promise<void> {
    const { driver, now, onHealth } = this.#options;
    quietly(() => onHealth?.(this.#health));
    await driver.batch([writeSweep(HEALTH, this.#health, now())], "write")
      .catch(() => {});
  }

  #report(alert: PollAlert): void {
    quietly(() => this.#options.onAlert?.(alert));
  }
}

/** A listener that fails must not stop polling. */
function quietly(report: () => void): void {
  try {
    report();
  } catch {
    // There is no other listener to report this to.
  }
}

function statusOf(error: unknown): number | null {
  return error instanceof Error && "status" in error &&
      typeof error.status === "number"
    ? error.status
    : null;
}
