import { type Driver, readLateReading } from "../../ledger/for_sync.ts";
import type { SweepKind } from "./fair_share.ts";

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
 *
 * @returns UTC ISO 8601; null when it never did.
 * @throws {LedgerError} When the database fails.
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
 *
 * @param health Health of polling.
 *
 * @example A single failure raises no alarm
 * ```ts
 * import { pollAlarm } from "./poll_health.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(pollAlarm({ failures: [], workedAt: null }), null);
 * ```
 */
export function pollAlarm(health: PollHealth): SweepFailure | null {
  return health.failures.filter(({ attempts, cause }) =>
    attempts >= ALARM_ATTEMPTS || NEVER_CHANCE.has(cause)
  )
    .reduce<SweepFailure | null>(
      (oldest, one) =>
        oldest === null || one.since < oldest.since ? one : oldest,
      null,
    );
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

/** What an error of the client, the lease or the database means here. */
export function pollFailureCause(error: unknown): PollFailureCause {
  switch (error instanceof Error ? error.name : "") {
    case "AuthenticationError":
      return "wrong_key";
    case "PermissionError":
      return "refused";
    case "ValidationError":
      return "bad_request";
    case "RateLimitError":
      return "rate_limited";
    case "ServiceError":
      return "service_error";
    case "ResponseError":
      return "bad_answer";
    case "TimeoutError":
      return "timeout";
    case "NetworkError":
      return /: its certificate /.test(String(error))
        ? "certificate"
        : "network";
    case "PollError":
      return "lease_lost";
    case "LedgerError":
      return "ledger";
    default:
      return "other";
  }
}
