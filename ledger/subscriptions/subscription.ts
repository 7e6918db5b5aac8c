import { messageOf } from "../../core/guards.ts";
import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import type { Statement } from "../store/driver/driver.ts";
import { readCurrentState } from "./current_state.ts";
import { isLostRace } from "../store/retry_lost_races.ts";
import {
  moveSubscription,
  PAGE_ROWS,
  readNextTransitions,
  upsertSubscription,
} from "../store/tables/subscriptions/subscriptions.ts";
import {
  deleteQueuedTransition,
  insertQueuedTransition,
  type QueuedTransition,
  readDueTransitions,
  updateQueuedTransition,
} from "../store/tables/subscriptions/queued_transitions.ts";
import { matcher, patternText } from "./pattern.ts";
import { redeliveryDelayMs } from "./redelivery_delay.ts";
import type { Dispatched, SubscriptionParts } from "./subscription_options.ts";
import type { Transition } from "../projection/transition.ts";

/**
 * Hands transitions to a handler, at least once each and in order within an
 * order or user. The checkpoint moves only after the handler returned. A
 * transition that it fails on is queued and tried again; only later transitions
 * of the same order or user wait for it.
 *
 * Run a name in one process at a time: two processes would both deliver.
 */
export class Subscription implements AsyncDisposable {
  /** Its name. */
  readonly name: string;
  readonly #parts: SubscriptionParts;
  readonly #matches: ReturnType<typeof matcher>;
  readonly #stopped = new AbortController();
  #running: Promise<void> | null = null;
  #dispatching: Promise<unknown> = Promise.resolve();
  #wake: () => void = () => {};
  #woken = false;
  #seq = 0;

  /**
   * Prepares to deliver; {@linkcode Ledger.subscribe} opens it.
   *
   * @param parts The objects it uses.
   * @throws {TypeError} When a pattern is wrong.
   */
  constructor(parts: SubscriptionParts) {
    this.name = parts.name;
    this.#parts = parts;
    this.#matches = matcher(parts.options.on);
  }

  /** Creates the checkpoint when the name is new, and starts delivering. */
  async open(): Promise<void> {
    const { driver, name, now, options } = this.#parts;
    await driver.batch([
      upsertSubscription(name, {
        patterns: [options.on].flat().map(patternText),
        from: options.from ?? "now",
        createdAt: new Date(now()).toISOString(),
      }),
    ], "write");
    if (options.start ?? true) this.#running = this.#run();
  }

  /** Says that there may be something to deliver. */
  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  /**
   * Delivers what there is: queued transitions that are due, then new ones.
   *
   * @throws {LedgerError} When the database fails.
   */
  dispatch(): Promise<Dispatched> {
    const dispatched = this.#dispatching.then(() => this.#dispatch());
    this.#dispatching = dispatched.catch(() => {});
    return dispatched;
  }

  /** Waits for the handler that is being called, and stops. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake();
    await this.#running;
    await this.#dispatching;
  }

  /** Same as {@linkcode Subscription.stop}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #dispatch(): Promise<Dispatched> {
    let delivered = 0;
    let failed = 0;
    for (;;) {
      const queued = await this.#dispatchQueued();
      const next = await this.#dispatchNext();
      const before = delivered + failed;
      delivered += queued.delivered + next.delivered;
      failed += queued.failed + next.failed;
      const idle = delivered + failed === before && !next.more;
      if (idle || this.#stopped.signal.aborted) return { delivered, failed };
    }
  }

  async #dispatchQueued(): Promise<Dispatched> {
    const { driver, name } = this.#parts;
    let delivered = 0;
    let failed = 0;
    for (const queued of await readDueTransitions(driver, name, this.#time())) {
      if (this.#stopped.signal.aborted) break;
      const { transition } = queued;
      const attempts = queued.attempts + 1;
      const error = await this.#deliver(transition, attempts);
      if (error === null) {
        await driver.batch(
          [deleteQueuedTransition(name, transition.seq)],
          "write",
        );
        delivered++;
      } else {
        await driver.batch([
          updateQueuedTransition(
            name,
            queued,
            this.#afterFailure(attempts, error),
          ),
        ], "write");
        failed++;
      }
    }
    return { delivered, failed };
  }

  async #dispatchNext(): Promise<Dispatched & { readonly more: boolean }> {
    const { driver, name } = this.#parts;
    let page = await readNextTransitions(driver, name, "read");
    // A replica may be behind what this process itself has delivered.
    if (page.seq < this.#seq) {
      page = await readNextTransitions(driver, name, "write");
    }
    let { seq } = page;
    this.#seq = seq;
    let [delivered, failed] = [0, 0];
    const move = async (to: number, ...more: readonly Statement[]) => {
      await driver.batch(
        [...moveSubscription(name, seq, to), ...more],
        "write",
      );
      seq = to;
      this.#seq = to;
    };
    for (const transition of page.transitions) {
      if (this.#stopped.signal.aborted) break;
      const entity = `${transition.entity}:${transition.id}`;
      if (!transition.live || !this.#matches(transition)) continue;
      if (page.blocked.has(entity)) {
        const queued = { transition, ...waiting };
        await move(transition.seq, insertQueuedTransition(name, queued));
        continue;
      }
      const error = await this.#deliver(transition, 1);
      if (error === null) {
        await move(transition.seq);
        delivered++;
      } else {
        const queued = { transition, ...this.#afterFailure(1, error) };
        await move(transition.seq, insertQueuedTransition(name, queued));
        page.blocked.add(entity);
        failed++;
      }
    }
    const last = page.transitions.at(-1)?.seq ?? seq;
    if (last > seq && !this.#stopped.signal.aborted) await move(last);
    return { delivered, failed, more: page.transitions.length === PAGE_ROWS };
  }

  /** What the handler failed with; null when it did not. */
  async #deliver(
    transition: Transition,
    attempt: number,
  ): Promise<string | null> {
    const state = await readCurrentState(this.#parts.driver, transition);
    try {
      await this.#parts.handler(transition, {
        attempt,
        signal: this.#stopped.signal,
        state,
        release: state !== null && "release" in state ? state.release : null,
      });
      return null;
    } catch (error) {
      const text = messageOf(error);
      return text.slice(0, 500).toWellFormed().replaceAll("\0", "");
    }
  }

  #afterFailure(
    attempts: number,
    error: string,
  ): Omit<QueuedTransition, "transition"> {
    const { maxAttempts = 10, retryDelayMs = redeliveryDelayMs } =
      this.#parts.options;
    return {
      state: attempts >= maxAttempts ? "dead" : "retrying",
      attempts,
      dueAt: this.#time(retryDelayMs(attempts)),
      error,
    };
  }

  async #run(): Promise<void> {
    const { idleMs = 1000, onError = () => {} } = this.#parts.options;
    while (!this.#stopped.signal.aborted) {
      this.#woken = false;
      try {
        await this.dispatch();
      } catch (error) {
        // A lost race means that another process runs under the same name.
        if (!isLostRace(error)) onError(error);
      }
      await this.#rest(idleMs);
    }
  }

  async #rest(ms: number): Promise<void> {
    if (this.#woken || this.#stopped.signal.aborted) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const { sleep = sleepFor } = this.#parts.options;
    try {
      await sleep(ms, woken.signal);
    } catch (error) {
      if (!woken.signal.aborted) throw error;
    } finally {
      this.#wake = () => {};
    }
  }

  #time(aheadMs = 0): string {
    return new Date(this.#parts.now() + aheadMs).toISOString();
  }
}

const waiting = {
  state: "waiting",
  attempts: 0,
  dueAt: "",
  error: null,
} as const;
