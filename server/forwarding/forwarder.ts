import { messageOf } from "../../core/guards.ts";
import {
  DURATION_BOUNDS,
  type Meter,
  type MeterCounter,
  type MeterRecorder,
} from "../../core/telemetry/meter.ts";
import { type Driver, isLostRace } from "../../ledger/for_sync.ts";
import {
  type ForwardTarget,
  type Ledger,
  Subscription,
  Subscriptions,
  type TransitionHandler,
} from "../../ledger/mod.ts";
import { Alarm } from "../monitoring/alarm.ts";
import type { Log } from "../monitoring/logger.ts";
import { operands } from "../../resources/views/text.ts";
import {
  KeptConnections,
  type PostOptions,
  type PostOutcome,
  postWebhook,
  targetName,
} from "./post_webhook.ts";
import { sleep as sleepFor } from "../../core/waiting/waiting.ts";
import { aborted } from "../../core/settings/values.ts";
import {
  isTargetOff,
  registerTarget,
  switchTarget,
} from "../../ledger/for_server.ts";
import type { Target } from "./read_targets.ts";
import { type Signer, transitionMessage } from "./transition_message.ts";

/** Failures in a row, of any transitions, that raise the alarm. */
const FAILURES = 5;

/** The instruments that all targets share. */
interface ForwardMeters {
  readonly attempts: MeterCounter;
  readonly duration: MeterRecorder;
  readonly behind: MeterRecorder;
  readonly queued: MeterRecorder;
}

/** Makes the instruments. */
export function forwardMeters(meter: Meter): ForwardMeters {
  return {
    attempts: meter.createCounter("rampkit.forward.attempts", {
      description: "Attempts to forward, by target and outcome",
    }),
    duration: meter.createHistogram("rampkit.forward.duration", {
      description: "Time from the beginning of an attempt to its end",
      unit: "s",
      advice: { explicitBucketBoundaries: [...DURATION_BOUNDS] },
    }),
    behind: meter.createGauge("rampkit.forward.behind", {
      description: "Transitions that a target's sender has not looked at",
      unit: "{transition}",
    }),
    queued: meter.createGauge("rampkit.forward.queued", {
      description: "Transitions that failed, wait behind one, or are dead",
      unit: "{transition}",
    }),
  };
}

/** What a report is made of. */
interface ForwardReportParts {
  /** The target's address without its query. */
  readonly target: string;
  /** Name of its subscription. */
  readonly name: string;
  readonly meters: ForwardMeters;
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
}

/** Reports to log and metrics how forwarding to one target goes. */
export class ForwardReport {
  readonly #parts: ForwardReportParts;
  readonly #labels: { readonly target: string };
  readonly #failing: Alarm;
  #failures = 0;
  #off = false;

  /** @param parts What it is made of. */
  constructor(parts: ForwardReportParts) {
    this.#parts = parts;
    this.#labels = { target: parts.target };
    this.#failing = new Alarm(parts.log, "forward_failing", parts.now);
  }

  /** Reports that this process sends from now on. */
  sending(): void {
    const { log, target } = this.#parts;
    this.#off = false;
    log("info", "forwarding", { target });
  }

