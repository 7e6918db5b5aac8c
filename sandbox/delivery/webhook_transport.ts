import type { SandboxClock } from "../clocks/clock.ts";
import type { SandboxCounters } from "../engine/counters.ts";
import type { FaultInjector } from "../faults/fault_injector.ts";
import { ANSWER_WITHIN_MS } from "./retry_schedule.ts";

/** Options of {@linkcode WebhookTransport}. */
export interface WebhookTransportOptions {
  readonly clock: SandboxClock;
  readonly injector: FaultInjector;
  readonly counters: SandboxCounters;
  readonly fetch: typeof fetch;
}

/** The result of one request. */
export interface PostResult {
  /** Status of the answer as the service saw it, 0 for none. */
  readonly status: number;
  readonly tookMs: number;
  /** Whether the endpoint got the request. */
  readonly reached: boolean;
  /** Status of the answer as the endpoint gave it. */
  readonly answered: number | null;
}

/** Posts a body to the endpoint, over a network that may lose it. */
export class WebhookTransport {
  readonly #options: WebhookTransportOptions;
  readonly #abort = new AbortController();

  constructor(options: WebhookTransportOptions) {
    this.#options = options;
  }

  /** Whether it was closed. */
  get closed(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Ends open requests, and refuses new ones. */
  close(): void {
    this.#abort.abort(new DOMException("The sandbox is closed", "AbortError"));
  }

  /** Sends one request. */
  async post(url: string, body: string): Promise<PostResult> {
    const { clock, injector, counters } = this.#options;
    const down = injector.endpointDown(clock.now());
    if (injector.strikes("requestLost") || down) {
      counters.requestsLost++;
      return { status: 0, tookMs: 0, reached: false, answered: null };
    }
    const wire = clock.wire ?? clock;
    const startMs = wire.now();
    const requested = this.#request(url, body, wire);
    const answer = await (clock.wire ? clock.work(requested) : requested);
    const tookMs = Math.max(0, Math.round(wire.now() - startMs));
    if (answer === null || tookMs > ANSWER_WITHIN_MS) {
      if (answer !== null || tookMs >= ANSWER_WITHIN_MS) counters.timeouts++;
      return { status: 0, tookMs, reached: true, answered: answer };
    }
    if (injector.strikes("answerLost") && answer >= 200 && answer < 300) {
      counters.answersLost++;
      return { status: 0, tookMs, reached: true, answered: answer };
    }
    return { status: answer, tookMs, reached: true, answered: answer };
  }

  /** Status of the answer, or null when none came within the time. */
  #request(
    url: string,
    body: string,
    wire: SandboxClock,
  ): Promise<number | null> {
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
    Promise.resolve().then(() =>
      this.#options.fetch(url, {
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
      this.#abort.signal.removeEventListener("abort", onClose);
    });
  }
}
