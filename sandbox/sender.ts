import { RETRY_DELAYS_MS, SENDER_TIMEOUT_MS } from "../core/waiting/waiting.ts";
import type { PlainClock, SandboxClock } from "./clock.ts";
import type { FaultInjector } from "./faults.ts";
import {
  type DeliveryAttempt,
  type DeliveryState,
  type DeliveryStatus,
  DISABLE_RULES,
  type DisableRule,
  type SandboxDelivery,
} from "./sandbox.ts";

/** A webhook ready to be sent. */
type Message = Pick<
  SandboxDelivery,
  "cause" | "type" | "orderId" | "userId" | "body"
>;

/** A delivery while it can still change. */
type Job =
  & { -readonly [Name in keyof SandboxDelivery]: SandboxDelivery[Name] }
  & { attempts: DeliveryAttempt[] };

/** Most deliveries kept; beyond them the oldest are dropped. */
const LOG_LIMIT = 100_000;

/**
 * Sends webhooks as the service does: with a retry schedule, five seconds for
 * an answer, and delivery switched off after too many failures.
 */
export class WebhookSender {
  readonly #clock: SandboxClock;
  readonly #injector: FaultInjector;
  readonly #fetch: typeof fetch;
  readonly #log: Job[] = [];
  readonly #closed = new AbortController();
  readonly #work = new Set<Promise<unknown>>();
  /** Ends each wait, and whether it goes on while delivery is off. */
  readonly #waits = new Map<(isDue: boolean) => void, boolean>();
  readonly #pending = new Set<Job>();
  readonly #heldBack = new Map<string, (isDue: boolean) => void>();
  #numbered = 0;
  #disabledSinceMs: number | null = null;
  #disableRule: DisableRule = "ladder_from_previous";
  #webhookUrl: string | null;

