import { WATCH_EVERY_MS } from "../watchdog/watchdog.ts";
import { sleep, steadyClock } from "../../core/waiting/sleep.ts";
import { CONTRADICTED_AFTER_MS } from "../recording/contradiction.ts";
import { LEASE_MS, OPEN_AT_LEAST_MS } from "../../ledger/for_sync.ts";
import type { PollerOptions } from "./poller_options.ts";
import type { ShareRules } from "./fair_share.ts";
import { CONFIRM_AT_LEAST_MS, type SweepPeriods } from "./staleness.ts";
import { backoffMs } from "../../core/waiting/retry_delay.ts";

/** A poller's options with all defaults filled in. */
export interface PollerSettings {
  /** How the rate is divided. */
  readonly rules: ShareRules;
  /** When sweeps start. */
  readonly periods: SweepPeriods;
  /** The clock, in ms. */
  readonly now: () => number;
  /** A clock that is never set back, for pauses, in ms. */
  readonly steadyNow: () => number;
  /** Waits, and rejects when aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Random bytes. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** Name under which the lease is held. */
  readonly holder: string;
  /** How long the lease outlives its holder, in ms. */
  readonly leaseMs: number;
  /** Pause between two renewals of the lease, in ms. */
  readonly renewMs: number;
  /** How far back the look for new orders starts, in ms. */
  readonly overlapMs: number;
  /** Younger than this, the past may still change, in ms. */
  readonly settleMs: number;
  /** How long the service may disagree with a claim, in ms. */
  readonly contradictedAfterMs: number;
  /** Pause between two looks of the watchdog, in ms. */
  readonly watchEveryMs: number;
}

/** Fills in what the options leave out. */
export function pollerSettings(options: PollerOptions): PollerSettings {
  const rate = options.requestsPerSecond ?? DEFAULT_RULES.requestsPerSecond;
  const leaseMs = options.leaseMs ?? LEASE_MS;
  return {
    rules: {
      requestsPerSecond: rate,
      burst: Math.max(2, rate / 2),
      shares: options.shares ?? DEFAULT_RULES.shares,
    },
    periods: {
      followEveryMs: options.followEveryMs ?? DEFAULT_PERIODS.followEveryMs,
      confirmEveryMs: options.confirmEveryMs ?? DEFAULT_PERIODS.confirmEveryMs,
      confirmAtLeastMs: options.confirmAtLeastMs ??
        DEFAULT_PERIODS.confirmAtLeastMs,
      openEveryMs: options.openEveryMs ?? DEFAULT_PERIODS.openEveryMs,
      openAtLeastMs: DEFAULT_PERIODS.openAtLeastMs,
      deepCycleAtLeastMs: options.deepCycleAtLeastMs ??
        DEFAULT_PERIODS.deepCycleAtLeastMs,
      itemsPerWindow: options.itemsPerWindow ?? DEFAULT_PERIODS.itemsPerWindow,
    },
    now: options.now ?? Date.now,
    steadyNow: options.steadyNow ??
      (options.now === undefined
        ? () => performance.now()
        : steadyClock(options.now)),
    sleep: options.sleep ?? sleep,
    randomBytes: options.randomBytes ?? cryptoBytes,
    holder: options.holder ?? `poller-${crypto.randomUUID()}`,
    leaseMs,
    // Two renewals may fail before the lease is lost.
    renewMs: leaseMs / 3,
    overlapMs: options.overlapMs ?? OVERLAP_MS,
    settleMs: options.settleMs ?? SETTLE_MS,
    contradictedAfterMs: options.contradictedAfterMs ?? CONTRADICTED_AFTER_MS,
    watchEveryMs: options.watchEveryMs ?? WATCH_EVERY_MS,
  };
}

/** How the rate is divided unless the options say otherwise. */
export const DEFAULT_RULES: ShareRules = {
  requestsPerSecond: 4,
  burst: 2,
  shares: { new: 2, open: 3, confirm: 3, deep: 2 },
};

/** When sweeps start unless the options say otherwise. */
export const DEFAULT_PERIODS: SweepPeriods = {
  followEveryMs: 15_000,
  confirmEveryMs: 1000,
  confirmAtLeastMs: CONFIRM_AT_LEAST_MS,
  openEveryMs: 5000,
  openAtLeastMs: OPEN_AT_LEAST_MS,
  deepCycleAtLeastMs: 3_600_000,
  itemsPerWindow: 200,
};

/** How far back the new sweep looks again, in milliseconds. */
export const OVERLAP_MS = 120_000;

/** Younger than this the past may still change, in milliseconds. */
export const SETTLE_MS = 60_000;

/** Pause after a failure, doubled each time up to the second, in ms. */
const pauses = { firstMs: 1000, longestMs: 60_000 };

/**
 * How long to wait before trying again.
 *
 * @param failures Failures in a row.
 */
export function pauseAfterFailureMs(failures: number): number {
  return backoffMs(failures, pauses);
}

/** Random bytes of the runtime. */
export function cryptoBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}
