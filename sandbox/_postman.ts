import type { SandboxClock } from "./clock.ts";
import type { SandboxCounters } from "./counters.ts";
import type { Dice } from "./_dice.ts";
import { ANSWER_WITHIN_MS } from "./ladder.ts";

/** What posting needs. */
export interface PostmanOptions {
  readonly clock: SandboxClock;
  readonly dice: Dice;
  readonly counters: SandboxCounters;
  readonly fetch: typeof fetch;
}

/** What one request came to. */
export interface Seen {
  /** Status of the answer as the service saw it, 0 for none. */
  readonly status: number;
  readonly tookMs: number;
  /** Whether the endpoint got the request. */
  readonly reached: boolean;
  /** Status of the answer as the endpoint gave it. */
  readonly answered: number | null;
}

/** Carries one body to the endpoint, over a network that may lose things. */
export class Postman {
  readonly #options: PostmanOptions;
  readonly #abort = new AbortController();

  constructor(options: PostmanOptions) {
    this.#options = options;
  }

  /** Whether nothing is posted any more. */
  get closed(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Ends what is under way, and refuses the rest. */
  close(): void {
    this.#abort.abort(new DOMException("The sandbox is closed", "AbortError"));
  }

  /** One request, and what the service and the truth say about it. */
  async post(url: string, body: string): Promise<Seen> {
    const { clock, dice, counters } = this.#options;
    const down = dice.endpointDown(clock.now());
    if (dice.strikes("requestLost") || down) {
      counters.requestsLost++;
      return { status: 0, tookMs: 0, reached: false, answered: null };
    }
    const wire = clock.wire ?? clock;
    const startMs = wire.now();
    const asked = this.#ask(url, body, wire);
    const answer = await (clock.wire ? clock.work(asked) : asked);
    const tookMs = Math.max(0, Math.round(wire.now() - startMs));
    if (answer === null || tookMs > ANSWER_WITHIN_MS) {
      if (answer !== null || tookMs >= ANSWER_WITHIN_MS) counters.timeouts++;
      return { status: 0, tookMs, reached: true, answered: answer };
    }
    if (dice.strikes("answerLost") && answer >= 200 && answer < 300) {
      counters.answersLost++;
      return { status: 0, tookMs, reached: true, answered: answer };
    }
    return { status: answer, tookMs, reached: true, answered: answer };
  }

  /** Status of the answer, or null when none came within the time. */
  #ask(url: string, body: string, wire: SandboxClock): Promise<number | null> {
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
