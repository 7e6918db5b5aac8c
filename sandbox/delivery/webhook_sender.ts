import type { SandboxClock } from "../clocks/clock.ts";
import type { SandboxCounters } from "../engine/counters.ts";
import {
  type DeliveryAttempt,
  DeliveryLog,
  type DeliveryState,
  type DeliveryStatus,
  type Job,
  type Message,
  type SandboxDelivery,
  snapshot,
} from "./delivery_log.ts";
import type { FaultInjector } from "../faults/fault_injector.ts";
import {
  checkDisableRule,
  type DisableRule,
  nextAttemptMs,
} from "./retry_schedule.ts";
import { WebhookTransport } from "./webhook_transport.ts";

/** Options of {@linkcode WebhookSender}. */
export interface WebhookSenderOptions {
  readonly clock: SandboxClock;
  readonly injector: FaultInjector;
  readonly counters: SandboxCounters;
  readonly fetch: typeof fetch;
  readonly webhookUrl: string | null;
  readonly disableRule: DisableRule;
  /** Most deliveries kept in the log; beyond them the oldest are dropped. */
  readonly logLimit: number;
}

/**
 * Sends webhooks as the service does: with a retry schedule, five seconds for
 * an answer, and delivery switched off after too many failures.
 */
export class WebhookSender {
  readonly #clock: SandboxClock;
  readonly #injector: FaultInjector;
  readonly #counters: SandboxCounters;
  readonly #transport: WebhookTransport;
  readonly #log: DeliveryLog;
  readonly #timers = new Map<() => void, () => void>();
  readonly #forgeries = new Set<() => void>();
  readonly #waiting = new Set<Job>();
  readonly #heldBack = new Map<string, () => void>();
  readonly #idleWaiters: (() => void)[] = [];
  #inFlight = 0;
  #disabledSinceMs: number | null = null;
  #disableRule: DisableRule;
  webhookUrl: string | null;

  constructor(options: WebhookSenderOptions) {
    this.#clock = options.clock;
    this.#injector = options.injector;
    this.#counters = options.counters;
    this.#transport = new WebhookTransport(options);
    this.#log = new DeliveryLog(options.logLimit);
    this.webhookUrl = options.webhookUrl;
    this.#disableRule = options.disableRule;
  }

