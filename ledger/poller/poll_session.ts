import type { Lease } from "./lease.ts";
import type { PollerOptions } from "./poller_options.ts";
import type { PollerSettings } from "./poller_settings.ts";
import type { Lane } from "./rate_budget.ts";
import { Recorder } from "./recorder.ts";
import type { Sweep, SweepContext, SweepRead } from "./sweep.ts";
import { sweepConfirm } from "./sweep_confirm.ts";
import { sweepDeep } from "./sweep_deep.ts";
import { sweepNew } from "./sweep_new.ts";
import { sweepOpen } from "./sweep_open.ts";
import { watchdog } from "./watchdog.ts";
import type { DeliveryHealth } from "./watchdog_rule.ts";

/** What a session works with. */
export interface PollSessionOptions {
  /** The lease under which everything is written. */
  readonly lease: Lease;
  /** The poller's options. */
  readonly options: PollerOptions;
  /** The same with nothing left out. */
  readonly settings: PollerSettings;
  /** Ends the work. */
  readonly signal: AbortSignal | undefined;
  /** Told of everything that was read. */
  readonly onRead: (lane: Lane, read: SweepRead) => void;
}

/** A lease, and what can be done under it. */
export class PollSession {
  /** The lease. */
  readonly lease: Lease;
  readonly #parts: PollSessionOptions;
  readonly #recorder: Recorder;

  /** @param parts What it works with. */
  constructor(parts: PollSessionOptions) {
    const { now, randomBytes } = parts.settings;
    const { driver } = parts.options.ledger;
    this.lease = parts.lease;
    this.#parts = parts;
    this.#recorder = new Recorder({
      driver,
      lease: parts.lease,
      now,
      randomBytes,
    });
  }

  /**
   * Begins a sweep.
   *
   * @param lane Which.
   * @param all Whether it asks for every open order, due or not.
   */
  sweep(lane: Lane, all: boolean): Sweep {
    const context = this.#context(lane);
    const { randomBytes } = this.#parts.settings;
    switch (lane) {
      case "new":
        return both(sweepNew(context, "order"), sweepNew(context, "user"));
      case "open":
        return sweepOpen(context, { all, randomBytes });
      case "confirm":
        return sweepConfirm(context);
      case "deep":
        return sweepDeep(context);
    }
  }

  /** Holds the lease for longer. */
  async renew(): Promise<void> {
    await this.#recorder.write([]);
  }

  /**
   * Looks at webhook delivery, raises the alarm, and renews the lease.
   *
   * @param onFailure Told of what `onWatch` or `onAlert` failed with; without
   * it, that is thrown.
   */
  async watch(onFailure?: (error: unknown) => void): Promise<DeliveryHealth> {
    const { options, settings } = this.#parts;
    const { ledger, onAlert, onWatch, webhookGraceMs } = options;
    const look = await watchdog(ledger.driver, {
      nowMs: settings.now(),
      ...(webhookGraceMs === undefined ? {} : { graceMs: webhookGraceMs }),
    });
    // Told before it is remembered: an alarm may come twice, never not at all.
    let { remember } = look;
    try {
      onWatch?.(look.health);
      if (look.raised || look.cleared) await onAlert?.(look.health);
    } catch (error) {
      if (onFailure === undefined) throw error;
      onFailure(error);
      remember = [];
    }
    await this.#recorder.write(remember);
    return look.health;
  }

  #context(lane: Lane): SweepContext {
    const { options, settings, signal, onRead } = this.#parts;
    return {
      client: options.client,
      driver: options.ledger.driver,
      recorder: this.#recorder,
      now: settings.now,
      itemsPerWindow: settings.periods.itemsPerWindow,
      overlapMs: settings.overlapMs,
      settleMs: settings.settleMs,
      ...(signal === undefined ? {} : { signal }),
      onRead: (read) => onRead(lane, read),
    };
  }
}

async function* both(first: Sweep, second: Sweep): Sweep {
  yield* first;
  yield* second;
}
