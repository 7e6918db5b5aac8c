import {
  type Driver,
  readLateReading,
  readSweep,
  writeSweep,
} from "../../ledger/for_sync.ts";
import { isServiceFailure } from "../walk/walk.ts";
import type { SweepKind } from "./fair_share.ts";
import { backoffMs } from "../../core/waiting/waiting.ts";
import { messageOf } from "../../core/guards.ts";

/**
 * Why polling fails, as far as the advice differs.
 *
 * - `wrong_key`: the service does not know the API key (401).
 * - `refused`: the service refuses the key (403).
 * - `bad_request`: the service rejects the request as invalid (400).
 * - `rate_limited`: too many requests (429).
 * - `service_error`: the service itself fails (5xx).
 * - `bad_answer`: its answer is not what its documentation describes.
 * - `timeout`: it did not answer in time.
 * - `network`: it could not be reached.
 * - `certificate`: its certificate is not accepted.
 * - `lease_lost`: another poller takes the lease again and again.
 * - `ledger`: the database fails.
 * - `stalled`: no sweep has made a step for minutes.
 * - `other`: anything else; the message says what.
 */
export type PollFailureCause =
  | "wrong_key"
  | "refused"
  | "bad_request"
  | "rate_limited"
  | "service_error"
  | "bad_answer"
  | "timeout"
  | "network"
  | "certificate"
  | "lease_lost"
  | "ledger"
  | "stalled"
  | "other";

/** A sweep, or the poller itself: its lease and its database. */
export type PollPart = SweepKind | "poller";

/** A sweep that has failed since it last worked. */
export interface SweepFailure {
  /** Which. */
  readonly sweep: PollPart;
  /** Failures in a row; each one comes after all retries of the client. */
  readonly attempts: number;
  /** When the first of them was, UTC ISO 8601. */
  readonly since: string;
  /** When the last of them was, UTC ISO 8601. */
  readonly lastAt: string;
  /** When it is tried again, UTC ISO 8601; null when it is not. */
  readonly nextAttemptAt: string | null;
  /** Why the last one failed. */
  readonly cause: PollFailureCause;
  /** HTTP status that the service answered; null when it did not. */
  readonly status: number | null;
  /** The same for people; never a secret. */
  readonly message: string;
}

/** Health of polling: plain data, stored in the ledger. */
export interface PollHealth {
  /** Sweeps that have failed since they last worked. */
  readonly failures: readonly SweepFailure[];
  /** When a sweep last made a step, UTC ISO 8601; null before the first. */
  readonly workedAt: string | null;
}

/**
 * When the service last answered, as far as the ledger knows: the poller stores
 * the time now and then, and does not count what an import or another program
 * read.
 */
export async function lastAnsweredAt(
  driver: Driver,
  { workedAt }: PollHealth,
): Promise<string | null> {
  const readAt = await readLateReading(driver);
  return workedAt === null || (readAt !== null && readAt > workedAt)
    ? readAt
    : workedAt;
}

/** The health of a poller that has not begun. */
export const UNTRIED: PollHealth = { failures: [], workedAt: null };

/** A single failure may be chance, and the next attempt is a second away. */
const ALARM_ATTEMPTS = 2;

/** One that took the client's whole deadline, or that repeating never mends. */
const NEVER_CHANCE: ReadonlySet<PollFailureCause> = new Set([
  "timeout",
  "certificate",
]);

/**
 * The failure that is the alarm: the oldest of a sweep that has failed more
 * than once in a row, or once by what is no chance. Null without any.
 */
export function pollAlarm(health: PollHealth): SweepFailure | null {
  const [oldest = null] = health.failures.filter(({ attempts, cause }) =>
    attempts >= ALARM_ATTEMPTS || NEVER_CHANCE.has(cause)
  ).toSorted((a, b) => Date.parse(a.since) - Date.parse(b.since));
  return oldest;
}

/** One more failure of a sweep. */
export function withFailure(
  health: PollHealth,
  failure: Omit<SweepFailure, "attempts" | "since">,
): PollHealth {
  const before = health.failures.find(({ sweep }) => sweep === failure.sweep);
  const others = health.failures.filter((one) => one !== before);
  // After the clock was set back, the stored start may be in the future.
  const since = before === undefined || before.since > failure.lastAt
    ? failure.lastAt
    : before.since;
  const attempts = (before?.attempts ?? 0) + 1;
  return { ...health, failures: [...others, { ...failure, attempts, since }] };
}

