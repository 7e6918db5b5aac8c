import { randomUUID } from "node:crypto";
import { messageOf } from "../../core/guards.ts";
import { backoffMs } from "../../core/waiting/waiting.ts";
import {
  type Driver,
  LEASE_MS,
  releaseLease,
  takeLease,
} from "../../ledger/for_sync.ts";
import {
  type PostOptions,
  type PostOutcome,
  postWebhook,
} from "../forwarding/post_webhook.ts";
import { found } from "../../resources/health/finding.ts";
import {
  HealthMonitor,
  type HealthMonitorOptions,
  MACHINE,
  readHeard,
} from "../health/look_around.ts";
import { Alarm } from "../monitoring/alarm.ts";
import type { Log } from "../monitoring/logger.ts";
import {
  type AlarmCheck,
  alarmMessage,
  type AlarmTarget,
  isLocal,
  type NotifiedAlarm,
  type OnProblem,
  problemOf,
  problemOver,
  readMachineAlarms,
  readNotified,
  type StandingAlarm,
  StandingAlarms,
  writeMachineAlarms,
  writeNotified,
} from "./alarm_message.ts";
import type { ServiceMetrics } from "../monitoring/metrics.ts";

/** What sends alarms to one target. */
interface AlarmSenderParts {
  /** Where alarms are sent, and in which form. */
  readonly target: AlarmTarget;
  /** Remembers what the target received. */
  readonly driver: Driver;
  /** Environment of the ledger. */
  readonly environment: string;
  /** Name of this machine. */
  readonly host: string;
  /** Names this process among those of the ledger. @default {a new name} */
  readonly holder?: string;
  /** The log. */
  readonly log: Log;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** How it is posted. */
  readonly post?: PostOptions;
}

/**
 * An alarm that was sent, or was over, less than this long ago is not sent
 * again yet, ms.
 */
const AGAIN_MS = 10 * 60_000;

/** Pauses after attempts that failed, ms. */
const PAUSES = { firstMs: 15_000, longestMs: 15 * 60_000 };
/** Longest pause that a target can ask for, ms. */
const LONGEST_PAUSE_MS = 3_600_000;

/** A notification of an alarm that is due. */
interface Due {
  readonly name: string;
  /** Its name among those of the ledger, with the machine. */
  readonly stored: string;
  /** The machine that it is about; else null. */
  readonly host: string | null;
  readonly alarm: StandingAlarm;
  readonly clearedAt: string | null;
}

/**
 * Sends alarms to one target, one after another: each once when it is raised,
 * and once when it is over. What stands is compared with what the target
 * received, which the ledger remembers, so nothing has to be queued: what it
 * does not accept now is sent later if it still stands, by this process
 * or the next, and an alarm that came and went meanwhile is not sent at all. Of
 * several processes on one ledger the one that holds the lease sends.
 */
export class AlarmSender {
  readonly #parts: AlarmSenderParts;
  readonly #notSent: Alarm;
  readonly #notified = new Map<string, NotifiedAlarm>();
  readonly #cleared = new Map<string, string>();
  readonly #raisedAt = new Map<string, string>();
  readonly #holder: string;
  #failures = 0;
  #retryAtMs = -Infinity;
  #notifying: Promise<void> | null = null;

  /** Nothing is sent yet. */
  constructor(parts: AlarmSenderParts) {
    this.#parts = parts;
    this.#holder = parts.holder ?? randomUUID();
    this.#notSent = new Alarm(parts.log, "alarm_not_sent", parts.now);
  }

