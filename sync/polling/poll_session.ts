import { ENTITIES, type Lease } from "../../ledger/for_sync.ts";
import { Recorder, type SweepRead } from "../recording/recorder.ts";
import { allSteps, type Steps } from "../walk/poll_client.ts";
import { watchdog } from "../watchdog/watchdog.ts";
import type { DeliveryHealth } from "../watchdog/watchdog_rule.ts";
import type { RequestMeter, SweepKind } from "./fair_share.ts";
import type { PollFailures } from "./poll_health.ts";
import type { PollerSettings } from "./poller_options.ts";
import { RequestTurns, sweepConfirm, sweepOpen } from "./sweep_queue.ts";
import type { SweepContext } from "./sweep_context.ts";
import { sweepDeep } from "./sweep_deep.ts";
import { sweepNew } from "./sweep_new.ts";

/** What a poller keeps from one lease to the next. */
export interface PollParts {
  readonly settings: PollerSettings;
  /** Chooses the sweep that makes the next request. */
  readonly meter: RequestMeter;
  /** The failures that have not ended. */
  readonly failures: PollFailures;
  readonly onRead: (kind: SweepKind, read: SweepRead) => void;
}

/** A lease, and what can be done under it. */
export class PollSession {
  readonly parts: PollParts;
  readonly lease: Lease;
  readonly signal: AbortSignal | undefined;
  readonly #recorder: Recorder;
  readonly #confirmTurns = new RequestTurns();
  readonly #openTurns = new RequestTurns();

  constructor(
    parts: PollParts,
    lease: Lease,
    signal: AbortSignal | undefined,
  ) {
    this.parts = parts;
    this.lease = lease;
    this.signal = signal;
    const { now, randomBytes, ledger: { driver } } = parts.settings;
    this.#recorder = new Recorder({ driver, lease, now, randomBytes });
  }

  sweep(kind: SweepKind, all: boolean): Steps {
    const context = this.#context(kind);
    switch (kind) {
      case "new":
        return allSteps(ENTITIES.map((entity) => sweepNew(context, entity)));
      case "open":
        return sweepOpen(context, { all, turns: this.#openTurns });
      case "confirm":
        return sweepConfirm(context, { all, turns: this.#confirmTurns });
      case "deep": {
        // Half of it: a cycle that is due must not be left out by chance.
        const pauseMs = all ? 0 : this.parts.settings.deepCycleAtLeastMs / 2;
        return allSteps(
          ENTITIES.map((entity) => sweepDeep(context, entity, pauseMs)),
        );
      }
    }
  }

  async renew(): Promise<void> {
    await this.#recorder.write([]);
  }

  /** Looks at webhook delivery, raises the alarm, and renews the lease. */
  async watch(onFailure?: (error: unknown) => void): Promise<DeliveryHealth> {
    const { ledger, now, watchEveryMs, webhookGraceMs, onWatch, onAlert } =
      this.parts.settings;
    const { health, alert, remember } = await watchdog(ledger.driver, {
      nowMs: now(),
      everyMs: watchEveryMs,
      ...(webhookGraceMs === undefined ? {} : { graceMs: webhookGraceMs }),
    });
    // Called before it is stored: an alarm may be sent twice, but is never lost.
    let isTaken = true;
    try {
      onWatch?.(health);
      if (alert !== null) await onAlert?.(alert);
    } catch (error) {
      if (onFailure === undefined) throw error;
      onFailure(error);
      isTaken = false;
    }
    await this.#recorder.write(isTaken ? remember : []);
    return health;
  }

  #context(kind: SweepKind): SweepContext {
    const { settings, onRead } = this.parts;
    return {
      ...settings,
      driver: settings.ledger.driver,
      recorder: this.#recorder,
      ...(this.signal === undefined ? {} : { signal: this.signal }),
      onRead: (read) => onRead(kind, read),
    };
  }
}
