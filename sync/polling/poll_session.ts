import { ENTITIES, type Lease } from "../../ledger/for_sync.ts";
import type { PollerOptions } from "./poller_options.ts";
import type { PollerSettings } from "./poller_settings.ts";
import { writePollBound } from "./poll_bound.ts";
import { readPollStatus } from "./poll_status.ts";
import type { SweepKind } from "./fair_share.ts";
import { RequestTurns } from "./request_turns.ts";
import { Recorder } from "../recording/recorder.ts";
import { allSteps, type Steps } from "../walk/steps.ts";
import type { SweepContext } from "./sweep_context.ts";
import type { SweepRead } from "../recording/record_page.ts";
import { sweepConfirm } from "./sweep_confirm.ts";
import { sweepDeep } from "./sweep_deep.ts";
import { sweepNew } from "./sweep_new.ts";
import { sweepOpen } from "./sweep_open.ts";
import { watchdog } from "../watchdog/watchdog.ts";
import type { DeliveryHealth } from "../watchdog/watchdog_rule.ts";

/** What a session works with. */
export interface PollSessionOptions {
  /** The lease under which everything is written. */
  readonly lease: Lease;
  /** The poller's options. */
  readonly options: PollerOptions;
  /** The options with all defaults filled in. */
  readonly settings: PollerSettings;
  /** Ends the work. */
  readonly signal: AbortSignal | undefined;
  /** Called with every reading. */
  readonly onRead: (kind: SweepKind, read: SweepRead) => void;
}

/** A lease, and what can be done under it. */
export class PollSession {
  /** The lease. */
  readonly lease: Lease;
  readonly #parts: PollSessionOptions;
  readonly #recorder: Recorder;
  readonly #confirmTurns = new RequestTurns();
  readonly #openTurns = new RequestTurns();

  /** @param parts The objects it uses. */
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
   * @param kind Which.
   * @param all Whether it requests every open order, due or not, and ends when
   * all that waits now was requested.
   */
  sweep(kind: SweepKind, all: boolean): Steps {
    const context = this.#context(kind);
    switch (kind) {
      case "new":
        return allSteps(ENTITIES.map((entity) => sweepNew(context, entity)));
      case "open":
        return sweepOpen(context, { all, turns: this.#openTurns });
      case "confirm":
        return sweepConfirm(context, { once: all, turns: this.#confirmTurns });
      case "deep": {
        const { deepCycleAtLeastMs } = this.#parts.settings.periods;
        // Half of it: a cycle that is due must not be left out by chance.
        const pauseMs = all ? 0 : deepCycleAtLeastMs / 2;
        return allSteps(
          ENTITIES.map((entity) => sweepDeep(context, entity, pauseMs)),
        );
      }
    }
  }

  /** Renews the lease. */
  async renew(): Promise<void> {
    await this.#recorder.write([]);
  }

  /**
   * Looks at webhook delivery, raises the alarm, and renews the lease.
   *
   * @param onFailure Called with the error when `onWatch` or `onAlert` throws;
   * without it, the error is thrown.
   */
  async watch(onFailure?: (error: unknown) => void): Promise<DeliveryHealth> {
    const { options, settings } = this.#parts;
    const { ledger, onAlert, onWatch, webhookGraceMs } = options;
    const look = await watchdog(ledger.driver, {
      nowMs: settings.now(),
      everyMs: settings.watchEveryMs,
      ...(webhookGraceMs === undefined ? {} : { graceMs: webhookGraceMs }),
    });
    // Called before it is stored: an alarm may be sent twice, but is never lost.
    let { remember } = look;
    try {
      onWatch?.(look.health);
      if (look.alert !== null) await onAlert?.(look.alert);
    } catch (error) {
      if (onFailure === undefined) throw error;
      onFailure(error);
      remember = [];
    }
    await this.#recorder.write(remember);
    return look.health;
  }

  /** Counts the work, and records how stale the ledger can be at this rate. */
  async recordBound(): Promise<void> {
    const { options, settings: { rules, periods, now } } = this.#parts;
    const status = await readPollStatus(options.ledger.driver, rules, periods);
    await this.#recorder.write([
      writePollBound(rules.requestsPerSecond, status, now()),
    ]);
  }

  #context(kind: SweepKind): SweepContext {
    const { options, settings, signal, onRead } = this.#parts;
    return {
      client: options.client,
      driver: options.ledger.driver,
      recorder: this.#recorder,
      now: settings.now,
      randomBytes: settings.randomBytes,
      itemsPerWindow: settings.periods.itemsPerWindow,
      confirmAtLeastMs: settings.periods.confirmAtLeastMs,
      overlapMs: settings.overlapMs,
      settleMs: settings.settleMs,
      contradictedAfterMs: settings.contradictedAfterMs,
      ...(signal === undefined ? {} : { signal }),
      onRead: (read) => onRead(kind, read),
    };
  }
}
