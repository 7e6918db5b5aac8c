import { setTimeout as wait } from "node:timers/promises";
import type { Statement } from "../store/driver.ts";
import { LedgerError } from "../store/errors.ts";
import { moveSubscription, pageRows, readFresh } from "./fresh_transitions.ts";
import {
  deleteLetter,
  insertLetter,
  type Letter,
  readDueLetters,
  updateLetter,
} from "./letters.ts";
import { matcher } from "./pattern.ts";
import { retryDelayMs } from "./retry_delay.ts";
import type { Pumped, SubscriptionParts } from "./subscription_options.ts";
import type { Transition } from "./transition.ts";

export type {
  Pumped,
  SubscribeOptions,
  SubscriptionParts,
  TransitionHandler,
} from "./subscription_options.ts";

/**
 * Hands transitions to a handler, at least once each and in order within an
 * entity. The checkpoint moves only after the handler returned; what it fails
 * on is kept as a letter and tried again, and only later transitions of the
 * same entity wait behind it.
 *
 * Run a name in one process at a time: two would both deliver.
 */
export class Subscription implements AsyncDisposable {
  /** Its name. */
  readonly name: string;
  readonly #parts: SubscriptionParts;
  readonly #matches: ReturnType<typeof matcher>;
  readonly #stopped = new AbortController();
  #running: Promise<void> | null = null;
  #pumping: Promise<unknown> = Promise.resolve();
  #wake: () => void = () => {};
  #woken = false;
  #seq = 0;

  /**
   * Prepares to deliver; {@linkcode Ledger.subscribe} opens it.
   *
   * @param parts What it works with.
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
    await driver.batch([{
      sql: `INSERT INTO subscriptions (name, patterns, seq, created_at)
        SELECT ?1, ?2, CASE WHEN ?3 = 'start' THEN 0
          ELSE coalesce((SELECT max(seq) FROM transitions), 0) END, ?4
        WHERE true ON CONFLICT (name) DO UPDATE SET patterns = excluded.patterns`,
      args: [
        name,
        JSON.stringify([options.on].flat()),
        options.from ?? "now",
        new Date(now()).toISOString(),
      ],
    }], "write");
    if (options.start ?? true) this.#running = this.#run();
  }

  /** Says that there may be something to deliver. */
  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  /**
   * Delivers what there is: letters that are due, then new transitions.
   *
   * @throws {LedgerError} When the database fails.
   */
  pump(): Promise<Pumped> {
    const pumped = this.#pumping.then(() => this.#pump());
    this.#pumping = pumped.catch(() => {});
    return pumped;
  }

  /** Waits for the handler that is being called, and stops. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake();
    await this.#running;
    await this.#pumping;
  }

  /** Same as {@linkcode Subscription.stop}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #pump(): Promise<Pumped> {
    let delivered = 0;
    let failed = 0;
    for (;;) {
      const letters = await this.#pumpLetters();
      const fresh = await this.#pumpFresh();
      const before = delivered + failed;
      delivered += letters.delivered + fresh.delivered;
      failed += letters.failed + fresh.failed;
      const idle = delivered + failed === before && !fresh.more;
      if (idle || this.#stopped.signal.aborted) return { delivered, failed };
    }
  }

  async #pumpLetters(): Promise<Pumped> {
    const { driver, name } = this.#parts;
    let delivered = 0;
    let failed = 0;
    for (const letter of await readDueLetters(driver, name, this.#time())) {
      if (this.#stopped.signal.aborted) break;
      const { transition } = letter;
      const attempts = letter.attempts + 1;
      const error = await this.#deliver(transition, attempts);
      if (error === null) {
        await driver.batch([deleteLetter(name, transition.seq)], "write");
        delivered++;
      } else {
        await driver.batch([
          updateLetter(name, letter, this.#afterFailure(attempts, error)),
        ], "write");
        failed++;
      }
    }
    return { delivered, failed };
  }

  async #pumpFresh(): Promise<Pumped & { readonly more: boolean }> {
    const { driver, name } = this.#parts;
    let page = await readFresh(driver, name, "read");
    // A replica may be behind what this process itself has delivered.
    if (page.seq < this.#seq) page = await readFresh(driver, name, "write");
    let { seq } = page;
    this.#seq = seq;
    let [delivered, failed] = [0, 0];
    const move = async (to: number, ...more: readonly Statement[]) => {
      await driver.batch([moveSubscription(name, seq, to), ...more], "write");
      seq = to;
      this.#seq = to;
    };
    for (const transition of page.transitions) {
      if (this.#stopped.signal.aborted) break;
      const entity = `${transition.entity}:${transition.id}`;
      if (!transition.live || !this.#matches(transition)) continue;
      if (page.blocked.has(entity)) {
        const letter = { transition, ...waiting };
        await move(transition.seq, insertLetter(name, letter));
        continue;
      }
      const error = await this.#deliver(transition, 1);
      if (error === null) {
        await move(transition.seq);
        delivered++;
      } else {
        const letter = { transition, ...this.#afterFailure(1, error) };
        await move(transition.seq, insertLetter(name, letter));
        page.blocked.add(entity);
        failed++;
      }
    }
    const last = page.transitions.at(-1)?.seq ?? seq;
    if (last > seq && !this.#stopped.signal.aborted) await move(last);
    return { delivered, failed, more: page.transitions.length === pageRows };
  }

  /** What the handler failed with; null when it did not. */
  async #deliver(
    transition: Transition,
    attempt: number,
  ): Promise<string | null> {
    try {
      await this.#parts.handler(transition, {
        attempt,
        signal: this.#stopped.signal,
      });
      return null;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return text.slice(0, 500).toWellFormed().replaceAll("\0", "");
    }
  }

  #afterFailure(attempts: number, error: string): Omit<Letter, "transition"> {
    const { maxAttempts = 10, retryDelayMs: delayMs = retryDelayMs } =
      this.#parts.options;
    return {
      state: attempts >= maxAttempts ? "dead" : "retrying",
      attempts,
      dueAt: this.#time(delayMs(attempts)),
      error,
    };
  }

  async #run(): Promise<void> {
    const { idleMs = 1000, onError = () => {} } = this.#parts.options;
    while (!this.#stopped.signal.aborted) {
      this.#woken = false;
      try {
        await this.pump();
      } catch (error) {
        // A lost race means that another process runs under the same name.
        if (!(error instanceof LedgerError && error.code === "constraint")) {
          onError(error);
        }
      }
      await this.#rest(idleMs);
    }
  }

  async #rest(ms: number): Promise<void> {
    if (this.#woken || this.#stopped.signal.aborted) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const sleep = this.#parts.options.sleep ?? sleepMs;
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

async function sleepMs(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal });
}