  /**
   * Sends the target what it has not received, unless that is under way or it
   * is too early after a failure. Never rejects.
   */
  notify(look: AlarmCheck): Promise<void> {
    return this.#notifying ??= this.#notify(new Map(look)).catch((error) => {
      this.#notSent.raise({ message: messageOf(error) });
    }).finally(() => {
      this.#notifying = null;
    });
  }

  async #notify(look: AlarmCheck): Promise<void> {
    const { now } = this.#parts;
    if (now() < this.#retryAtMs) return;
    const names: string[] = [];
    for (const [name, standing] of look) {
      if (await this.#due(name, standing) !== null) names.push(name);
    }
    const isAnyGone = (await this.#ofGoneMachines()).length > 0;
    if (names.length === 0 && !isAnyGone) return;
    await this.#inTurn(async () => {
      for (const gone of isAnyGone ? await this.#ofGoneMachines() : []) {
        if (!await this.#send(gone)) return;
      }
      for (const name of names) {
        const goesOn = await this.#sendOne(name, look.get(name) ?? null);
        if (!goesOn) return;
      }
    });
  }

  /**
   * Ends of alarms that other machines raised and report no longer: whoever was
   * to end them is gone.
   */
  async #ofGoneMachines(): Promise<Due[]> {
    const { driver, target, host, now } = this.#parts;
    try {
      const raised = Object.entries(
        await readMachineAlarms(driver, target.name),
      );
      if (raised.length === 0) return [];
      const heard = await readHeard(driver, now());
      return raised.flatMap(([stored, { code, about, since }]) => {
        const end = stored.lastIndexOf(":");
        const of = stored.slice(end + 1);
        if (of === host || heard.has(`${of} ${code}`)) return [];
        const over = found(code, { since, ...about !== null && { about } });
        return [{
          name: stored.slice(0, end),
          stored,
          host: of,
          alarm: { ...over, since },
          clearedAt: new Date(now()).toISOString(),
        }];
      });
    } catch {
      return []; // The ledger cannot be read now.
    }
  }

  /** Does it unless another process sends to this target now. */
  async #inTurn(work: () => Promise<void>): Promise<void> {
    const { driver, target } = this.#parts;
    const wanted = {
      name: `alarms:${target.name}`,
      holder: this.#holder,
      leaseMs: LEASE_MS,
    };
    // A ledger that takes no writes must not keep its own alarm back.
    const lease = await takeLease(driver, wanted).catch(() => null);
    if (lease !== null && "heldBy" in lease) return;
    try {
      await work();
    } finally {
      if (lease !== null) await releaseLease(driver, lease).catch(() => {});
    }
  }

  /** Sends one name, and returns whether the target accepts more. */
  async #sendOne(
    name: string,
    standing: StandingAlarm | null,
  ): Promise<boolean> {
    // Another process may have sent it while this one waited for its turn.
    const due = await this.#due(name, standing, "again");
    return due === null || await this.#send(due);
  }

  /** Sends it, and returns whether the target accepts more. */
  async #send(due: Due): Promise<boolean> {
    const { target, post } = this.#parts;
    if (post?.signal?.aborted) return false;
    try {
      if (await target.isOff?.()) return false;
    } catch {
      // A ledger that cannot be read must not keep its own alarm back.
    }
    const outcome = await this.#post(due);
    if (outcome === null) return false;
    if (outcome.kind !== "taken") {
      this.#failed(outcome);
      return false;
    }
    this.#failures = 0;
    this.#notSent.clear({ target: target.shown });
    await this.#remember(due);
    return true;
  }

  /** What to send the target about a name now; null when it knows. */
  async #due(
    name: string,
    standing: StandingAlarm | null,
    reads: "again" | "once" = "once",
  ): Promise<Due | null> {
    const { now } = this.#parts;
    const notified = await this.#read(name, standing, reads);
    if (standing !== null) {
      this.#cleared.delete(name);
      if (notified?.state === "raised" && notified.code === standing.code) {
        return null;
      }
      const isSoon =
        (notified?.state === "cleared" && this.#isLately(notified.at)) ||
        this.#isLately(this.#raisedAt.get(`${name} ${standing.code}`));
      return isSoon
        ? null
        : { name, ...this.#placeOf(name), alarm: standing, clearedAt: null };
    }
    if (notified?.state !== "raised") return null;
    const clearedAt = this.#cleared.get(name) ?? new Date(now()).toISOString();
    this.#cleared.set(name, clearedAt);
    const { code, since, about } = notified;
    const over = found(code, { since, ...about !== null && { about } });
    const alarm = { ...over, since };
    return { name, ...this.#placeOf(name), alarm, clearedAt };
  }

  /**
   * A stored time in the future, after a clock was set back, does not count.
   */
  #isLately(at: string | undefined): boolean {
    if (at === undefined) return false;
    const agoMs = this.#parts.now() - Date.parse(at);
    return agoMs >= 0 && agoMs < AGAIN_MS;
  }

  /** What the target received, from this process or from another. */
  async #read(
    alarm: string,
    standing: StandingAlarm | null,
    reads: "again" | "once",
  ): Promise<NotifiedAlarm | null> {
    const { driver, target } = this.#parts;
    const known = this.#notified.get(alarm) ?? null;
    const isKnown = reads === "once" && known !== null &&
      (known.state === "raised") === (standing !== null) &&
      (standing === null || known.code === standing.code);
    if (isKnown) return known;
    const name = { target: target.name, alarm: this.#placeOf(alarm).stored };
    try {
      const stored = await readNotified(driver, name);
      const latest = stored !== null && (known?.at ?? "") < stored.at
        ? stored
        : known;
      // Without an alarm and without a row there is nothing to ask again.
      if (latest !== null) this.#notified.set(alarm, latest);
      return latest;
    } catch {
      return known;
    }
  }

  async #post(
    { stored, host, alarm, clearedAt }: Due,
  ): Promise<PostOutcome | null> {
    const { target, environment, now, post } = this.#parts;
    const message = alarmMessage({
      ...{ alarm, name: stored, clearedAt, environment, host },
    });
    try {
      return await postWebhook(target.url, target.write(message, now()), {
        ...post,
        now,
      });
    } catch {
      return null; // The process stops; the next one sends it.
    }
  }

  #failed(outcome: PostOutcome): void {
    const { now, target } = this.#parts;
    this.#failures++;
    const askedMs = outcome.kind === "retry_after" ? outcome.retryAfterMs : 0;
    const pauseMs = Math.max(backoffMs(this.#failures, PAUSES), askedMs);
    this.#retryAtMs = now() + Math.min(pauseMs, LONGEST_PAUSE_MS);
    this.#notSent.raise({
      target: target.shown,
      message: "reason" in outcome ? `The target ${outcome.reason}` : "",
      effect: "It is sent later, if the alarm still stands",
    });
  }

  async #remember(
    { name, stored, host, alarm, clearedAt }: Due,
  ): Promise<void> {
    const { driver, target, now } = this.#parts;
    const { code, about, since } = alarm;
    const notified: NotifiedAlarm = {
      state: clearedAt === null ? "raised" : "cleared",
      code,
      about,
      since,
      at: new Date(now()).toISOString(),
    };
    if (host === null || host === this.#parts.host) {
      this.#notified.set(name, notified);
      this.#cleared.delete(name);
      if (clearedAt === null) {
        this.#raisedAt.set(`${name} ${code}`, notified.at);
      }
    }
    try {
      await writeNotified(
        driver,
        { target: target.name, alarm: stored },
        notified,
      );
      if (host === null) return;
      const { [stored]: _, ...others } = await readMachineAlarms(
        driver,
        target.name,
      );
      const alarms = clearedAt === null
        ? { ...others, [stored]: notified }
        : others;
      await writeMachineAlarms(driver, target.name, alarms, now());
    } catch {
      // A ledger that takes no writes is an alarm itself: a restart repeats it.
    }
  }

  #placeOf(name: string): Pick<Due, "stored" | "host"> {
    const { host } = this.#parts;
    return isLocal(name)
      ? { stored: `${name}:${host}`, host }
      : { stored: name, host: null };
  }
}

