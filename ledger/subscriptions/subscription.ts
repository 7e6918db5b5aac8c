/** A name under which one process at a time tells a handler what is new. */
import { randomUUID } from "node:crypto";
import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import { patternText } from "../machines/pattern.ts";
import { transitionOf, TRANSITIONS } from "../projection/log.ts";
import { insertOutbox, wanting } from "../projection/subscribers.ts";
import { readDeciding } from "../store/database.ts";
import type { Driver } from "../store/driver/driver.ts";
import { isLostRace, retryLostRaces } from "../store/driver/retrying_driver.ts";
import { LeaseTurn, SUBSCRIPTION_LEASE } from "../store/leases.ts";
import { Dispatcher } from "./dispatcher.ts";
import type { Dispatched, SubscriptionParts } from "./subscription_options.ts";

/** After a crash of a machine another process delivers this much later, ms. */
const LEASE_MS = 10_000;

/** Interval at which a waiting process checks whether it may deliver, in ms. */
const POLL_INTERVAL_MS = 5000;

/** What is slept at least between two looks, ms. */
const SHORTEST_LOOK_MS = 50;

/** Most transitions of one read of the log. */
const LOG_ROWS = 1000;

/**
 * Hands transitions to a handler, at least once each: in order within an order or
 * user, concurrently across them. What was told is forgotten after the handler
 * returned, a group at a time: after a crash those of the last two groups, 256 and
 * as many as are handed over side by side, are handed over again, in the same order.
 * A database that fails meanwhile makes none be handed over again. A transition that
 * the handler fails on is tried again; only later transitions of the same order or
 * user wait for it, until it is dead. After three failures in a row a success makes
 * all that waits be tried at once.
 *
 * Of several processes that subscribe under one name, one delivers at a time: it
 * holds the lease of the name. The others wait, and one of them takes over when that
 * process stops or ends.
 */
export class Subscription implements AsyncDisposable {
  /** Its name: one process at a time sends to it. */
  readonly name: string;
  readonly #parts: SubscriptionParts;
  readonly #holder: string;
  readonly #stopped = new AbortController();
  #dispatcher: Dispatcher;
  #running: Promise<void> | null = null;
  #dispatching: Promise<unknown> = Promise.resolve();
  /** Aborted when there may be something to do; a new one for each look. */
  #woken = new AbortController();
  #turn: LeaseTurn | null = null;
  #reported: "delivers" | "waits" | null = null;
  /** How long to wait before the next look at the lease. */
  #lookMs = POLL_INTERVAL_MS;

  /**
   * Prepares to deliver; {@linkcode Ledger.subscribe} opens it.
   *
   * @throws {TypeError} When a pattern is wrong.
   * @throws {RangeError} When the concurrency or the lease is.
   */
  constructor(parts: SubscriptionParts) {
    this.name = parts.name;
    this.#parts = parts;
    this.#holder = parts.holder ?? randomUUID();
    this.#dispatcher = new Dispatcher(parts);
    const { concurrency = 1, leaseMs = LEASE_MS } = parts.options;
    for (const [name, value] of Object.entries({ concurrency, leaseMs })) {
      if (!Number.isInteger(value) || value < 1) {
        throw new RangeError(
          `Wrong ${name}: ${value} is not a whole number from 1 on`,
        );
      }
    }
  }

