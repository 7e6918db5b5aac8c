import type { Log } from "./logger.ts";
import { messageOf } from "../../core/guards.ts";
import type { RefusalReason } from "../../webhooks/endpoint_options.ts";
import type { DeliveryAlert } from "../../sync/watchdog/watchdog_rule.ts";
import type {
  PollAlert,
  PollHealth,
  SweepFailure,
} from "../../sync/polling/poll_health.ts";
import {
  describeCountdown,
  describeDelivery,
} from "../../resources/wording/delivery.ts";
import { pollFailureAdvice } from "../../resources/wording/poll_failure.ts";
import type { ChainState } from "../../ledger/for_server.ts";
import { describeChainBreak } from "../../resources/wording/phrases.ts";
import { LIMITS } from "../../resources/health/conditions.ts";
import { Alarm } from "./alarm.ts";

/** Pause between two looks, ms. */
const LOOK_EVERY_MS = 5_000;

/** Pause between two lines of the log, ms. */
const LOG_EVERY_MS = 60_000;

/** A reason of the endpoint, or a POST to a path that is not the endpoint's. */
type Reason = RefusalReason | "wrong_path";

type Counts = Readonly<Partial<Record<Reason, number>>>;

/** What the log of refusals works with. */
interface RefusalLogOptions {
  /** What the endpoint has refused so far. */
  readonly refused: () => Counts;
  /** Latest address that the allowlist refused. */
  readonly lastNotAllowed?: () => string | null;
  /** Stores the refusals since the last call, for `doctor`. */
  readonly keep: (more: Readonly<Record<string, number>>) => Promise<void>;
  /** The log. */
  readonly log: Log;
  /** A clock that never jumps, ms. @default performance.now */
  readonly steady?: () => number;
  /** Whether it looks automatically; if not, call `look()`. @default true */
  readonly timer?: boolean;
}

/**
 * Writes refused requests to the log, at most one line a minute. When the
 * address in the service's dashboard is wrong, its own deliveries are among
 * them, and it switches delivery off in the end.
 */
export class RefusalLog implements AsyncDisposable {
  readonly #options: RefusalLogOptions;
  readonly #steady: () => number;
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #wrongPath = 0;
  #logged: Counts = {};
  #loggedAtMs = -Infinity;

  /** Starts to report refusals. */
  constructor(options: RefusalLogOptions) {
    this.#options = options;
    this.#steady = options.steady ?? (() => performance.now());
    if (options.timer === false) return;
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
  }

  /** A delivery came to a path that is not the endpoint's. */
  readonly wrongPath = (): void => {
    this.#wrongPath++;
  };

  /** Logs and stores the refusals since the last line. */
  async look(now = false): Promise<void> {
    if (!now && this.#steady() - this.#loggedAtMs < LOG_EVERY_MS) return;
    const { refused, keep, log } = this.#options;
    const counts: Counts = this.#wrongPath === 0
      ? refused()
      : { ...refused(), wrong_path: this.#wrongPath };
    const more = Object.fromEntries(
      Object.entries(counts)
        .map(([reason, count]) =>
          [reason, count - (this.#logged[reason as Reason] ?? 0)] as const
        )
        .filter(([, count]) => count > 0),
    );
    if (Object.keys(more).length === 0) return;
    this.#logged = counts;
    this.#loggedAtMs = this.#steady();
    const address = "not_allowed" in more
      ? this.#options.lastNotAllowed?.() ?? "unknown"
      : null;
    log("warn", "requests_refused", {
      refused: more,
      ...(address === null ? {} : { lastNotAllowed: address }),
    });
    try {
      await keep(more);
    } catch (error) {
      log("warn", "refusals_not_kept", { message: messageOf(error) });
    }
  }

  /** Writes the rest, and looks no more. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.look(true);
  }
}

/** Writes an alarm about webhook delivery, or its all-clear, into the log. */
export function logDeliveryAlert(log: Log, alert: DeliveryAlert): void {
  const { kind, since, silentOrders, silentOrderIds, health } = alert;
  const message = describeDelivery(health);
  const facts = { since, silentOrders, silentOrderIds, message };
  if (kind === "recovered") return log("info", "delivery_recovered", facts);
  const { countdown } = health;
  log(
    "error",
    kind === "suspected" ? "delivery_suspected" : "delivery_failing",
    countdown === null
      ? facts
      : { ...facts, countdown: describeCountdown(countdown), ...countdown },
  );
}

/** Writes an alarm about polling, or its all-clear, into the log. */
export function logPollAlert(log: Log, alert: PollAlert): void {
  if (alert.kind === "recovered") {
    log("info", "poll_recovered", { since: alert.since });
    return;
  }
  const { failure, sweeps } = alert;
  const { sweep, attempts, since, nextAttemptAt, cause, status, message } =
    failure;
  log("error", "poll_failing", {
    sweep,
    sweeps,
    attempts,
    since,
    nextAttemptAt,
    cause,
    status,
    message,
    advice: pollFailureAdvice(cause),
  });
}

const HOUR_MS = 3_600_000;

/** What the log of the chain works with. */
interface ChainLogOptions {
  /** Where lines go. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** A clock that never jumps, ms. @default performance.now */
  readonly steady?: () => number;
}

/**
 * Writes the head of the evidence chain to the log at the start and hourly, so
 * that a copy is kept outside the database, and says once that it is broken.
 */
export class ChainLog {
  readonly #log: Log;
  readonly #steady: () => number;
  readonly #broken: Alarm;
  #loggedAt = -Infinity;

  /** Writes nothing yet. */
  constructor({ log, now, steady }: ChainLogOptions) {
    this.#log = log;
    this.#steady = steady ?? (() => performance.now());
    this.#broken = new Alarm(log, "chain_broken", now);
  }

  /** Takes in how far the chain is. Costs nothing between two lines. */
  take({ position, events, hash, broken }: ChainState): void {
    if (broken !== null) {
      return this.#broken.raise({ message: describeChainBreak(broken) });
    }
    this.#broken.clear();
    const now = this.#steady();
    if (events === 0 || now - this.#loggedAt < HOUR_MS) return;
    this.#loggedAt = now;
    this.#log("info", "chain_head", { events, position, hash });
  }
}

/** Pause between two looks, ms. */
const POLLER_LOOK_EVERY_MS = 15_000;

/** What the watch over the poller works with. */
interface StalledPollerOptions {
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
    this.#timer = setInterval(() => this.look(), POLLER_LOOK_EVERY_MS);
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

/**
 * How long an outcome counts, ms. While deliveries wait in the spool an append
 * is tried every few seconds. Without any, `/readyz` may keep the service away,
 * and no later append could show that the ledger works again.
 */
const COUNTS_MS = 60_000;

/**
 * Remembers how the latest write ended. A small probe may still fit on a disk
 * that is too full for a delivery.
 */
export class RecentOutcome {
  readonly #now: () => number;
  #latest: { readonly error: unknown; readonly atMs: number } | null = null;

  /** Uses a clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Why the latest write failed; null when it did not, or was long ago. */
  get problem(): unknown {
    const latest = this.#latest;
    return latest === null || this.#now() - latest.atMs >= COUNTS_MS
      ? null
      : latest.error;
  }

  /** Waits for a write, and remembers how it ended. */
  async of<Result>(write: Promise<Result>): Promise<Result> {
    try {
      const result = await write;
      this.#latest = { error: null, atMs: this.#now() };
      return result;
    } catch (error) {
      this.#latest = { error, atMs: this.#now() };
      throw error;
    }
  }
}
