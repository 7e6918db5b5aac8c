import { randomUUID } from "node:crypto";
import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import { LeaseTurn } from "../lease/lease_turn.ts";
import { isLostRace } from "../store/driver/retrying_driver.ts";
import { SUBSCRIPTION_LEASE } from "../store/tables/leases.ts";
import {
  placeOf,
  selectPlace,
  upsertSubscription,
} from "../store/tables/subscriptions/subscriptions.ts";
import { DispatchRun, type Unwritten } from "./dispatch_run.ts";
import { matcher, patternText } from "./pattern.ts";
import type { Dispatched, SubscriptionParts } from "./subscription_options.ts";

/** After a crash another process delivers this much later, ms. */
const LEASE_MS = 10_000;

/** Interval at which a waiting process checks whether it may deliver, in ms. */
const POLL_INTERVAL_MS = 5000;

/** What is slept at least between two looks, ms. */
const SHORTEST_LOOK_MS = 50;

/**
 * Hands transitions to a handler, at least once each: in order within an order
 * or user, concurrently across them. The checkpoint moves only after the
 * handler returned, once for a group of transitions: after a crash those of the
 * last two groups, 256 and as many as are handed over side by side, are handed
 * over again, in the same order; where one takes long, so are those of others
 * that went past it, 4,096 at most. A database that fails meanwhile makes none
 * be handed over again. A transition that the
 * handler fails on is queued and tried again; only later transitions of the
 * same order or user wait for it, until it is dead.
 *
 * Of several processes that subscribe under one name, one delivers at a time:
 * it holds the lease of the name. The others wait, and one of them takes over
 * when that process stops or ends.
 */
export class Subscription implements AsyncDisposable {
  /** Its name. */
  readonly name: string;
  readonly #parts: SubscriptionParts;
  readonly #matches: ReturnType<typeof matcher>;
  readonly #holder: string;
  readonly #stopped = new AbortController();
  #running: Promise<void> | null = null;
  #dispatching: Promise<unknown> = Promise.resolve();
  #wake: () => void = () => {};
  #woken = false;
  #turn: LeaseTurn | null = null;
  #current: DispatchRun | null = null;
  #revision = 0;
  /** What the last run did and could not write. */
  #unwritten: Unwritten | null = null;
  #reported: "delivers" | "waits" | null = null;
  /** How long to wait before the next look. */
  #lookMs = POLL_INTERVAL_MS;

