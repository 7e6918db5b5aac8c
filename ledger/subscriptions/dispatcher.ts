/** Tells what an outbox holds: side by side across entities, in order within each. */
import { randomUUID } from "node:crypto";
import { backoffMs, sleep as sleepFor } from "../../core/waiting/waiting.ts";
import { patternText } from "../machines/pattern.ts";
import {
  insertOutbox,
  shownOf,
  transitionOf,
  TRANSITIONS,
  wanting,
} from "../projection/log.ts";
import {
  type Driver,
  isLostRace,
  lostRace,
  readDeciding,
  retryLostRaces,
  type Statement,
} from "../store/database.ts";
import { LeaseTurn, SUBSCRIPTION_LEASE } from "../store/leases.ts";
import {
  type Dispatched,
  type Ended,
  hasten,
  isCurrent,
  movePlace,
  type OutboxRow,
  readDue,
  releaseGate,
  settle,
  type SubscriptionParts,
} from "./outbox.ts";
import { messageOf } from "../../core/guards.ts";

/** After a crash of a machine another process delivers this much later, ms. */
const LEASE_MS = 10_000;

/** Interval at which a waiting process checks whether it may deliver, in ms. */
const LOOK_INTERVAL_MS = 5000;

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
  #lookMs = LOOK_INTERVAL_MS;

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
    this.#lookMs = LOOK_INTERVAL_MS;
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
        Math.min(LOOK_INTERVAL_MS, turn.leftMs),
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

/** No wait before another attempt is longer, unless stated otherwise, ms. */
const LONGEST_DELAY_MS = 31 * 24 * 3_600_000;
/** So many that are new are begun at once, and as many that are tried again. */
const ROWS = 256;
/** So many deliveries are written together, unless they take long. */
const GROUP = 128;
/** While so many are not written none is begun: a crash makes them again. */
const UNWRITTEN = 2 * GROUP;
/** Deliveries that have ended wait no longer than this for others, ms. */
const GROUP_MS = 200;
/** Polling interval while no delivery ends, ms. */
const POLL_INTERVAL_MS = 1000;
/** After so many failures in a row a success says that the receiver is back. */
const DOWN_AFTER = 3;
/** How often it is written that there was nothing to tell, ms. */
const PLACE_EVERY_MS = 60_000;
/** What always fails must not be tried with every success of others, ms. */
const HASTEN_EVERY_MS = 60_000;

const isAgain = ({ attempts }: OutboxRow) => attempts > 0;

/**
 * Tells what there is until nothing is left. How it went is written in groups: after
 * a crash those of the last two groups are told again, in the same order. What could
 * not be written is kept for the next run, and not told again.
 */
