import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import { isLostRace } from "../store/retry_lost_races.ts";
import { upsertSubscription } from "../store/tables/subscriptions/subscriptions.ts";
import { DispatchRun } from "./dispatch_run.ts";
import { matcher, patternText } from "./pattern.ts";
import type { Dispatched, SubscriptionParts } from "./subscription_options.ts";

/**
 * Hands transitions to a handler, at least once each and in order within an
 * order or user, side by side across them. The checkpoint moves only after the
 * handler returned, once for a group of transitions: after a crash those of the
 * last group are handed over again, in the same order. A transition that the
 * handler fails on is queued and tried again; only later transitions of the
 * same order or user wait for it, until it is dead.
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
  #current: DispatchRun | null = null;
  #revision = 0;

  /**
   * Prepares to deliver; {@linkcode Ledger.subscribe} opens it.
   *
   * @param parts The objects it uses.
   * @throws {TypeError} When a pattern is wrong.
   * @throws {RangeError} When the concurrency is.
   */
  constructor(parts: SubscriptionParts) {
    this.name = parts.name;
    this.#parts = parts;
    this.#matches = matcher(parts.options.on);
    const { concurrency = 1 } = parts.options;
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw new RangeError(
        `Wrong concurrency: ${concurrency} is not a whole number from 1 on`,
      );
    }
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
    this.#current?.wake();
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

  /** Waits for the handlers that are being called, and stops. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#current?.wake();
    this.#wake();
    await this.#running;
    await this.#dispatching;
  }

  /** Same as {@linkcode Subscription.stop}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #dispatch(): Promise<Dispatched> {
    if (this.#stopped.signal.aborted) return { delivered: 0, failed: 0 };
    const run = new DispatchRun({
      ...this.#parts,
      matches: this.#matches,
      signal: this.#stopped.signal,
      revision: this.#revision,
    });
    this.#current = run;
    try {
      return await run.run();
    } finally {
      this.#revision = run.revision;
      this.#current = null;
    }
  }

  async #run(): Promise<void> {
    const { idleMs = 1000, onError = () => {} } = this.#parts.options;
    while (!this.#stopped.signal.aborted) {
      this.#woken = false;
      try {
        await this.dispatch();
      } catch (error) {
        // A lost race means that another process runs under the same name.
        if (isLostRace(error)) this.#parts.onLostRace?.();
        else onError(error);
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
}
