/** A name under which one process at a time tells a handler what is new. */
import { randomUUID } from "node:crypto";
import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import { type Driver, readPrimary } from "../store/driver/driver.ts";
import { isLostRace, retryLostRaces } from "../store/driver/retrying_driver.ts";
import { matcher, patternText } from "../machines/pattern.ts";
import type { Dispatched } from "./subscription_options.ts";
import { transitionOf, TRANSITIONS } from "../projection/log.ts";
import { LeaseTurn, SUBSCRIPTION_LEASE } from "../store/leases.ts";
import {
  type DispatchMemory,
  DispatchRun,
  newMemory,
  type SubscriptionParts,
} from "./dispatch_run.ts";
import { wanting } from "../projection/subscribers.ts";
import { insertPast } from "./outbox.ts";

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
  readonly #matches: ReturnType<typeof matcher>;
  readonly #holder: string;
  readonly #stopped = new AbortController();
  #running: Promise<void> | null = null;
  #dispatching: Promise<unknown> = Promise.resolve();
  #wake: () => void = () => {};
  #woken = false;
  #turn: LeaseTurn | null = null;
  #current: DispatchRun | null = null;
  #memory: DispatchMemory = newMemory();
  #reported: "delivers" | "waits" | null = null;
  /** How long to wait before the next look. */
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
    this.#matches = matcher(parts.options.on);
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
      memory: this.#memory,
    });
    this.#current = run;
    try {
      return await run.run();
    } catch (error) {
      if (isLostRace(error)) {
        turn.abort();
        // Another process has delivered meanwhile, and wrote how far it is.
        this.#memory = newMemory();
      }
      throw error;
    } finally {
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

  #register(): Promise<void> {
    const { driver, name, now, options } = this.#parts;
    return register(driver, name, {
      patterns: [options.on].flat().map(patternText),
      from: options.from ?? "now",
      now: now(),
    });
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

/** What a name takes, and where it begins. */
export interface Registration {
  readonly patterns: readonly string[];
  readonly from: "start" | "now";
  readonly now: number;
}

/**
 * Begins a name where it is new, or changes what it takes: then what it takes no more
 * and was never tried is taken out, and what it takes now and was logged since it had
 * nothing left is put in.
 *
 * The batch moves the row that every step of the fold moves, so that from there on
 * each step knows of it, and none is left out.
 */
export async function register(
  driver: Driver,
  name: string,
  how: Registration,
): Promise<void> {
  const patterns = JSON.stringify(how.patterns);
  const known = await driver.batch([{
    sql: "SELECT 1 FROM subscriptions WHERE name = ? AND patterns = ?",
    args: [name, patterns],
  }], "read");
  if (known[0]?.rows.length === 1) return;
  await retryLostRaces(() => registerAnew(driver, name, { ...how, patterns }));
}

async function registerAnew(
  driver: Driver,
  name: string,
  { patterns, from, now }: Omit<Registration, "patterns"> & {
    readonly patterns: string;
  },
): Promise<void> {
  const [found, last] = await readPrimary(driver, [
    {
      sql: "SELECT seq, patterns FROM subscriptions WHERE name = ?",
      args: [name],
    },
    { sql: "SELECT coalesce(max(seq), 0) FROM log", args: [] },
  ]);
  const before = found?.rows[0];
  if (before?.[1] === patterns) return;
  const lastSeq = Number(last?.rows[0]?.[0]);
  const after = before === undefined
    ? from === "start" ? 0 : lastSeq
    : Number(before[0]);
  const wants = wanting(JSON.parse(patterns));
  // What it took before was told, or is in the outbox.
  const took = before === undefined
    ? () => false
    : wanting(JSON.parse(String(before[1])));
  const past: { seq: number; no: number }[] = [];
  const dropped: number[] = [];
  for await (const { seq, no, live, ...one } of logAfter(driver, after)) {
    if (!live) continue;
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
      args: [name, patterns, Math.floor(now), after],
    },
    {
      sql: `DELETE FROM outbox WHERE name = ? AND state = 'due' AND due_at = 0
        AND attempts = 0 AND seq IN (SELECT value FROM json_each(?))`,
      args: [name, JSON.stringify(dropped)],
    },
    ...insertPast(name, past),
  ], "write");
}

async function* logAfter(
  driver: Driver,
  after: number,
): AsyncGenerator<ReturnType<typeof transitionOf>> {
  for (let seq = after;;) {
    const [found] = await readPrimary(driver, [{
      sql: `SELECT ${TRANSITIONS} WHERE t.seq > ? ORDER BY t.seq LIMIT ?`,
      args: [seq, LOG_ROWS],
    }]);
    const page = found?.rows.map(transitionOf) ?? [];
    yield* page;
    if (page.length < LOG_ROWS) return;
    seq = page.at(-1)?.seq ?? seq;
  }
}
