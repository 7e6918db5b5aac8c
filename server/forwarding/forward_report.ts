import { messageOf } from "../../core/guards.ts";
import {
  DURATION_BOUNDS,
  type Meter,
  type MeterCounter,
  type MeterRecorder,
} from "../../core/telemetry/meter.ts";
import { type Driver, isLostRace } from "../../ledger/for_sync.ts";
import { type ForwardTarget, Subscriptions } from "../../ledger/mod.ts";
import { Alarm } from "../monitoring/alarm.ts";
import type { Log } from "../monitoring/logger.ts";
import { operands } from "../../resources/views/shell_word.ts";
import type { PostOutcome } from "./post_webhook.ts";

/** Failures in a row, of any transitions, that raise the alarm. */
const FAILURES = 5;

/** The instruments that all targets share. */
export interface ForwardMeters {
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
export interface ForwardReportParts {
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