/** A sweep worked: whatever it failed with is over. */
export function withoutFailure(
  health: PollHealth,
  sweep: PollPart,
): PollHealth {
  return {
    ...health,
    failures: health.failures.filter((one) => one.sweep !== sweep),
  };
}

const CAUSES = new Map<unknown, PollFailureCause>([
  ["AuthenticationError", "wrong_key"],
  ["PermissionError", "refused"],
  ["ValidationError", "bad_request"],
  ["RateLimitError", "rate_limited"],
  ["ServiceError", "service_error"],
  ["ResponseError", "bad_answer"],
  ["TimeoutError", "timeout"],
  ["NetworkError", "network"],
  ["PollError", "lease_lost"],
  ["LedgerError", "ledger"],
]);

/** What an error of the client, the lease or the database means here. */
export function pollFailureCause(error: unknown): PollFailureCause {
  const cause = CAUSES.get((error as Error | null)?.name) ?? "other";
  return cause === "network" && /: its certificate /.test(String(error))
    ? "certificate"
    : cause;
}

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

/** Pause after a failure, doubled each time up to the second, in ms. */
const FAILURE_PAUSES = { firstMs: 1000, longestMs: 60_000 };

interface PollFailuresOptions {
  readonly ledger: { readonly driver: Driver };
  readonly now: () => number;
  readonly onPollAlert?: (alert: PollAlert) => void;
  readonly onPollHealth?: (health: PollHealth) => void;
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

  constructor(options: PollFailuresOptions) {
    this.#options = options;
  }

  async load(): Promise<void> {
    if (this.#reported) return;
    this.#health = await readPollHealth(this.#options.ledger.driver);
    this.#outageSince = pollAlarm(this.#health)?.since ?? null;
  }

  /** Whether a sweep last failed because the database did. */
  isOfDatabase(sweep: PollPart): boolean {
    return this.#failure(sweep)?.cause === "ledger";
  }

  #failure(sweep: PollPart): SweepFailure | undefined {
    return this.#health.failures.find((one) => one.sweep === sweep);
  }

  /** A sweep failed; it says after how long it is tried again, in ms. */
  async failed(
    sweep: PollPart,
    error: unknown,
    isRetried = true,
  ): Promise<number> {
    const { now, onPollAlert } = this.#options;
    const iso = (timeMs: number) => new Date(timeMs).toISOString();
    const tries = (this.#failure(sweep)?.attempts ?? 0) + 1;
    const pauseMs = backoffMs(tries, FAILURE_PAUSES);
    this.#health = withFailure(this.#health, {
      sweep,
      cause: pollFailureCause(error),
      status: isServiceFailure(error) ? error.status : null,
      lastAt: iso(now()),
      nextAttemptAt: isRetried ? iso(now() + pauseMs) : null,
      message: messageOf(error),
    });
    const failure = pollAlarm(this.#health);
    if (failure !== null && !this.#reported) {
      this.#reported = true;
      this.#outageSince ??= failure.since;
      const sweeps = this.#health.failures.map((one) => one.sweep);
      quietly(onPollAlert, { kind: "failing", failure, sweeps });
    }
    await this.store();
    return pauseMs;
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

  async worked(sweep: PollPart): Promise<void> {
    if (this.#failure(sweep) === undefined) return;
    this.#health = withoutFailure(this.#health, sweep);
    if (this.#outageSince !== null && this.#health.failures.length === 0) {
      const since = this.#outageSince;
      quietly(this.#options.onPollAlert, { kind: "recovered", since });
      this.#outageSince = null;
      this.#reported = false;
    }
    await this.store();
  }

  /** Another poller has the lease: nothing is wrong, and nothing is stored. */
  async standBy(): Promise<void> {
    await this.worked("poller");
    quietly(this.#options.onPollHealth, this.#health);
  }

  /** Stores it in the ledger; where that fails, `failed` will report it. */
  async store(): Promise<void> {
    const { ledger: { driver }, now, onPollHealth } = this.#options;
    quietly(onPollHealth, this.#health);
    const kept = writeSweep(HEALTH, this.#health, now());
    await driver.batch([kept], "write").catch(() => {});
  }
}

/** A listener that fails must not stop polling. */
function quietly<Told>(
  listener: ((told: Told) => void) | undefined,
  told: Told,
): void {
  try {
    listener?.(told);
  } catch {
    // There is no other listener to report this to.
  }
}
