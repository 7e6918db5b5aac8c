import { randomUUID } from "node:crypto";
import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import {
  type Lease,
  releaseLease,
  renewLease,
  takeLease,
} from "../../ledger/polling/lease/lease.ts";
import { isLostRace } from "../../ledger/store/retry_lost_races.ts";
import { Subscription } from "../../ledger/subscriptions/subscription.ts";
import type { Ledger, TransitionHandler } from "../../ledger/mod.ts";
import { aborted } from "../program/stoppable.ts";
import {
  FORWARD_ATTEMPTS,
  forwardDelayMs,
  LONGEST_FORWARD_DELAY_MS,
} from "./forward_schedule.ts";
import type { ForwardReport } from "./forward_report.ts";
import {
  type PostOptions,
  type PostOutcome,
  postWebhook,
} from "./post_webhook.ts";
import type { Target } from "./read_targets.ts";
import type { Signer } from "./signed_webhook.ts";
import { isTargetOff, registerTarget, turnTargetOff } from "./target_state.ts";
import { targetName } from "./target_address.ts";
import { transitionMessage } from "./transition_message.ts";

/** What a forwarder works with. */
export interface ForwarderParts {
  /** Where transitions come from. */
  readonly ledger: Pick<Ledger, "driver" | "onProjected">;
  /** Where they go. */
  readonly target: Target;
  /** Signs them. */
  readonly sign: Signer;
  /** Is told how it goes. */
  readonly report: ForwardReport;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Names this sender. @default {a new name} */
  readonly holder?: string;
  /** How long its lease lasts unless renewed, ms. @default 10_000 */
  readonly leaseMs?: number;
  /** Where a target that was never sent to begins. @default "now" */
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

/** After a crash another process sends this much later, ms. */
const LEASE_MS = 10_000;

/** Looks so often whether it may send, or has been resumed, ms. */
const LOOK_MS = 5000;

/** Longest that one 429 holds the whole target, ms. */
const LONGEST_PAUSE_MS = 60_000;

/** A transition that was not taken, and how long the receiver wants to wait. */
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
 * an order or user, while it holds the target's lease: of several processes on
 * one ledger exactly one sends.
 */
export class Forwarder {
  readonly #parts: ForwarderParts;
  readonly #holder: string;
  readonly #leaseMs: number;
  readonly #sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly #steadyNow: () => number;
  /** By the steady clock: later than this another may send. */
  #heldUntil = 0;
  /** Nothing is sent before this, because the receiver answered 429. */
  #pausedUntil = 0;
  /** Ends the turn as the sender. */
  #turn = new AbortController();

  /** @param parts What it works with. */
  constructor(parts: ForwarderParts) {
    this.#parts = parts;
    this.#holder = parts.holder ?? randomUUID();
    this.#leaseMs = parts.leaseMs ?? LEASE_MS;
    this.#sleep = parts.sleep ?? sleepFor;
    this.#steadyNow = parts.steadyNow ?? (() => performance.now());
  }

  /** Sends until it is stopped; what fails is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { ledger: { driver }, target, report } = this.#parts;
    let known = false;
    while (!signal.aborted) {
      let waitMs = LOOK_MS;
      try {
        if (!known) {
          const state = await registerTarget(
            driver,
            target.name,
            targetName(target.url),
          );
          known = true;
          if (state.offAt !== null) report.isOff(state);
        }
        if (!await isTargetOff(driver, target.name)) {
          const asked = this.#steadyNow();
          const lease = await takeLease(driver, {
            name: target.name,
            holder: this.#holder,
            leaseMs: this.#leaseMs,
          });
          if ("fence" in lease) {
            this.#heldUntil = asked + this.#leaseMs;
            await this.#send(lease, signal);
            waitMs = 0;
          } else waitMs = Math.min(LOOK_MS, lease.leftMs);
        }
      } catch (error) {
        report.problem(error);
      }
      await this.#sleep(Math.max(waitMs, 50), signal).catch(() => {});
    }
  }

  /** Sends while the lease is held, the target is on, and nobody stops it. */
  async #send(lease: Lease, signal: AbortSignal): Promise<void> {
    const { ledger, report } = this.#parts;
    const turn = new AbortController();
    this.#turn = turn;
    const stop = () => turn.abort();
    signal.addEventListener("abort", stop, { once: true });
    const subscription = this.#subscription(lease, turn);
    using _woken = ledger.onProjected(() => subscription.wake());
    const over = aborted(turn.signal).then(() => subscription.stop());
    try {
      if (signal.aborted) stop();
      report.sending();
      await subscription.open();
      await this.#keep(lease, turn);
    } finally {
      stop();
      await over;
      signal.removeEventListener("abort", stop);
      await releaseLease(ledger.driver, lease).catch(report.problem);
    }
  }

  /** Renews the lease until the turn is over. */
  async #keep(lease: Lease, turn: AbortController): Promise<void> {
    const { ledger: { driver }, target, report } = this.#parts;
    const everyMs = Math.floor(this.#leaseMs / 3);
    while (!turn.signal.aborted) {
      const asked = this.#steadyNow();
      try {
        await driver.batch(renewLease(lease), "write");
        this.#heldUntil = asked + this.#leaseMs;
        await report.watch(driver, target.name);
      } catch (error) {
        if (isLostRace(error) || asked >= this.#heldUntil) turn.abort();
        if (!isLostRace(error)) report.problem(error);
      }
      await this.#sleep(everyMs, turn.signal).catch(() => {});
    }
  }

  #subscription(lease: Lease, turn: AbortController): Subscription {
    const { ledger, target, report, now } = this.#parts;
    const { random = Math.random, retryDelayMs = forwardDelayMs } = this.#parts;
    return new Subscription({
      driver: ledger.driver,
      now,
      name: target.name,
      handler: this.#handler,
      longestDelayMs: LONGEST_FORWARD_DELAY_MS,
      guard: () => renewLease(lease),
      onLostRace: () => turn.abort(),
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
        onError: report.problem,
        sleep: this.#sleep,
      },
    });
  }

  readonly #handler: TransitionHandler = async (transition, context) => {
    const { sign, target, now, report, post, maxAttempts = FORWARD_ATTEMPTS } =
      this.#parts;
    const { signal, attempt } = context;
    const pauseMs = this.#pausedUntil - this.#steadyNow();
    if (pauseMs > 0) await this.#sleep(pauseMs, signal);
    if (this.#steadyNow() >= this.#heldUntil) {
      // A process that was paused may have been replaced meanwhile.
      this.#turn.abort();
      await aborted(signal);
    }
    signal.throwIfAborted();
    const message = transitionMessage(transition, context);
    const begun = this.#steadyNow();
    const outcome = await postWebhook(target.url, sign(message, now()), {
      ...post,
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

  /** The turn ends, and what was not taken is sent once it is resumed. */
  async #switchOff(reason: string): Promise<void> {
    const { ledger: { driver }, target, now, report } = this.#parts;
    const at = new Date(now()).toISOString();
    try {
      await turnTargetOff(driver, target.name, { at, reason });
      report.isOff({
        url: targetName(target.url),
        offAt: at,
        offReason: reason,
      });
    } catch (error) {
      report.problem(error);
    }
    this.#turn.abort();
  }
}