  /** Begins the name where it is new, and starts delivering. */
  async open(): Promise<void> {
    await retryLostRaces(() => register(this.#parts));
    if (this.#parts.options.start ?? true) this.#running = this.#run();
  }

  /** Looks for something to deliver without waiting. */
  wake(): void {
    this.#woken.abort();
    this.#dispatcher.wake();
  }

  /**
   * Delivers what is due. Delivers nothing while another process does.
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
  }

  /** Waits for the handlers that are being called, and stops. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#turn?.abort();
    this.#woken.abort();
    await this.#running;
    await this.#dispatching;
    await this.#leave();
  }

  /** Same as {@linkcode Subscription.stop}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #run(): Promise<void> {
    const { idleMs = 1000, onError = () => {}, sleep = sleepFor } =
      this.#parts.options;
    while (!this.#stopped.signal.aborted) {
      this.#woken = new AbortController();
      let restMs = idleMs;
      let { signal } = this.#woken;
      try {
        const { isWaiting = false } = await this.dispatch();
        // What is new is delivered by the process that holds the lease.
        if (isWaiting) [restMs, signal] = [this.#lookMs, this.#stopped.signal];
      } catch (error) {
        if (!isLostRace(error)) onError(error);
      }
      if (signal.aborted) continue;
      await sleep(restMs, signal).catch((error) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  async #dispatch(): Promise<Dispatched> {
    const nothing = { delivered: 0, failed: 0 };
    if (this.#stopped.signal.aborted) return nothing;
    const turn = await this.#takeTurn();
    if (turn === null) return { ...nothing, isWaiting: true };
    try {
      return await this.#dispatcher.run(turn);
    } catch (error) {
      if (isLostRace(error)) {
        turn.abort();
        // Another process has delivered meanwhile, and wrote how far it is.
        this.#dispatcher = new Dispatcher(this.#parts);
      }
      throw error;
    } finally {
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
      await retryLostRaces(() => register(this.#parts));
    } catch (error) {
      await turn.end();
      throw error;
    }
    this.#turn = turn;
    turn.signal.addEventListener("abort", () => this.#dispatcher.wake());
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

  #report(turn: "delivers" | "waits"): void {
    if (this.#reported === turn) return;
    this.#reported = turn;
    this.#parts.options.onTurn?.(turn);
  }
}

/**
 * Begins a name where it is new, or changes what it takes: then what it takes no more
 * and was never tried is taken out, and what it takes now and was logged since it had
 * nothing left is put in.
 *
 * The batch moves the row that every step of the fold moves, so that from there on
 * each step knows of it, and none is left out.
 */
async function register(
  { driver, name, options: { on, from = "now" }, now }: SubscriptionParts,
): Promise<void> {
  const patterns = JSON.stringify([on].flat().map(patternText));
  const [found, last] = await readDeciding(driver, [
    {
      sql: "SELECT seq, patterns FROM subscriptions WHERE name = ?",
      args: [name],
    },
    { sql: "SELECT coalesce(max(seq), 0) FROM log", args: [] },
  ]);
  const [place, before = null] = found?.[0] ?? [];
  if (before === patterns) return;
  const lastSeq = Number(last?.[0]?.[0]);
  const after = Number(place ?? (from === "start" ? 0 : lastSeq));
  const wants = wanting(JSON.parse(patterns));
  // What it took before was told, or is in the outbox.
  const took = wanting(before === null ? [] : JSON.parse(String(before)));
  const past: { seq: number; no: number }[] = [];
  const dropped: number[] = [];
  for await (const { seq, no, ...one } of liveAfter(driver, after)) {
    if (!wants(one)) dropped.push(seq);
    else if (!took(one)) past.push({ seq, no });
  }
  await driver.batch([
    {
      sql: `UPDATE ledger SET turn = CASE
        WHEN (SELECT coalesce(max(seq), 0) FROM log) = ? THEN turn + 1 END`,
      args: [lastSeq],
      expects: true,
    },
    {
      sql: `INSERT INTO subscriptions (name, patterns, created_at, seq)
        VALUES (?, ?, ?, ?)
        ON CONFLICT (name) DO UPDATE SET patterns = excluded.patterns`,
      args: [name, patterns, Math.floor(now()), after],
    },
    {
      sql: `DELETE FROM outbox WHERE name = ? AND state = 'due' AND due_at = 0
        AND attempts = 0 AND seq IN (SELECT value FROM json_each(?))`,
      args: [name, JSON.stringify(dropped)],
    },
    ...insertOutbox(name, past),
  ], "write");
}

async function* liveAfter(driver: Driver, after: number) {
  for (let seq = after;;) {
    const [rows = []] = await readDeciding(driver, [{
      sql: `SELECT ${TRANSITIONS} WHERE t.seq > ? ORDER BY t.seq LIMIT ?`,
      args: [seq, LOG_ROWS],
    }]);
    const page = rows.map(transitionOf);
    yield* page.filter(({ live }) => live);
    if (page.length < LOG_ROWS) return;
    seq = page.at(-1)?.seq ?? seq;
  }
}
