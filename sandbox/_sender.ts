import type { SandboxClock } from "./clock.ts";
import type { SandboxCounters } from "./counters.ts";
import type {
  DeliveryAttempt,
  DeliveryState,
  DeliveryStatus,
  SandboxDelivery,
} from "./deliveries.ts";
import type { Dice } from "./_dice.ts";
import { type DisableRule, nextAttemptMs } from "./ladder.ts";
import { Postman } from "./_postman.ts";
import { type Job, type Message, SentLog, snapshot } from "./_sent_log.ts";

/** What the sender needs. */
export interface SenderOptions {
  readonly clock: SandboxClock;
  readonly dice: Dice;
  readonly counters: SandboxCounters;
  readonly fetch: typeof fetch;
  readonly webhookUrl: string | null;
  readonly disableRule: DisableRule;
  /** Oldest deliveries are forgotten beyond this many. */
  readonly logLimit: number;
}

/** Sends webhooks as the service does: ladder, five seconds, switching off. */
export class WebhookSender {
  readonly #clock: SandboxClock;
  readonly #dice: Dice;
  readonly #counters: SandboxCounters;
  readonly #postman: Postman;
  readonly #log: SentLog;
  readonly #timers = new Map<() => void, () => void>();
  readonly #forgeries = new Set<() => void>();
  readonly #waiting = new Set<Job>();
  readonly #heldBack = new Map<string, () => void>();
  readonly #idleWaiters: (() => void)[] = [];
  #inFlight = 0;
  #disabledSinceMs: number | null = null;
  webhookUrl: string | null;
  disableRule: DisableRule;

  constructor(options: SenderOptions) {
    this.#clock = options.clock;
    this.#dice = options.dice;
    this.#counters = options.counters;
    this.#postman = new Postman(options);
    this.#log = new SentLog(options.logLimit);
    this.webhookUrl = options.webhookUrl;
    this.disableRule = options.disableRule;
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
      disableRule: this.disableRule,
    };
  }

  /** Switches delivery on again; what was lost meanwhile stays lost. */
  enable(): void {
    this.#disabledSinceMs = null;
  }

  /** The latest events, all unless told how many, oldest first. */
  log(latest?: number): SandboxDelivery[] {
    return this.#log.latest(latest);
  }

  /** Resolves when nothing is on its way and no retry is due. */
  idle(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Stops for good: no timer and no request is left behind. */
  async close(): Promise<void> {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    for (const cancel of this.#forgeries) cancel();
    this.#forgeries.clear();
    this.#heldBack.clear();
    this.#postman.close();
    for (const job of this.#waiting) this.#end(job, "failed");
    await this.idle();
  }

  /** Sends a webhook; faults decide how well. */
  send(message: Message): void {
    const job = this.#record(message);
    if (!this.#canSend()) return this.#end(job, "notSent");
    if (this.#dice.strikes("drop")) {
      this.#counters.dropped++;
      return this.#end(job, "dropped");
    }
    if (this.#dice.strikes("malformed")) {
      this.#counters.malformed++;
      job.malformed = true;
      const cut = this.#dice.stream("malformed.cut");
      job.body = job.body.slice(0, cut.int(0, job.body.length - 1));
    }
    const held = this.#dice.strikes("reorder");
    const lateMs = this.#dice.strikes("delay")
      ? this.#dice.stream("delay.ms").int(1_000, 600_000)
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

  /** Sends a webhook once, outside the ladder: the Test button, a forger. */
  async sendOnce(message: Message): Promise<SandboxDelivery> {
    const job = this.#record(message);
    if (this.webhookUrl === null || this.#postman.closed) {
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
      if (this.#postman.closed) return;
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
      !this.#postman.closed;
  }

  #holdBack(entity: string, job: Job): void {
    const release = () => {
      if (this.#heldBack.get(entity) !== release) return;
      this.#heldBack.delete(entity);
      void this.#attempt(job);
    };
    this.#heldBack.set(entity, release);
    this.#counters.reordered++;
    // Nothing may follow, so a held event goes out by itself in the end.
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
    if (job.state !== "pending") return;
    if (isReceived(attempt)) {
      this.#end(job, "received");
      this.#maybeCopy(job);
      return;
    }
    this.#counters.failedAttempts++;
    const nowMs = this.#clock.now();
    if (job.failures++ === 0) job.firstFailedMs = nowMs;
    const nextMs = nextAttemptMs(this.disableRule, {
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

  /** Delivery stops: whatever still waited is not sent any more. */
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

  #maybeCopy(job: Job): void {
    if (!this.#dice.strikes("duplicate")) return;
    this.#counters.duplicated++;
    const delayMs = this.#dice.stream("duplicate.ms").int(0, 60_000);
    this.#later(delayMs, () => void this.#post(job, true));
  }

  /** One request, and what the service and the truth say about it. */
  async #post(job: Job, copy: boolean): Promise<DeliveryAttempt> {
    this.#inFlight++;
    job.inFlight = true;
    const atMs = this.#clock.now();
    this.#counters.attempts++;
    const seen = await this.#postman.post(this.webhookUrl ?? "", job.body)
      .finally(() => {
        this.#inFlight--;
        job.inFlight = false;
      });
    const attempt: DeliveryAttempt = {
      atMs,
      tookMs: seen.tookMs,
      status: seen.status,
      copy,
      truth: { reached: seen.reached, answered: seen.answered },
    };
    job.attempts.push(attempt);
    this.#tellIdle();
    return attempt;
  }

  #end(job: Job, state: DeliveryState): void {
    if (state === "received") this.#counters.received++;
    if (state === "notSent") this.#counters.notSent++;
    job.state = state;
    job.nextAttemptMs = null;
    this.#waiting.delete(job);
    this.#tellIdle();
  }

  #later(delayMs: number, run: () => void): void {
    const key = () => {
      this.#timers.delete(key);
      run();
      this.#tellIdle();
    };
    this.#timers.set(key, this.#clock.setTimer(delayMs, key));
  }

  #isIdle(): boolean {
    return this.#inFlight === 0 && this.#waiting.size === 0 &&
      this.#timers.size === 0 && this.#forgeries.size === 0;
  }

  #tellIdle(): void {
    if (!this.#isIdle()) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}

function isReceived(attempt: DeliveryAttempt): boolean {
  return attempt.status >= 200 && attempt.status < 300;
}
