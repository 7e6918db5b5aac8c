import type { SandboxClock } from "./clock.ts";
import type { SandboxCounters } from "./counters.ts";
import type {
  DeliveryAttempt,
  DeliveryCause,
  DeliveryState,
  SandboxDelivery,
} from "./deliveries.ts";
import type { Dice } from "./_dice.ts";
import { ANSWER_WITHIN_MS, type DisableRule, nextAttemptMs } from "./ladder.ts";

/** A webhook ready to be sent. */
export interface Message {
  readonly cause: DeliveryCause;
  readonly type: string;
  readonly orderId: string | null;
  readonly userId: string | null;
  readonly body: string;
}

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

/** A delivery while it can still change. */
interface Job extends SandboxDelivery {
  state: DeliveryState;
  body: string;
  malformed: boolean;
  attempts: DeliveryAttempt[];
  nextAttemptMs: number | null;
  failures: number;
  firstFailedMs: number;
  inFlight: boolean;
}

/** Sends webhooks as the service does: ladder, five seconds, switching off. */
export class WebhookSender {
  readonly #clock: SandboxClock;
  readonly #dice: Dice;
  readonly #counters: SandboxCounters;
  readonly #fetch: typeof fetch;
  readonly #logLimit: number;
  readonly #log: Job[] = [];
  readonly #timers = new Map<() => void, () => void>();
  readonly #forgeries = new Set<() => void>();
  readonly #waiting = new Set<Job>();
  readonly #heldBack = new Map<string, () => void>();
  readonly #idleWaiters: (() => void)[] = [];
  readonly #abort = new AbortController();
  #numbered = 0;
  #inFlight = 0;
  #disabledSinceMs: number | null = null;
  webhookUrl: string | null;
  disableRule: DisableRule;

  constructor(options: SenderOptions) {
    this.#clock = options.clock;
    this.#dice = options.dice;
    this.#counters = options.counters;
    this.#fetch = options.fetch;
    this.#logLimit = options.logLimit;
    this.webhookUrl = options.webhookUrl;
    this.disableRule = options.disableRule;
  }

  /** Since when delivery is switched off, or null while it is on. */
  get disabledSinceMs(): number | null {
    return this.#disabledSinceMs;
  }

  /** Whether any event waits for a retry. */
  get retrying(): boolean {
    return [...this.#waiting].some((job) => job.failures > 0);
  }

  /** Switches delivery on again; what was lost meanwhile stays lost. */
  enable(): void {
    this.#disabledSinceMs = null;
  }

  /** The latest events, all unless told how many, oldest first. */
  log(latest: number = this.#log.length): SandboxDelivery[] {
    return this.#log.slice(Math.max(0, this.#log.length - latest))
      .map(snapshot);
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
    this.#abort.abort(new DOMException("The sandbox is closed", "AbortError"));
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
    if (this.webhookUrl === null || this.#abort.signal.aborted) {
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
      if (this.#abort.signal.aborted) return;
      void this.sendOnce(message);
    });
    this.#forgeries.add(cancel);
  }

  #record(message: Message): Job {
    const job: Job = {
      ...message,
      number: ++this.#numbered,
      malformed: false,
      happenedMs: this.#clock.now(),
      state: "pending",
      attempts: [],
      nextAttemptMs: null,
      failures: 0,
      firstFailedMs: 0,
      inFlight: false,
    };
    this.#waiting.add(job);
    this.#log.push(job);
    if (this.#log.length > this.#logLimit) this.#log.shift();
    return job;
  }

  #canSend(): boolean {
    return this.webhookUrl !== null && this.#disabledSinceMs === null &&
      !this.#abort.signal.aborted;
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
    let seen: Seen;
    try {
      seen = await this.#request(job, atMs);
    } finally {
      this.#inFlight--;
      job.inFlight = false;
    }
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

  async #request(job: Job, atMs: number): Promise<Seen> {
    const down = this.#dice.endpointDown(atMs);
    if (this.#dice.strikes("requestLost") || down) {
      this.#counters.requestsLost++;
      return { status: 0, tookMs: 0, reached: false, answered: null };
    }
    const wire = this.#clock.wire ?? this.#clock;
    const startMs = wire.now();
    const asked = this.#ask(job, wire);
    const answer = await (this.#clock.wire ? this.#clock.work(asked) : asked);
    const tookMs = Math.max(0, Math.round(wire.now() - startMs));
    if (answer === null || tookMs > ANSWER_WITHIN_MS) {
      if (answer !== null || tookMs >= ANSWER_WITHIN_MS) {
        this.#counters.timeouts++;
      }
      return { status: 0, tookMs, reached: true, answered: answer };
    }
    if (this.#dice.strikes("answerLost") && answer >= 200 && answer < 300) {
      this.#counters.answersLost++;
      return { status: 0, tookMs, reached: true, answered: answer };
    }
    return { status: answer, tookMs, reached: true, answered: answer };
  }

  /** Status of the answer, or null when none came within the time. */
  #ask(job: Job, wire: SandboxClock): Promise<number | null> {
    const { promise, resolve } = Promise.withResolvers<number | null>();
    const stop = new AbortController();
    const onClose = () => {
      stop.abort(this.#abort.signal.reason);
      resolve(null);
    };
    this.#abort.signal.addEventListener("abort", onClose, { once: true });
    // Exactly five seconds is still within five seconds.
    const cancel = wire.setTimer(ANSWER_WITHIN_MS + 1, () => {
      stop.abort(new DOMException("No answer in 5 seconds", "TimeoutError"));
      resolve(null);
    });
    const url = this.webhookUrl ?? "";
    Promise.resolve().then(() =>
      this.#fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: job.body,
        redirect: "manual",
        signal: stop.signal,
      })
    ).then(async (response) => {
      await response.body?.cancel();
      return response.status;
    }).then(resolve, () => resolve(null));
    return promise.finally(() => {
      cancel();
      this.#abort.signal.removeEventListener("abort", onClose);
    });
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

/** What one request came to. */
interface Seen {
  readonly status: number;
  readonly tookMs: number;
  readonly reached: boolean;
  readonly answered: number | null;
}

function isReceived(attempt: DeliveryAttempt): boolean {
  return attempt.status >= 200 && attempt.status < 300;
}

/** A copy that later attempts do not change. */
function snapshot(job: Job): SandboxDelivery {
  return {
    number: job.number,
    cause: job.cause,
    type: job.type,
    orderId: job.orderId,
    userId: job.userId,
    body: job.body,
    malformed: job.malformed,
    happenedMs: job.happenedMs,
    state: job.state,
    attempts: [...job.attempts],
    nextAttemptMs: job.nextAttemptMs,
  };
}
