import type {
  PollAlert,
  SweepFailure,
} from "../../sync/polling/poll_health.ts";
import type { PollHealth } from "../../sync/polling/poll_health.ts";
import { LIMITS } from "../../resources/health/limits.ts";

/** Pause between two looks, ms. */
const LOOK_EVERY_MS = 15_000;

/** What the watch over the poller works with. */
export interface StalledPollerOptions {
  /** The time, ms since the epoch: for display. */
  readonly now: () => number;
  /** A clock that never jumps, ms. @default performance.now */
  readonly steady?: () => number;
  /** Called when the poller is stuck, and when it continues. */
  readonly onAlert: (alert: PollAlert) => void;
}

/**
 * Notices a poller that neither works nor fails: it waits for a request that
 * never ends, or for a clock that was set back.
 */
export class StalledPoller implements Disposable {
  readonly #options: StalledPollerOptions;
  readonly #steady: () => number;
  readonly #timer: ReturnType<typeof setInterval>;
  #reportedMs: number;
  #stuck: SweepFailure | null = null;

  /** Begins to watch. */
  constructor(options: StalledPollerOptions) {
    this.#options = options;
    this.#steady = options.steady ?? (() => performance.now());
    this.#reportedMs = this.#steady();
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS);
  }

  /** The failure while it is stuck; null while it is not. */
  get stuck(): SweepFailure | null {
    return this.#stuck;
  }

  /** Takes in that the poller reported. */
  readonly reported = (_health: PollHealth): void => {
    this.#reportedMs = this.#steady();
    if (this.#stuck === null) return;
    const { since } = this.#stuck;
    this.#stuck = null;
    this.#options.onAlert({ kind: "recovered", since });
  };

  /** Looks how long ago it last reported. */
  look(): void {
    const silentMs = this.#steady() - this.#reportedMs;
    if (this.#stuck !== null || silentMs < LIMITS.pollerSilentMs) return;
    const nowMs = this.#options.now();
    const at = new Date(nowMs).toISOString();
    const failure: SweepFailure = {
      sweep: "poller",
      attempts: 1,
      since: new Date(nowMs - silentMs).toISOString(),
      lastAt: at,
      nextAttemptAt: null,
      cause: "stalled",
      status: null,
      message: "The poller has made no progress for " +
        `${Math.round(silentMs / 60_000)} minutes`,
    };
    this.#stuck = failure;
    this.#options.onAlert({ kind: "failing", failure, sweeps: ["poller"] });
  }

  /** Stops watching. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