  /** Reports how an attempt ended. */
  attempted(outcome: PostOutcome, durationMs: number): void {
    const { meters, target } = this.#parts;
    meters.attempts.add(1, { ...this.#labels, outcome: outcome.kind });
    meters.duration.record(durationMs / 1000, this.#labels);
    if (outcome.kind === "taken") return this.#works();
    this.#failures++;
    if (this.#failures < FAILURES) return;
    this.#failing.raise({
      target,
      message: `The target ${outcome.reason}`,
      failures: this.#failures,
      effect: "Transitions are kept, and sent again over three days",
    });
  }

  /** Reports a transition that failed permanently. */
  dead(key: string, reason: string): void {
    const { log, target, name } = this.#parts;
    log("error", "forward_dead", {
      target,
      key,
      message: `The target ${reason}`,
      advice: `Fix the target, then: rampkit subscriptions retry ${
        operands(name)
      }`,
    });
  }

  /**
   * Reports that the target is switched off, in one line however many answers
   * said so.
   */
  isOff({ offAt, offReason }: ForwardTarget): void {
    const { log, target, name } = this.#parts;
    if (this.#off) return;
    this.#off = true;
    log("error", "forward_off", {
      target,
      since: offAt,
      message: `The target ${offReason}`,
      advice: `When it wants webhooks again: rampkit subscriptions resume ${
        operands(name)
      }`,
    });
  }

  /** Reports that the ledger failed; the work is retried. */
  readonly problem = (error: unknown): void => {
    if (isLostRace(error)) return;
    const { target } = this.#parts;
    this.#failing.raise({ target, message: messageOf(error) });
  };

  /** Measures what waits. */
  async watch(driver: Driver, name: string): Promise<void> {
    const { meters, now } = this.#parts;
    const all = await new Subscriptions(driver, now).list();
    const found = all.find((one) => one.name === name);
    if (found === undefined) return;
    meters.behind.record(found.behind, this.#labels);
    for (const state of ["retrying", "waiting", "dead"] as const) {
      meters.queued.record(found[state], { ...this.#labels, state });
    }
  }

  #works(): void {
    this.#failures = 0;
    this.#failing.clear({ target: this.#parts.target });
  }
}

/** What a forwarder works with. */
export interface ForwarderParts {
  /** Where transitions come from. */
  readonly ledger: Pick<Ledger, "driver" | "assets" | "onProjected">;
  /** Where they go. */
  readonly target: Target;
  /** Signs them. */
  readonly sign: Signer;
  /** Reports how it goes. */
  readonly report: ForwardReport;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Names this sender. @default {a new name} */
  readonly holder?: string;
  /** How long its lease lasts unless renewed, ms. @default {the subscription's} */
  readonly leaseMs?: number;
  /** Where a new target begins. @default "now" */
  readonly from?: "now" | "start";
  /** Requests under way at a time. @default 16 */
  readonly concurrency?: number;
  /** Attempts before a transition is dead. @default {ten, over three days} */
  readonly maxAttempts?: number;
  /** Wait before another attempt, in ms. @default {Standard Webhooks' schedule} */
  readonly retryDelayMs?: typeof forwardDelayMs;
  /** A random number from 0 up to 1. @default Math.random */
  readonly random?: () => number;
  /** Steady clock, ms. @default performance.now */
  readonly steadyNow?: () => number;
  /** Waits. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How webhooks are posted. */
  readonly post?: Pick<PostOptions, "fetch" | "resolve" | "timeoutMs">;
}

/** Interval between attempts to start while the database fails, in ms. */
const RETRY_INTERVAL_MS = 5000;

/** Longest pause of the whole target after one 429, ms. */
const LONGEST_PAUSE_MS = 60_000;

/**
 * A transition that was not accepted, and how long the receiver wants to wait.
 */
class NotTaken extends Error {
  readonly retryAfterMs: number | null;

  constructor(outcome: Exclude<PostOutcome, { kind: "taken" }>) {
    super(outcome.reason);
    this.retryAfterMs = outcome.kind === "retry_after"
      ? outcome.retryAfterMs
      : null;
  }
}

/**
 * Sends the transitions of one target, at least once each and in order within
 * an order or user, while it holds the subscription's lease: of several
 * processes on one ledger exactly one sends.
 */
export class Forwarder {
  readonly #parts: ForwarderParts;
  readonly #subscription: Subscription;
  readonly #sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly #steadyNow: () => number;
  readonly #connections = new KeptConnections();
  /** Nothing is sent before this, because the receiver answered 429. */
  #pausedUntil = 0;

  /** @param parts What it works with. */
  constructor(parts: ForwarderParts) {
    this.#parts = parts;
    this.#sleep = parts.sleep ?? sleepFor;
    this.#steadyNow = parts.steadyNow ?? (() => performance.now());
    this.#subscription = this.#subscribe();
  }

  /** Sends until it is stopped; failures are retried. */
  async run(signal: AbortSignal): Promise<void> {
    const { ledger, report } = this.#parts;
    const subscription = this.#subscription;
    let isOpen = false;
    while (!isOpen && !signal.aborted) {
      try {
        await this.#register();
        await subscription.open();
        isOpen = true;
      } catch (error) {
        report.problem(error);
        await this.#sleep(RETRY_INTERVAL_MS, signal).catch(() => {});
      }
    }
    using _woken = ledger.onProjected(() => subscription.wake());
    await aborted(signal);
    await subscription.stop();
    this.#connections.close();
  }

  async #register(): Promise<void> {
    const { ledger: { driver }, target, report } = this.#parts;
    const state = await registerTarget(
      driver,
      target.name,
      targetName(target.url),
    );
    if (state.offAt !== null) report.isOff(state);
  }

  #subscribe(): Subscription {
    const { ledger: { driver, assets }, target, report, now } = this.#parts;
    const { random = Math.random, retryDelayMs = forwardDelayMs, leaseMs } =
      this.#parts;
    const watch = () => report.watch(driver, target.name);
    return new Subscription({
      driver,
      assets,
      now,
      name: target.name,
      handler: this.#handler,
      longestDelayMs: LONGEST_FORWARD_DELAY_MS,
      ...(this.#parts.holder === undefined
        ? {}
        : { holder: this.#parts.holder }),
      mayBegin: async () => !await isTargetOff(driver, target.name),
      onRenewed: watch,
      options: {
        on: target.on,
        from: this.#parts.from ?? "now",
        concurrency: this.#parts.concurrency ?? 16,
        maxAttempts: this.#parts.maxAttempts ?? FORWARD_ATTEMPTS,
        retryDelayMs: (attempt, error) =>
          retryDelayMs(
            attempt,
            random(),
            error instanceof NotTaken ? error.retryAfterMs : null,
          ),
        onTurn: (turn) => {
          if (turn !== "delivers") return;
          report.sending();
          watch().catch(report.problem);
        },
        onError: report.problem,
        steadyNow: this.#steadyNow,
        sleep: this.#sleep,
        ...(leaseMs === undefined ? {} : { leaseMs }),
      },
    });
  }

  readonly #handler: TransitionHandler = async (transition, context) => {
    const { sign, target, now, report, post, maxAttempts = FORWARD_ATTEMPTS } =
      this.#parts;
    const { signal, attempt } = context;
    const pauseMs = this.#pausedUntil - this.#steadyNow();
    if (pauseMs > 0) await this.#sleep(pauseMs, signal);
    // A process that was paused may have been replaced meanwhile.
    if (!this.#subscription.isHolder) this.#subscription.endTurn();
    signal.throwIfAborted();
    const message = transitionMessage(transition, context);
    const begun = this.#steadyNow();
    const outcome = await postWebhook(target.url, sign(message, now()), {
      ...post,
      connections: this.#connections,
      signal,
      now,
    });
    report.attempted(outcome, this.#steadyNow() - begun);
    if (outcome.kind === "taken") return;
    if (outcome.kind === "gone") await this.#switchOff(outcome.reason);
    if (outcome.status === 429) this.#pause(outcome);
    if (outcome.kind !== "gone" && attempt >= maxAttempts) {
      report.dead(transition.key, outcome.reason);
    }
    throw new NotTaken(outcome);
  };

  #pause(outcome: PostOutcome): void {
    const askedMs = outcome.kind === "retry_after"
      ? outcome.retryAfterMs
      : 1000;
    this.#pausedUntil = this.#steadyNow() + Math.min(askedMs, LONGEST_PAUSE_MS);
  }

  /**
   * Ends the turn; what was not accepted is sent once the target is resumed.
   */
  async #switchOff(reason: string): Promise<void> {
    const { ledger: { driver }, target, now, report } = this.#parts;
    const at = new Date(now()).toISOString();
    try {
      await switchTarget(driver, target.name, { at, reason });
      report.isOff({
        url: targetName(target.url),
        offAt: at,
        offReason: reason,
      });
    } catch (error) {
      report.problem(error);
    }
    this.#subscription.endTurn();
  }
}

/** Waits before further attempts, as Standard Webhooks proposes them, in ms. */
const WAITS_MS: readonly number[] = [
  5_000,
  5 * 60_000,
  30 * 60_000,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 3_600_000),
];

/** Attempts over about three days, after which a transition is dead. */
export const FORWARD_ATTEMPTS: number = WAITS_MS.length + 1;

/** Longest wait that a receiver can ask for, ms. */
const LONGEST_ASKED_MS = 24 * 3_600_000;

/** No wait is longer than this, ms. */
export const LONGEST_FORWARD_DELAY_MS = 30 * 3_600_000;

/**
 * How long to wait before another attempt to forward: up to a fifth less or
 * more than the schedule says, and not less than the receiver asked for.
 */
export function forwardDelayMs(
  attempt: number,
  random: number,
  retryAfterMs: number | null,
): number {
  const waitMs = WAITS_MS[attempt - 1] ?? WAITS_MS.at(-1) ?? 0;
  return Math.max(
    Math.round(waitMs * (0.8 + 0.4 * random)),
    Math.min(retryAfterMs ?? 0, LONGEST_ASKED_MS),
  );
}