  constructor(
    clock: SandboxClock,
    injector: FaultInjector,
    options: {
      readonly fetch?: typeof fetch;
      readonly webhookUrl?: string | null;
      readonly disableRule?: DisableRule;
    },
  ) {
    this.#clock = clock;
    this.#injector = injector;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#webhookUrl = options.webhookUrl ?? null;
    this.setDisableRule(options.disableRule ?? this.#disableRule);
  }

  get status(): DeliveryStatus {
    const isRetrying = [...this.#pending].some((job) => job.attempts.length);
    return {
      state: this.#disabledSinceMs !== null
        ? "disabled"
        : isRetrying
        ? "retrying"
        : "enabled",
      disabledSinceMs: this.#disabledSinceMs,
      webhookUrl: this.#webhookUrl,
      disableRule: this.#disableRule,
    };
  }

  setWebhookUrl(url: string | null): void {
    this.#webhookUrl = url;
  }

  setDisableRule(rule: DisableRule): void {
    if (!DISABLE_RULES.includes(rule)) {
      throw new RangeError(
        `Cannot set disableRule: expected ${DISABLE_RULES.join(", ")}, got ` +
          `"${rule}"`,
      );
    }
    this.#disableRule = rule;
  }

  /** Switches delivery on again. Events missed meanwhile are not sent. */
  enable(): void {
    this.#disabledSinceMs = null;
  }

  /** The latest events, oldest first; all unless `latest` is given. */
  log(latest: number = LOG_LIMIT): SandboxDelivery[] {
    const first = this.#log.length - Math.min(latest, LOG_LIMIT);
    // Copies, which later attempts do not change.
    return this.#log.slice(Math.max(0, first))
      .map((job) => ({ ...job, attempts: [...job.attempts] }));
  }

  /** Resolves when no request is open and no retry is due. */
  async idle(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }

  /** Stops for good: no timer and no request is left. */
  async close(reason: unknown): Promise<void> {
    this.#closed.abort(reason);
    for (const end of this.#waits.keys()) end(false);
    await this.idle();
  }

  /** Sends a webhook with its retries. Faults may drop, cut or delay it. */
  send(message: Message): void {
    const job = this.#record(message);
    const injector = this.#injector;
    if (!this.#canSend()) return this.#end(job, "notSent");
    if (injector.strikes("drop")) return this.#end(job, "dropped");
    if (injector.strikes("malformed")) {
      job.malformed = true;
      const cut = injector.stream("malformed.cut");
      job.body = job.body.slice(0, cut.int(0, job.body.length - 1));
    }
    const entity = message.orderId ?? message.userId ?? "";
    const overtaken = this.#heldBack.get(entity);
    const isHeld = injector.strikes("reorder", !overtaken);
    const lateMs = injector.draws("delay")
      ? injector.stream("delay.ms").int(1_000, 600_000)
      : 0;
    if (lateMs > 0 && !isHeld) injector.counters.delayed++;
    // No other event may follow, so a held one goes out after five minutes.
    const waitMs = isHeld ? 300_000 : lateMs;
    const wait = waitMs > 0 ? this.#wait(waitMs) : null;
    if (isHeld && wait) {
      this.#heldBack.set(entity, wait.end);
      wait.isDue.finally(() => this.#heldBack.delete(entity));
    }
    this.#during(this.#deliver(job, wait?.isDue ?? true));
    if (overtaken) this.#during(this.#wait(1_000).isDue.then(overtaken));
  }

  /** Sends a webhook once, without retries: the Test button, a forged event. */
  sendOnce(message: Message): Promise<SandboxDelivery> {
    const job = this.#record(message);
    return this.#during((async () => {
      if (this.#webhookUrl === null || this.#closed.signal.aborted) {
        this.#end(job, "notSent");
      } else {
        const { status } = await this.#post(job, false);
        this.#end(job, isReceived(status) ? "received" : "failed");
      }
      return { ...job };
    })());
  }

  /** The same, `delayMs` milliseconds from now, whatever becomes of delivery. */
  sendOnceLater(delayMs: number, message: Message): void {
    const { isDue } = this.#wait(delayMs, true);
    this.#during(isDue.then(async (isDue) => {
      if (isDue) await this.sendOnce(message);
    }));
  }

  #record(message: Message): Job {
    const job: Job = {
      ...message,
      number: ++this.#numbered,
      malformed: false,
      happenedMs: this.#clock.now(),
      ...{ state: "pending", attempts: [], nextAttemptMs: null },
    };
    this.#log.push(job);
    // Only now and then, because removing the first rows moves all others.
    if (this.#log.length > 2 * LOG_LIMIT) this.#log.splice(0, LOG_LIMIT);
    this.#pending.add(job);
    return job;
  }

  #canSend(): boolean {
    return this.#webhookUrl !== null && this.#disabledSinceMs === null &&
      !this.#closed.signal.aborted;
  }

  /** Lets an event live: attempt after attempt until one is received. */
  async #deliver(
    job: Job,
    wait: Promise<boolean> | boolean,
  ): Promise<void> {
    const { counters } = this.#injector;
    let isDue = typeof wait === "boolean" ? wait : await wait;
    let firstFailedMs = 0;
    for (let failures = 0;; failures++) {
      job.nextAttemptMs = null;
      if (!isDue || !this.#canSend()) {
        return this.#end(job, failures > 0 ? "failed" : "notSent");
      }
      if (failures > 0) counters.retries++;
      const { status } = await this.#post(job, false);
      if (this.#closed.signal.aborted) return this.#end(job, "failed");
      if (isReceived(status)) {
        this.#end(job, "received");
        if (!this.#injector.strikes("duplicate")) return;
        const delayMs = this.#injector.stream("duplicate.ms").int(0, 60_000);
        if (await this.#wait(delayMs).isDue) await this.#post(job, true);
        return;
      }
      counters.failedAttempts++;
      const rule = this.#disableRule;
      const nowMs = this.#clock.now();
      const delayMs = RETRY_DELAYS_MS[failures];
      if (failures === 0) firstFailedMs = nowMs;
      if (rule === "first_failure" || delayMs === undefined) {
        this.#end(job, "failed");
        return this.#disable();
      }
      if (!this.#canSend()) return this.#end(job, "failed");
      const fromMs = rule === "ladder_from_first" ? firstFailedMs : nowMs;
      job.nextAttemptMs = fromMs + delayMs;
      isDue = await this.#wait(job.nextAttemptMs - nowMs).isDue;
    }
  }

  /** Switches delivery off. Events that wait are not sent any more. */
  #disable(): void {
    if (this.#disabledSinceMs !== null) return;
    this.#disabledSinceMs = this.#clock.now();
    this.#injector.counters.disabled++;
    for (const [end, goesOn] of this.#waits) if (!goesOn) end(false);
  }

  /** Sends one request, and records the attempt. */
  async #post(job: Job, copy: boolean): Promise<DeliveryAttempt> {
    const atMs = this.#clock.now();
    this.#injector.counters.attempts++;
    const seen = await this.#overTheNetwork(job.body);
    const attempt: DeliveryAttempt = { atMs, copy, ...seen };
    job.attempts.push(attempt);
    return attempt;
  }

  /** Posts a body to the endpoint, over a network that may lose it. */
  async #overTheNetwork(
    body: string,
  ): Promise<Pick<DeliveryAttempt, "status" | "tookMs" | "truth">> {
    const { counters } = this.#injector;
    if (
      this.#injector.draws("requestLost") ||
      this.#injector.endpointDown(this.#clock.now())
    ) {
      counters.requestsLost++;
      const truth = { reached: false, answered: null };
      return { status: 0, tookMs: 0, truth };
    }
    const wire = this.#clock.wire ?? this.#clock;
    const startMs = wire.now();
    const requested = this.#request(body, wire);
    const answered =
      await (this.#clock.wire ? this.#clock.work(requested) : requested);
    const tookMs = Math.max(0, Math.round(wire.now() - startMs));
    const truth = { reached: true, answered };
    if (answered === null || tookMs > SENDER_TIMEOUT_MS) {
      if (tookMs >= SENDER_TIMEOUT_MS) counters.timeouts++;
      return { status: 0, tookMs, truth };
    }
    const isLost = this.#injector.strikes("answerLost", isReceived(answered));
    return { status: isLost ? 0 : answered, tookMs, truth };
  }

  /** Status of the answer, or null when none came within the time. */
  #request(
    body: string,
    wire: PlainClock,
  ): Promise<number | null> {
    const { promise, resolve } = Promise.withResolvers<number | null>();
    const stop = new AbortController();
    const end = (reason: unknown) => {
      stop.abort(reason);
      resolve(null);
    };
    const { signal } = this.#closed;
    const onClose = () => end(signal.reason);
    signal.addEventListener("abort", onClose, { once: true });
    // Exactly five seconds is still within five seconds.
    const cancel = wire.setTimer(
      SENDER_TIMEOUT_MS + 1,
      () => end(new DOMException("No answer in 5 seconds", "TimeoutError")),
    );
    Promise.resolve().then(() =>
      this.#fetch(this.#webhookUrl ?? "", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        redirect: "manual",
        signal: stop.signal,
      })
    ).then(async (response) => {
      await response.body?.cancel();
      return response.status;
    }).then(resolve, () => resolve(null));
    return promise.finally(() => {
      cancel();
      signal.removeEventListener("abort", onClose);
    });
  }

  #end(job: Job, state: DeliveryState): void {
    if (state === "received" || state === "notSent") {
      this.#injector.counters[state]++;
    }
    job.state = state;
    job.nextAttemptMs = null;
    this.#pending.delete(job);
  }

  /** A wait on the clock: whether its time came, or it was ended before. */
  #wait(delayMs: number, goesOn = false) {
    const { promise: isDue, resolve } = Promise.withResolvers<boolean>();
    const end = (isDue: boolean) => {
      this.#waits.delete(end);
      cancel();
      resolve(isDue);
    };
    const cancel = this.#clock.setTimer(delayMs, () => end(true));
    this.#waits.set(end, goesOn);
    return { isDue, end };
  }

  /** Is not idle until this work is done. */
  #during<Result>(work: Promise<Result>): Promise<Result> {
    this.#work.add(work);
    return work.finally(() => this.#work.delete(work));
  }
}

function isReceived(status: number): boolean {
  return status >= 200 && status < 300;
}