class Dispatcher {
  readonly #parts: SubscriptionParts;
  readonly #pass: ReturnType<typeof releaseGate>;
  #turn: LeaseTurn | null = null;
  /** What of each order or user is begun or ready, and what follows it there. */
  readonly #lanes = new Map<number, OutboxRow[]>();
  /** Firsts of their lanes that may begin, and those that failed before. */
  #ready = { first: [] as OutboxRow[], again: [] as OutboxRow[] };
  /** By place in the log: what is in a lane. */
  readonly #open = new Map<number, OutboxRow>();
  /** By place in the log: ended, and not written. */
  readonly #ended = new Map<number, Ended>();
  readonly #running = new Set<Promise<void>>();
  #runningAgain = 0;
  #wasAgain = false;
  #counts = { delivered: 0, failed: 0 };
  readonly #problems: unknown[] = [];
  #wake: () => void = () => {};
  /** Failures since the last success. */
  #failures = 0;
  #isBack = false;
  #hastenedAt = -Infinity;
  #placedAt = -Infinity;

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
    this.#pass = releaseGate(parts, () => this.#guard());
  }

  /** Says that there may be more to tell, or that it is to stop. */
  wake(): void {
    this.#wake();
  }

  /**
   * Tells until nothing is left, or the turn is over.
   *
   * @throws {LedgerError} When the database fails.
   */
  async run(turn: LeaseTurn): Promise<Dispatched> {
    this.#turn = turn;
    this.#problems.length = 0;
    this.#counts = { delivered: 0, failed: 0 };
    const fail = (error: unknown) => void this.#problems.push(error);
    await this.#tellAll().catch(fail);
    while (this.#running.size > 0) await Promise.all(this.#running);
    this.#lanes.clear();
    this.#open.clear();
    this.#ready = { first: [], again: [] };
    await this.#write().catch(fail);
    if (this.#problems.length > 0) throw this.#problems[0];
    return this.#counts;
  }

  async #tellAll(): Promise<void> {
    // What was told before the database failed is written, and not told again.
    await this.#write();
    while (!this.#isEnding) {
      const begun = await this.#read();
      if (!begun && this.#open.size + this.#ended.size === 0) {
        return await this.#place();
      }
      await this.#progress();
      await this.#write();
    }
  }

  #guard(): Statement[] {
    return this.#turn?.guard() ?? [];
  }

  get #isEnding(): boolean {
    return this.#turn?.signal.aborted !== false ||
      this.#problems.length > 0;
  }

  /** Notes at times that all was told, so that a change of patterns knows it. */
  async #place(): Promise<void> {
    const { driver, name, now } = this.#parts;
    const nowMs = now();
    if (Math.abs(nowMs - this.#placedAt) < PLACE_EVERY_MS) return;
    await driver.batch([...this.#guard(), movePlace(name)], "write");
    this.#placedAt = nowMs;
  }

  /** Reads what may be told, and begins with it. */
  async #read(): Promise<boolean> {
    const { driver, name, now, longestDelayMs = LONGEST_DELAY_MS } =
      this.#parts;
    const nowMs = now();
    const again = [...this.#open.values()].filter(isAgain).length;
    // What has begun is due as well until its end is written.
    const known = this.#open.size + this.#ended.size;
    const most = (open: number) => open < ROWS ? ROWS + known : 0;
    const due = await readDue(driver, name, {
      ...{ now: nowMs, latest: nowMs + longestDelayMs },
      ...{ fresh: most(this.#open.size - again), again: most(again) },
    });
    const failed = [...this.#ended.values()].filter(isTriedAgain);
    const begun = due.filter((row) => {
      const { seq } = row.transition;
      return !this.#open.has(seq) && !this.#ended.has(seq) &&
        !failed.some((one) => isHeldBy(row, one));
    });
    for (const row of begun) {
      const { seq, no } = row.transition;
      this.#open.set(seq, row);
      const lane = this.#lanes.get(no);
      if (lane === undefined) this.#begin([row]);
      else lane.push(row);
    }
    this.#start();
    return begun.length > 0;
  }

  /** Lets the first of a lane begin as soon as there is a place. */
  #begin(lane: OutboxRow[]): void {
    const [next] = lane;
    if (next === undefined) return;
    this.#lanes.set(next.transition.no, lane);
    this.#ready[isAgain(next) ? "again" : "first"].push(next);
  }

  /**
   * Begins as many as there are places. What failed before may fail again, and take
   * long to: it takes no more than half of the places while others wait.
   */
  #start(): void {
    const { concurrency = 16 } = this.#parts.options;
    const half = Math.max(1, Math.floor(concurrency / 2));
    const { first, again } = this.#ready;
    while (
      this.#running.size < concurrency && this.#ended.size < UNWRITTEN &&
      !this.#isEnding
    ) {
      const takesAgain = first.length === 0 ||
        (again.length > 0 && this.#runningAgain < half && !this.#wasAgain);
      const row = (takesAgain ? again : first).shift();
      if (row === undefined) return;
      this.#wasAgain = takesAgain;
      if (takesAgain) this.#runningAgain++;
      const work = this.#work(row).then(() => {
        this.#running.delete(work);
        if (takesAgain) this.#runningAgain--;
        this.#start();
      });
      this.#running.add(work);
    }
  }

  /** Tells the first of a lane, and lets the next begin. */
  async #work(row: OutboxRow): Promise<void> {
    const { transition: { seq, no }, attempts: before } = row;
    const after = await this.#tell(row).catch((error: unknown) => {
      this.#problems.push(error);
      return null;
    });
    let [, ...left] = this.#lanes.get(no) ?? [];
    if (after !== null) {
      const ended = { seq, no, before, after };
      this.#ended.set(seq, ended);
      if (isTriedAgain(ended)) {
        const held = left.filter((one) => isHeldBy(one, ended));
        for (const one of held) this.#open.delete(one.transition.seq);
        left = left.filter((one) => !held.includes(one));
      }
    }
    this.#open.delete(seq);
    this.#lanes.delete(no);
    this.#begin(left);
    if (
      this.#open.size === 0 || this.#ended.size >= GROUP || this.#isEnding
    ) this.#wake();
  }

  /** Returns how it ended; null where it was not told, and will be again. */
  async #tell(row: OutboxRow): Promise<Ended["after"] | null> {
    const { handler } = this.#parts;
    const { seq, no } = row.transition;
    const turn = this.#turn;
    const passed = await this.#pass(row.transition);
    const { transition: handed, state, position, earlier } = passed;
    if (turn === null || this.#isEnding) return null;
    // The release was withdrawn: the handler is not called.
    if (handed === null) return "told";
    if (!turn.isHeld) throw lostRace();
    const order = state !== null && "release" in state ? state : null;
    const isMatched = order?.facts.match === "matched";
    try {
      await handler(shownOf(handed), {
        ...{ state, position },
        release: order?.release ?? null,
        releaseReason: order?.releaseReason ?? null,
        reference: isMatched ? order.expected?.reference ?? null : null,
        missed: earlier
          .filter((one) => this.#ended.get(one.seq)?.after !== "told")
          .map(({ key }) => key),
        attempt: row.attempts + 1,
        signal: turn.signal,
        current: isCurrent(handed, state),
        late: row.state === "late" || handed.seq < seq,
      });
    } catch (error) {
      // Being stopped is no failure of the handler: it is called again.
      return turn.signal.aborted ? null : this.#fail(row, error);
    }
    this.#counts.delivered++;
    if (this.#failures >= DOWN_AFTER) this.#isBack = true;
    this.#failures = 0;
    // A `yes` that had failed was handed over in place of `restored`.
    const told = { seq: handed.seq, no, before: 0, after: "told" } as const;
    this.#ended.set(handed.seq, told);
    return "told";
  }

  #fail(
    { attempts: before, state }: OutboxRow,
    error: unknown,
  ): Ended["after"] {
    const { maxAttempts = 10, retryDelayMs = redeliveryDelayMs } =
      this.#parts.options;
    const { longestDelayMs = LONGEST_DELAY_MS, now } = this.#parts;
    this.#counts.failed++;
    this.#failures++;
    const attempts = before + 1;
    const isDead = attempts >= maxAttempts;
    const isLate = state === "late";
    const waitMs = Math.min(retryDelayMs(attempts, error), longestDelayMs);
    return {
      state: isDead ? isLate ? "passed" : "dead" : isLate ? "late" : "due",
      attempts,
      dueAt: Math.ceil(now() + waitMs),
      error: messageOf(error).slice(0, 500).toWellFormed()
        .replaceAll("\0", ""),
    };
  }

  /** Waits until a group has ended, or until it is time to look again. */
  async #progress(): Promise<void> {
    const { sleep = sleepFor } = this.#parts.options;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const isEnough = (waitedMs: number) =>
      this.#open.size === 0 || this.#ended.size >= GROUP || this.#isEnding ||
      woken.signal.aborted || waitedMs >= POLL_INTERVAL_MS ||
      (waitedMs > 0 && this.#ended.size > 0);
    for (let waitedMs = 0; !isEnough(waitedMs); waitedMs += GROUP_MS) {
      await sleep(GROUP_MS, woken.signal).catch((error) => {
        if (!woken.signal.aborted) throw error;
      });
    }
  }

  /** Writes how it went; what could not be written is kept. */
  async #write(): Promise<void> {
    const all = [...this.#ended.values()];
    if (all.length === 0) return;
    const { driver, name, now } = this.#parts;
    const nowMs = now();
    const isBack = this.#isBack &&
      Math.abs(nowMs - this.#hastenedAt) >= HASTEN_EVERY_MS;
    const results = await driver.batch([
      ...this.#guard(),
      ...settle(name, all),
      ...isBack ? [hasten(name, nowMs)] : [],
    ], "write");
    if (isBack && (results.at(-1)?.rowsAffected ?? 0) > 0) {
      this.#hastenedAt = nowMs;
    }
    this.#isBack = false;
    for (const one of all) {
      if (this.#ended.get(one.seq) === one) this.#ended.delete(one.seq);
    }
    this.#start();
  }
}

function isTriedAgain({ after }: Ended): boolean {
  return after !== "told" && after.state === "due";
}

/** Later ones of the same order or user wait for one that is tried again. */
function isHeldBy(
  { state, transition }: OutboxRow,
  { seq, no }: Ended,
): boolean {
  return state !== "late" && transition.no === no && transition.seq > seq;
}

/**
 * How long a failed delivery waits: one second, doubled with each attempt, up to an
 * hour.
 */
export function redeliveryDelayMs(attempt: number): number {
  return backoffMs(attempt, { firstMs: 1000, longestMs: 60 * 60_000 });
}
