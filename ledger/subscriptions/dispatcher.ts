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
  isLostRace,
  listed,
  lostRace,
  readDeciding,
  retryLostRaces,
  select,
  type Statement,
  statement,
} from "../store/database.ts";
import { LeaseTurn, SUBSCRIPTION_LEASE } from "../store/leases.ts";
import {
  type Dispatched,
  type Ended,
  hasten,
  type OutboxRow,
  outboxRowOf,
  releaseGate,
  SELECT_DUE,
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
/** No wait before another attempt is longer, unless stated otherwise, ms. */
const LONGEST_DELAY_MS = 31 * 24 * 3_600_000;
/** So many that are new are read at once, and as many that are tried again. */
const ROWS = 256;
/** So many deliveries are written together, unless they take long. */
const GROUP = 128;
/** While so many are not written none is begun: a crash makes them again. */
const UNWRITTEN = 2 * GROUP;
/** Deliveries that have ended wait no longer than this for others, ms. */
const GROUP_MS = 200;
/** After so many failures in a row a success says that the receiver is back. */
const DOWN_AFTER = 3;
/**
 * How often it is written that there was nothing to tell; and what always fails must
 * not be tried with every success of others, ms.
 */
const SELDOM_MS = 60_000;

const isAgain = ({ dueAt }: OutboxRow) => dueAt > 0;

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
  readonly #pass: ReturnType<typeof releaseGate>;
  readonly #stopped = new AbortController();
  #running: Promise<void> | null = null;
  #dispatching: Promise<unknown> = Promise.resolve();
  /** Aborted when there may be something to do; a new one for each look. */
  #woken = new AbortController();
  /** Says the same to a dispatch that waits for its handlers. */
  #wake: () => void = () => {};
  #turn: LeaseTurn | null = null;
  #reported: "delivers" | "waits" | null = null;
  /** How long to wait before the next look at the lease. */
  #lookMs = LOOK_INTERVAL_MS;
  /** What was read of each order or user and has not ended; the first is told. */
  readonly #lanes = new Map<number, OutboxRow[]>();
  /** What the handler is being called with. */
  readonly #calls = new Map<OutboxRow, Promise<void>>();
  #wasAgain = false;
  /** By place in the log: ended, and not written. */
  readonly #ended = new Map<number, Ended>();
  #counts = { delivered: 0, failed: 0 };
  #problems: unknown[] = [];
  /** Failures since the last success. */
  #failures = 0;
  #isBack = false;
  #hastenedAt = -Infinity;
  #placedAt = -Infinity;

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
    this.#pass = releaseGate(parts, () => this.#guard());
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
  }

  /** Waits for the handlers that are being called, and stops. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.endTurn();
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
    const { idleMs = 1000, onError = () => {} } = this.#parts.options;
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
      if (!signal.aborted) await this.#rest(restMs, signal);
    }
  }

  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    const { sleep = sleepFor } = this.#parts.options;
    await sleep(ms, signal).catch((error) => {
      if (!signal.aborted) throw error;
    });
  }

  async #dispatch(): Promise<Dispatched> {
    this.#counts = { delivered: 0, failed: 0 };
    if (this.#stopped.signal.aborted) return this.#counts;
    const turn = await this.#takeTurn();
    if (turn === null) return { ...this.#counts, isWaiting: true };
    this.#problems = [];
    const fail = (error: unknown) => void this.#problems.push(error);
    await this.#tellAll().catch(fail);
    while (this.#calls.size > 0) await Promise.all(this.#calls.values());
    this.#lanes.clear();
    await this.#write().catch(fail);
    const [problem] = this.#problems;
    if (isLostRace(problem)) {
      turn.abort();
      // Another process has delivered meanwhile, and wrote how far it is.
      this.#ended.clear();
    }
    if (this.#running === null || turn.signal.aborted) await this.#leave();
    if (this.#problems.length > 0) throw problem;
    return this.#counts;
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
      const leftMs = Math.min(LOOK_INTERVAL_MS, turn.leftMs);
      this.#lookMs = Math.max(SHORTEST_LOOK_MS, leftMs);
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
    turn.signal.addEventListener("abort", () => this.#wake());
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

  #guard(): Statement[] {
    return this.#turn?.guard() ?? [];
  }

  get #isEnding(): boolean {
    return this.#turn?.signal.aborted !== false || this.#problems.length > 0;
  }

  get #isGroup(): boolean {
    return this.#lanes.size === 0 || this.#ended.size >= GROUP ||
      this.#isEnding;
  }

  /** Tells until nothing is left, or the turn is over. */
  async #tellAll(): Promise<void> {
    for (;;) {
      // What was told before the database failed is written, and not told again.
      await this.#write();
      if (this.#isEnding) return;
      const begun = await this.#read();
      if (!begun && this.#lanes.size + this.#ended.size === 0) {
        return await this.#place();
      }
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      if (!this.#isGroup) await this.#rest(GROUP_MS, woken.signal);
    }
  }

  /**
   * Notes at times up to where all was told, or was tried, so that a change of
   * patterns knows it.
   */
  async #place(): Promise<void> {
    const { driver, name, now } = this.#parts;
    const nowMs = now();
    if (Math.abs(nowMs - this.#placedAt) < SELDOM_MS) return;
    const move = statement(
      `UPDATE subscriptions SET seq = max(seq, coalesce(
        (SELECT b.seq - 1 FROM outbox AS b WHERE b.name = ?1
          AND b.state = 'due' AND b.due_at = 0 ORDER BY b.seq LIMIT 1),
        (SELECT max(seq) FROM log), 0)) WHERE name = ?1`,
      name,
    );
    await driver.batch([...this.#guard(), move], "write");
    this.#placedAt = nowMs;
  }

  /** Reads what may be told, and begins with it. */
  async #read(): Promise<boolean> {
    const { driver, name, now, longestDelayMs = LONGEST_DELAY_MS } =
      this.#parts;
    const nowMs = now();
    const open = [...this.#lanes.values()].flat();
    const again = open.filter(isAgain).length;
    const rows = await select(
      driver,
      SELECT_DUE,
      ...[name, nowMs, nowMs + longestDelayMs],
      Math.max(0, ROWS - (open.length - again)),
      Math.max(0, ROWS - again),
      listed([...open.map((row) => row.transition.seq), ...this.#ended.keys()]),
    );
    // What follows one that has ended is read once that is written.
    const ended = new Set([...this.#ended.values()].map(({ no }) => no));
    const begun = rows.map(outboxRowOf)
      .filter(({ transition: { no } }) => !ended.has(no));
    for (const row of begun) {
      const { no } = row.transition;
      this.#lanes.set(no, [...this.#lanes.get(no) ?? [], row]);
    }
    this.#start();
    return begun.length > 0;
  }

  /**
   * Begins as many as there are places. What failed before may fail again, and take
   * long to: it takes no more than half of the places while others wait.
   */
  #start(): void {
    const { concurrency = 16 } = this.#parts.options;
    while (
      this.#calls.size < concurrency && this.#ended.size < UNWRITTEN &&
      !this.#isEnding
    ) {
      const ready = [...this.#lanes.values()].map(([row]) => row as OutboxRow)
        .filter((row) => !this.#calls.has(row));
      const again = ready.find(isAgain);
      const fresh = ready.find((row) => !isAgain(row));
      const isFew = [...this.#calls.keys()].filter(isAgain).length <
        Math.max(1, Math.floor(concurrency / 2));
      const next = isFew && !this.#wasAgain ? again ?? fresh : fresh ?? again;
      if (next === undefined) return;
      this.#wasAgain = next === again;
      this.#calls.set(next, this.#work(next));
    }
  }

  /** Tells the first of a lane, and lets the next begin. */
  async #work(row: OutboxRow): Promise<void> {
    const { transition: { seq, no }, attempts: before } = row;
    const after = await this.#tell(row).catch((error: unknown) => {
      this.#problems.push(error);
      return null;
    });
    if (after !== null) this.#ended.set(seq, { seq, no, before, after });
    const [, ...left] = this.#lanes.get(no) ?? [];
    this.#lanes.delete(no);
    // Later ones wait for one that is tried again, and `restored` until it is written
    // whether the yes was taken: they are read again.
    const isTriedAgain = after !== "told" && after?.state === "due";
    const [next] = left;
    if (
      next && !isTriedAgain && next.transition.logged?.entered !== "restored"
    ) {
      this.#lanes.set(no, left);
    }
    if (this.#isGroup) this.#wake();
    this.#calls.delete(row);
    this.#start();
  }

  /** Returns how it ended; null where it was not told, and will be again. */
  async #tell(row: OutboxRow): Promise<Ended["after"] | null> {
    const { seq, no } = row.transition;
    const { transition, known, earlier } = await this.#pass(row.transition);
    const turn = this.#turn;
    if (turn === null || this.#isEnding) return null;
    // The release was withdrawn: the handler is not called.
    if (transition === null) return "told";
    if (!turn.isHeld) throw lostRace();
    try {
      await this.#parts.handler(shownOf(transition), {
        ...known,
        missed: earlier
          .filter((one) => this.#ended.get(one.seq)?.after !== "told")
          .map(({ key }) => key),
        attempt: row.attempts + 1,
        signal: turn.signal,
        late: row.state === "late" || transition.seq < seq,
      });
    } catch (error) {
      // Being stopped is no failure of the handler: it is called again.
      return turn.signal.aborted ? null : this.#fail(row, error);
    }
    this.#counts.delivered++;
    if (this.#failures >= DOWN_AFTER) this.#isBack = true;
    this.#failures = 0;
    // A `yes` that had failed was handed over in place of `restored`.
    const told = { seq: transition.seq, no, before: 0, after: "told" } as const;
    this.#ended.set(told.seq, told);
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
    const [again, dead] = state === "late"
      ? ["late", "passed"] as const
      : ["due", "dead"] as const;
    const waitMs = Math.min(retryDelayMs(attempts, error), longestDelayMs);
    return {
      state: attempts >= maxAttempts ? dead : again,
      attempts,
      // One that is no number would be due at no time.
      dueAt: Math.ceil(now() + (Math.max(0, waitMs) || 0)),
      error: messageOf(error).slice(0, 500).toWellFormed()
        .replaceAll("\0", ""),
    };
  }

  /** Writes how it went; what could not be written is kept. */
  async #write(): Promise<void> {
    const all = [...this.#ended.values()];
    if (all.length === 0) return;
    const { driver, name, now } = this.#parts;
    const nowMs = now();
    const isBack = this.#isBack &&
      Math.abs(nowMs - this.#hastenedAt) >= SELDOM_MS;
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
  const [[found = []] = [], [last] = []] = await readDeciding(driver, [
    statement("SELECT seq, patterns FROM subscriptions WHERE name = ?", name),
    statement("SELECT coalesce(max(seq), 0) FROM log"),
  ]);
  const [place, before = "[]"] = found;
  if (before === patterns) return;
  const lastSeq = Number(last?.[0]);
  const after = Number(place ?? (from === "start" ? 0 : lastSeq));
  const wants = wanting(JSON.parse(patterns));
  // What it took before was told, or is in the outbox.
  const took = wanting(JSON.parse(String(before)));
  const past: { seq: number; no: number }[] = [];
  const dropped: number[] = [];
  for (let to = after; to < lastSeq;) {
    const [rows = []] = await readDeciding(driver, [statement(
      `SELECT ${TRANSITIONS} WHERE t.seq > ? ORDER BY t.seq LIMIT ${LOG_ROWS}`,
      to,
    )]);
    to = Number(rows.at(-1)?.[0] ?? lastSeq);
    for (const { seq, no, live, ...one } of rows.map(transitionOf)) {
      if (live && !wants(one)) dropped.push(seq);
      else if (live && !took(one)) past.push({ seq, no });
    }
  }
  await driver.batch([
    {
      sql: `UPDATE ledger SET turn = CASE
        WHEN (SELECT coalesce(max(seq), 0) FROM log) = ? THEN turn + 1 END`,
      args: [lastSeq],
      expects: true,
    },
    statement(
      `INSERT INTO subscriptions (name, patterns, created_at, seq)
        VALUES (?, ?, ?, ?)
        ON CONFLICT (name) DO UPDATE SET patterns = excluded.patterns`,
      ...[name, patterns, Math.floor(now()), after],
    ),
    statement(
      `DELETE FROM outbox WHERE name = ? AND state = 'due' AND due_at = 0
        AND attempts = 0 AND seq IN (SELECT value FROM json_each(?))`,
      ...[name, listed(dropped)],
    ),
    ...insertOutbox(name, past),
  ], "write");
}

/**
 * How long a failed delivery waits: one second, doubled with each attempt, up to an
 * hour.
 */
export function redeliveryDelayMs(attempt: number): number {
  return backoffMs(attempt, { firstMs: 1000, longestMs: 60 * 60_000 });
}