  /**
   * Prepares to deliver; {@linkcode Ledger.subscribe} opens it.
   *
   * @param parts The objects it uses.
   * @throws {TypeError} When a pattern is wrong.
   * @throws {RangeError} When the concurrency or the lease is.
   */
  constructor(parts: SubscriptionParts) {
    this.name = parts.name;
    this.#parts = parts;
    this.#holder = parts.holder ?? randomUUID();
    this.#matches = matcher(parts.options.on);
    const { concurrency = 1, leaseMs = LEASE_MS } = parts.options;
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw new RangeError(
        `Wrong concurrency: ${concurrency} is not a whole number from 1 on`,
      );
    }
    if (!Number.isInteger(leaseMs) || leaseMs < 1) {
      throw new RangeError(
        `Wrong leaseMs: ${leaseMs} is not a whole number from 1 on`,
      );
    }
  }

  /** Creates the checkpoint when the name is new, and starts delivering. */
  async open(): Promise<void> {
    await this.#register();
    if (this.#parts.options.start ?? true) this.#running = this.#run();
  }

  /** Looks for something to deliver without waiting. */
  wake(): void {
    this.#woken = true;
    this.#current?.wake();
    this.#wake();
  }

  /**
   * Delivers what is due: queued transitions first, then new ones. Delivers
   * nothing while another process does.
   *
   * @throws {LedgerError} When the database fails.
   */
  dispatch(): Promise<Dispatched> {
    const dispatched = this.#dispatching.then(() => this.#dispatch());
    this.#dispatching = dispatched.catch(() => {});
    return dispatched;
  }

  /** Whether no other process can be delivering under this name. */
  get isHolder(): boolean {
    return this.#turn?.isHeld ?? false;
  }

  /** Ends the turn: nothing more is begun until the next look at the lease. */
  endTurn(): void {
    this.#turn?.abort();
    this.#wake();
  }

  /** Waits for the handlers that are being called, and stops. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#turn?.abort();
    this.#wake();
    await this.#running;
    await this.#dispatching;
    await this.#leave();
  }

  /** Same as {@linkcode Subscription.stop}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #dispatch(): Promise<Dispatched> {
    const nothing = { delivered: 0, failed: 0 };
    if (this.#stopped.signal.aborted) return nothing;
    const turn = await this.#takeTurn();
    if (turn === null) return { ...nothing, isWaiting: true };
    const run = new DispatchRun({
      ...this.#parts,
      matches: this.#matches,
      turn,
      revision: this.#revision,
      before: this.#unwritten,
    });
    this.#current = run;
    try {
      return await run.run();
    } catch (error) {
      if (isLostRace(error)) turn.abort();
      throw error;
    } finally {
      this.#unwritten = run.unwritten;
      this.#revision = run.revision;
      this.#current = null;
      if (this.#running === null || turn.signal.aborted) await this.#leave();
    }
  }

  /** The turn that this process has, or takes now; null while it waits. */
  async #takeTurn(): Promise<LeaseTurn | null> {
    if (this.#turn?.signal.aborted) await this.#leave();
    if (this.#turn !== null) return this.#turn;
    const { driver, name, mayBegin, onRenewed, options } = this.#parts;
    this.#lookMs = POLL_INTERVAL_MS;
    if (await mayBegin?.() === false) return null;
    const turn = await LeaseTurn.take({
      driver,
      name: SUBSCRIPTION_LEASE + name,
      holder: this.#holder,
      leaseMs: options.leaseMs ?? LEASE_MS,
      steadyNow: options.steadyNow ?? (() => performance.now()),
      sleep: options.sleep ?? sleepFor,
      onRenewed,
      onError: (error) => options.onError?.(error),
    });
    if (!(turn instanceof LeaseTurn)) {
      this.#report("waits");
      this.#lookMs = Math.max(
        SHORTEST_LOOK_MS,
        Math.min(POLL_INTERVAL_MS, turn.leftMs),
      );
      return null;
    }
    try {
      // Another process may have delivered, with other patterns, meanwhile.
      await this.#register();
    } catch (error) {
      await turn.end();
      throw error;
    }
    this.#turn = turn;
    turn.signal.addEventListener("abort", () => this.#current?.wake());
    if (this.#stopped.signal.aborted) turn.abort();
    this.#report("delivers");
    return turn;
  }

  /** Ends the turn, so that another process need not wait. */
  async #leave(): Promise<void> {
    const turn = this.#turn;
    this.#turn = null;
    await turn?.end();
  }

  /** Stores its patterns, and reads its checkpoint from the primary. */
  async #register(): Promise<void> {
    const { driver, name, now, options } = this.#parts;
    const [, found] = await driver.batch([
      upsertSubscription(name, {
        patterns: [options.on].flat().map(patternText),
        from: options.from ?? "now",
        createdAt: new Date(now()).toISOString(),
      }),
      selectPlace(name),
    ], "write");
    this.#revision = placeOf(found).revision;
  }

  #report(turn: "delivers" | "waits"): void {
    if (this.#reported === turn) return;
    this.#reported = turn;
    this.#parts.options.onTurn?.(turn);
  }

  async #run(): Promise<void> {
    const { idleMs = 1000, onError = () => {} } = this.#parts.options;
    while (!this.#stopped.signal.aborted) {
      this.#woken = false;
      let restMs = idleMs;
      let isWaiting = false;
      try {
        ({ isWaiting = false } = await this.dispatch());
        if (isWaiting) restMs = this.#lookMs;
      } catch (error) {
        if (!isLostRace(error)) onError(error);
      }
      await this.#rest(restMs, isWaiting);
    }
  }

  /** Waits until there may be something to do. */
  async #rest(ms: number, isWaiting: boolean): Promise<void> {
    if (this.#stopped.signal.aborted || (this.#woken && !isWaiting)) return;
    const woken = new AbortController();
    // What is new is delivered by the process that holds the lease.
    this.#wake = () => {
      if (!isWaiting || this.#stopped.signal.aborted) woken.abort();
    };
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