  /** Whether webhooks are being delivered. */
  get status(): DeliveryStatus {
    const retrying = [...this.#waiting].some((job) => job.failures > 0);
    return {
      state: this.#disabledSinceMs !== null
        ? "disabled"
        : retrying
        ? "retrying"
        : "enabled",
      disabledSinceMs: this.#disabledSinceMs,
      webhookUrl: this.webhookUrl,
      disableRule: this.#disableRule,
    };
  }

  /** Sets how failures are retried and when delivery is switched off. */
  setDisableRule(rule: DisableRule): void {
    checkDisableRule(rule);
    this.#disableRule = rule;
  }

  /** Switches delivery on again. Events missed meanwhile are not sent. */
  enable(): void {
    this.#disabledSinceMs = null;
  }

  /** The latest events, oldest first; all unless `latest` is given. */
  log(latest?: number): SandboxDelivery[] {
    return this.#log.latest(latest);
  }

  /** Resolves when no request is open and no retry is due. */
  idle(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Stops for good: no timer and no request is left. */
  async close(): Promise<void> {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    for (const cancel of this.#forgeries) cancel();
    this.#forgeries.clear();
    this.#heldBack.clear();
    this.#transport.close();
    for (const job of this.#waiting) this.#end(job, "failed");
    await this.idle();
  }

  /** Sends a webhook with its retries. Faults may drop, cut or delay it. */
  send(message: Message): void {
    const job = this.#record(message);
    if (!this.#canSend()) return this.#end(job, "notSent");
    if (this.#injector.strikes("drop")) {
      this.#counters.dropped++;
      return this.#end(job, "dropped");
    }
    if (this.#injector.strikes("malformed")) {
      this.#counters.malformed++;
      job.malformed = true;
      const cut = this.#injector.stream("malformed.cut");
      job.body = job.body.slice(0, cut.int(0, job.body.length - 1));
    }
    const held = this.#injector.strikes("reorder");
    const lateMs = this.#injector.strikes("delay")
      ? this.#injector.stream("delay.ms").int(1_000, 600_000)
      : 0;
    const entity = message.orderId ?? message.userId ?? "";
    const overtaken = this.#heldBack.get(entity);
    if (held && !overtaken) return this.#holdBack(entity, job);
    if (lateMs > 0) {
      this.#counters.delayed++;
      this.#later(lateMs, () => void this.#attempt(job));
    } else {
      void this.#attempt(job);
    }
    if (overtaken) this.#later(1_000, overtaken);
  }

  /** Sends a webhook once, without retries: the Test button, a forged event. */
  async sendOnce(message: Message): Promise<SandboxDelivery> {
    const job = this.#record(message);
    if (this.webhookUrl === null || this.#transport.closed) {
      this.#end(job, "notSent");
    } else {
      const attempt = await this.#post(job, false);
      this.#end(job, isReceived(attempt) ? "received" : "failed");
    }
    return snapshot(job);
  }

  /** The same, `delayMs` milliseconds from now. */
  sendOnceLater(delayMs: number, message: Message): void {
    const cancel = this.#clock.setTimer(delayMs, () => {
      this.#forgeries.delete(cancel);
      if (this.#transport.closed) return;
      void this.sendOnce(message);
    });
    this.#forgeries.add(cancel);
  }

  #record(message: Message): Job {
    const job = this.#log.add(message, this.#clock.now());
    this.#waiting.add(job);
    return job;
  }

  #canSend(): boolean {
    return this.webhookUrl !== null && this.#disabledSinceMs === null &&
      !this.#transport.closed;
  }

  #holdBack(entity: string, job: Job): void {
    const release = () => {
      if (this.#heldBack.get(entity) !== release) return;
      this.#heldBack.delete(entity);
      void this.#attempt(job);
    };
    this.#heldBack.set(entity, release);
    this.#counters.reordered++;
    // No other event may follow, so the held one goes out after five minutes.
    this.#later(300_000, release);
  }

  async #attempt(job: Job): Promise<void> {
    job.nextAttemptMs = null;
    if (job.state !== "pending") return;
    if (!this.#canSend()) {
      return this.#end(job, job.attempts.length > 0 ? "failed" : "notSent");
    }
    if (job.failures > 0) this.#counters.retries++;
    const attempt = await this.#post(job, false);
    job.inFlight = false;
    if (job.state !== "pending") return;
    if (isReceived(attempt)) {
      this.#end(job, "received");
      this.#duplicateByFault(job);
      return;
    }
    this.#counters.failedAttempts++;
    const nowMs = this.#clock.now();
    if (job.failures++ === 0) job.firstFailedMs = nowMs;
    const nextMs = nextAttemptMs(this.#disableRule, {
      failures: job.failures,
      firstMs: job.firstFailedMs,
      latestMs: nowMs,
    });
    if (nextMs === null) {
      this.#end(job, "failed");
      return this.#disable();
    }
    if (!this.#canSend()) return this.#end(job, "failed");
    job.nextAttemptMs = nextMs;
    this.#later(nextMs - nowMs, () => void this.#attempt(job));
  }

  /** Switches delivery off. Events that wait are not sent any more. */
  #disable(): void {
    if (this.#disabledSinceMs !== null) return;
    this.#disabledSinceMs = this.#clock.now();
    this.#counters.disabled++;
    for (const [key, cancel] of this.#timers) {
      cancel();
      this.#timers.delete(key);
    }
    this.#heldBack.clear();
    for (const job of [...this.#waiting]) {
      if (job.inFlight) continue;
      this.#end(job, job.attempts.length > 0 ? "failed" : "notSent");
    }
  }

  #duplicateByFault(job: Job): void {
    if (!this.#injector.strikes("duplicate")) return;
    this.#counters.duplicated++;
    const delayMs = this.#injector.stream("duplicate.ms").int(0, 60_000);
    this.#later(delayMs, () => void this.#post(job, true));
  }

  /**
   * Sends one request, and records the attempt. The job stays in flight until
   * the caller has looked at it: delivery may be switched off before.
   */
  async #post(job: Job, copy: boolean): Promise<DeliveryAttempt> {
    this.#inFlight++;
    job.inFlight = true;
    const atMs = this.#clock.now();
    this.#counters.attempts++;
    const seen = await this.#transport.post(this.webhookUrl ?? "", job.body)
      .finally(() => this.#inFlight--);
    const attempt: DeliveryAttempt = {
      atMs,
      tookMs: seen.tookMs,
      status: seen.status,
      copy,
      truth: { reached: seen.reached, answered: seen.answered },
    };
    job.attempts.push(attempt);
    this.#resolveIdle();
    return attempt;
  }

  #end(job: Job, state: DeliveryState): void {
    if (state === "received") this.#counters.received++;
    if (state === "notSent") this.#counters.notSent++;
    job.state = state;
    job.nextAttemptMs = null;
    this.#waiting.delete(job);
    this.#resolveIdle();
  }

  #later(delayMs: number, run: () => void): void {
    const key = () => {
      this.#timers.delete(key);
      run();
      this.#resolveIdle();
    };
    this.#timers.set(key, this.#clock.setTimer(delayMs, key));
  }

  #isIdle(): boolean {
    return this.#inFlight === 0 && this.#waiting.size === 0 &&
      this.#timers.size === 0 && this.#forgeries.size === 0;
  }

  #resolveIdle(): void {
    if (!this.#isIdle()) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}

function isReceived(attempt: DeliveryAttempt): boolean {
  return attempt.status >= 200 && attempt.status < 300;
}
