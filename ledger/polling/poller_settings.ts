import { sleep } from "../../core/waiting/sleep.ts";
import {
  cryptoBytes,
  DEFAULT_PERIODS,
  DEFAULT_RULES,
  OVERLAP_MS,
  SETTLE_MS,
} from "./settings.ts";
import { CONTRADICTED_AFTER_MS } from "./recording/contradiction.ts";
import { LEASE_MS } from "./lease/lease.ts";
import type { PollerOptions } from "./poller_options.ts";
import type { ShareRules } from "./fair_share.ts";
import { steadyClock } from "../../core/waiting/steady_clock.ts";
import type { SweepPeriods } from "./staleness.ts";

/** A poller's options with nothing left out. */
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

/** How often the watchdog looks unless the options say otherwise, in ms. */
const usualWatchMs = 30_000;

/** Fills in what the options leave out. */
export function pollerSettings(options: PollerOptions): PollerSettings {
  const rate = options.requestsPerSecond ?? DEFAULT_RULES.requestsPerSecond;
  const leaseMs = options.leaseMs ?? LEASE_MS;
  return {
    rules: {
      requestsPerSecond: rate,
      burst: Math.max(1, rate),
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
    watchEveryMs: options.watchEveryMs ?? usualWatchMs,
  };
}