/** What is watched, and where alarms are sent. */
interface WatchHealthParts extends Omit<HealthMonitorOptions, "onLook"> {
  /** The log. */
  readonly log: Log;
  /** The metrics. */
  readonly metrics: Pick<ServiceMetrics, "conditions">;
  /**
   * Called when a problem begins and when it is over.
   *
   * @default {it is logged}
   */
  readonly onProblem?: OnProblem;
  /** Targets that alarms are sent to. @default {none} */
  readonly alarms?: Pick<AlarmSenderParts, "post"> & {
    /** Each with its own address. */
    readonly targets: readonly AlarmTarget[];
  };
}

/** Health that is watched. */
export interface WatchedHealth {
  /** Looks now and remembers. */
  readonly monitor: HealthMonitor;
  /**
   * Looks again and again, and reports to log, metrics and each target what is
   * wrong, until the signal is aborted. A target that is slow or fails holds up
   * neither the others nor anything else.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** Watches the health of everything. */
export function watchHealth(parts: WatchHealthParts): WatchedHealth {
  const { ledger, log, metrics, now, alarms } = parts;
  const standing = new StandingAlarms();
  const changes = new ProblemChanges(parts.onProblem ?? problemLog(log));
  let senders: readonly AlarmSender[] = [];
  let sending: Promise<unknown> = Promise.resolve();
  const monitor = new HealthMonitor({
    ...parts,
    onLook: (findings) => {
      metrics.conditions(findings);
      const alarms = standing.take(findings, now());
      changes.take(alarms);
      sending = Promise.all(senders.map((sender) => sender.notify(alarms)));
    },
  });
  return {
    monitor,
    run: async (signal) => {
      senders = alarms?.targets.map((target) =>
        new AlarmSender({
          ...{ target, driver: ledger.driver, host: MACHINE, log, now },
          environment: ledger.environment,
          post: { ...alarms.post, signal },
        })
      ) ?? [];
      await monitor.run(signal);
      await sending;
    },
  };
}

/** Finds in each look what has begun and what is over since the one before. */
export class ProblemChanges {
  readonly #report: OnProblem;
  readonly #raised = new Map<string, StandingAlarm>();

  /** @param report Called with each of them. What it throws is ignored. */
  constructor(report: OnProblem) {
    this.#report = report;
  }

  /** Takes in what stands. */
  take(look: AlarmCheck): void {
    for (const [name, alarm] of look) {
      const before = this.#raised.get(name);
      if (before?.code === alarm?.code) continue;
      if (before !== undefined) {
        this.#raised.delete(name);
        this.#say(problemOver(before));
      }
      if (alarm === null) continue;
      this.#raised.set(name, alarm);
      this.#say(problemOf(alarm));
    }
  }

  #say(problem: Parameters<OnProblem>[0]): void {
    try {
      this.#report(problem);
    } catch {
      // Whoever listens must not stop what watches.
    }
  }
}

/** Writes problems into the log. */
export function problemLog(log: Log): OnProblem {
  return ({ subject, code, about, since, level, message, next, facts }) => {
    const which = { subject, code, about, since };
    if (level === "fine") log("info", "alarm_cleared", which);
    else {
      log("error", "alarm_raised", { ...which, message, advice: next, facts });
    }
  };
}
