/** Delivers what an outbox holds: side by side across entities, in order within each. */
import type { AssetTable } from "../../core/assets/environment.ts";
import { messageOf } from "../../core/guards.ts";
import { backoffMs } from "../../core/waiting/retry_delay.ts";
import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import { lostRace } from "../store/driver/retrying_driver.ts";
import { Lanes } from "./lanes.ts";
import type { matcher } from "../machines/pattern.ts";
import type {
  Dispatched,
  SubscriptionParts as Parts,
} from "./subscription_options.ts";
import { YES } from "../projection/subscribers.ts";
import type { LeaseTurn } from "../store/leases.ts";
import {
  type Due,
  type Earlier,
  hasten,
  movePlace,
  type OutboxRow,
  readDue,
  settle,
  type Settled,
} from "./outbox.ts";
import { isCurrent, ReleaseGate } from "./release_gate.ts";

/** No wait before another attempt is longer, unless stated otherwise, ms. */
const LONGEST_DELAY_MS = 31 * 24 * 3_600_000;
/** Most rows of one read, of what is new and of what is tried again. */
const ROWS = 256;
/** So many deliveries are written together, unless they take long. */
const GROUP = 128;
/** While so many are not written none is begun: a crash makes them again. */
const UNWRITTEN = 2 * GROUP;
/** Deliveries that have ended wait no longer than this for others, ms. */
const GROUP_MS = 200;
/** Polling interval while no delivery finishes, in ms. */
const POLL_INTERVAL_MS = 1000;
/** After so many failures in a row a success says that the receiver is back. */
const DOWN_AFTER = 3;
/** How often it is written that there was nothing to tell, ms. */
const PLACE_EVERY_MS = 60_000;
/** What always fails must not be tried with every success of others, ms. */
const HASTEN_EVERY_MS = 60_000;

/** What is kept of a subscription from one run to the next. */
export interface DispatchMemory {
  /** What was told and could not be written, by place in the log. */
  readonly unwritten: Map<number, Settled>;
  /** Failures since the last success. */
  failures: number;
  /** When all that waited was last made due, ms. */
  hastenedAt: number;
  /** When it was last written up to where all was told, ms. */
  placedAt: number;
}

export function newMemory(): DispatchMemory {
  return {
    unwritten: new Map(),
    failures: 0,
    hastenedAt: -Infinity,
    placedAt: -Infinity,
  };
}

/** What a subscription works with. */
export interface SubscriptionParts extends Parts {
  /** @default {that of the ledger's environment} */
  readonly assets?: AssetTable;
}

export interface DispatchRunParts extends SubscriptionParts {
  readonly matches: ReturnType<typeof matcher>;
  /** The lease under which it delivers; its end ends the run. */
  readonly turn: Pick<LeaseTurn, "signal" | "isHeld" | "guard">;
  readonly memory: DispatchMemory;
}

interface Delivery {
  readonly row: OutboxRow;
  /** What is in the outbox of its order or user and comes before it. */
  readonly earlier: readonly Earlier[];
}

/** What is known of an order or user while deliveries of it are under way. */
class EntityDeliveries {
  /** Places of those that failed or wait: those after them wait. */
  readonly blocking = new Set<number>();
  /** Deliveries that have not been written. */
  open = 0;
  /** Keys by place that died, and have not been written as dead. */
  readonly died = new Map<number, string>();
  /** Places of those that were delivered, or are not to be. */
  readonly settled = new Set<number>();

  isBlocked(seq: number): boolean {
    return [...this.blocking].some((one) => one < seq);
  }

  /** Keys of what comes before a delivery, and was not delivered. */
  missedBefore({ earlier, row }: Delivery): string[] {
    const { seq } = row.transition;
    const missed = new Map(earlier.map((one) => [one.seq, one.key]));
    for (const [at, key] of this.died) missed.set(at, key);
    return [...missed].filter(([at]) => at < seq && !this.settled.has(at))
      .sort(([a], [b]) => a - b).map(([, key]) => key);
  }
}

/**
 * Delivers what there is until nothing is left, then ends. How deliveries went is
 * written in groups: after a crash those of the last two groups are made again, in
 * the same order.
 */
export class DispatchRun {
  readonly #parts: DispatchRunParts;
  readonly #gate: ReleaseGate;
  readonly #lanes: Lanes<Delivery>;
  readonly #entities = new Map<number, EntityDeliveries>();
  /** Places of deliveries that have begun, or ended and are not written. */
  readonly #taken = new Set<number>();
  #ended: Settled[] = [];
  /** Deliveries that have not ended. */
  #open = 0;
  /** Those of them that were tried before. */
  #openAgain = 0;
  #problem: { readonly error: unknown } | null = null;
  #isBack = false;
  #delivered = 0;
  #failed = 0;
  #wake: () => void = () => {};
  /** Those who wait until deliveries are written. */
  #onRoom: (() => void)[] = [];

  constructor(parts: DispatchRunParts) {
    this.#parts = parts;
    this.#gate = new ReleaseGate({
      driver: parts.driver,
      name: parts.name,
      ...parts.assets && { assets: parts.assets },
      guard: () => parts.turn.guard(),
      takesYes: parts.matches(YES),
      matches: parts.matches,
    });
    this.#lanes = new Lanes({
      most: parts.options.concurrency ?? 16,
      work: (delivery) => this.#deliver(delivery),
      isRetry: ({ row }) => row.attempts > 0,
    });
  }

  /** Says that there may be more to deliver, or that it is to stop. */
  wake(): void {
    this.#wake();
    if (this.#ending) this.#makeRoom();
  }

  /**
   * Delivers until nothing is left or it is stopped.
   *
   * @throws {LedgerError} When the database fails.
   */
  async run(): Promise<Dispatched> {
    try {
      await this.#deliverAll();
    } catch (error) {
      this.#problem ??= { error };
    }
    this.#makeRoom();
    await this.#lanes.idle();
    try {
      await this.#write();
    } catch (error) {
      this.#problem ??= { error };
    }
    if (this.#problem !== null) throw this.#problem.error;
    return { delivered: this.#delivered, failed: this.#failed };
  }

  async #deliverAll(): Promise<void> {
    // What was told before the database failed is written, and not told again.
    const before = [...this.#parts.memory.unwritten.values()];
    if (before.length > 0) await this.#settle(before);
    while (!this.#ending) {
      const begun = await this.#read();
      if (!begun && this.#open === 0 && this.#ended.length === 0) {
        return await this.#place();
      }
      await this.#progress();
      if (this.#ended.length > 0) await this.#write();
    }
  }

  /** Notes at times that all was told, so that a change of patterns knows it. */
  async #place(): Promise<void> {
    const { driver, name, turn, memory, now } = this.#parts;
    const nowMs = now();
    if (Math.abs(nowMs - memory.placedAt) < PLACE_EVERY_MS) return;
    await driver.batch([...turn.guard(), movePlace(name)], "write");
    memory.placedAt = nowMs;
  }

  /** Whether nothing more is begun. */
  get #ending(): boolean {
    return this.#parts.turn.signal.aborted || this.#problem !== null;
  }

  #makeRoom(): void {
    for (const resolve of this.#onRoom.splice(0)) resolve();
  }

  /** Reads what may be delivered, and begins with it. */
  async #read(): Promise<boolean> {
    if (this.#ending) return false;
    const { driver, name, now } = this.#parts;
    const { longestDelayMs = LONGEST_DELAY_MS } = this.#parts;
    const nowMs = now();
    const fresh = this.#open - this.#openAgain < ROWS;
    // What has begun is due as well until its end is written.
    const found = await readDue(driver, name, {
      now: nowMs,
      latest: nowMs + longestDelayMs,
      limits: {
        fresh: fresh ? ROWS + this.#taken.size : 0,
        again: ROWS + this.#taken.size,
      },
    });
    return this.#begin(found);
  }

  #begin({ due, of }: Due): boolean {
    let begun = false;
    const isDue = new Set(due.map(({ transition }) => transition.seq));
    for (const row of due) {
      const { seq, no } = row.transition;
      if (this.#taken.has(seq)) continue;
      begun = true;
      this.#taken.add(seq);
      const entity = this.#entities.get(no) ?? new EntityDeliveries();
      this.#entities.set(no, entity);
      entity.open++;
      this.#open++;
      if (row.attempts > 0) this.#openAgain++;
      const earlier = (of.get(no) ?? []).filter((one) => one.seq < seq);
      for (const one of earlier) {
        if (this.#taken.has(one.seq)) continue;
        if (
          one.state === "waiting" ||
          (one.state === "due" && !isDue.has(one.seq))
        ) {
          entity.blocking.add(one.seq);
        }
      }
      // In its lane even if it only has to wait: it may not be told before an
      // earlier one of the lane is.
      this.#lanes.add(String(no), { row, earlier });
    }
    return begun;
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { memory } = this.#parts;
    while (
      this.#ended.length + memory.unwritten.size >= UNWRITTEN &&
      !this.#ending
    ) {
      await new Promise<void>((resolve) => this.#onRoom.push(resolve));
    }
    if (this.#ending) return;
    const { row } = delivery;
    const { transition } = row;
    const entity = this.#entities.get(transition.no);
    if (entity === undefined) return;
    if (row.state !== "late" && entity.isBlocked(transition.seq)) {
      entity.blocking.add(transition.seq);
      const { attempts, dueAt, error } = row;
      const after = { state: "waiting", attempts, dueAt, error } as const;
      return this.#end(delivery, { after });
    }
    entity.blocking.delete(transition.seq);
    try {
      await this.#call(delivery, entity);
    } catch (error) {
      this.#problem ??= { error };
      this.wake();
    }
  }

  async #call(delivery: Delivery, entity: EntityDeliveries): Promise<void> {
    const { handler, turn, memory } = this.#parts;
    const { row } = delivery;
    const { transition } = row;
    const { signal } = turn;
    const missed = entity.missedBefore(delivery);
    const { transition: handed, current } = await this.#gate.pass(transition);
    if (this.#ending) return;
    // The release was withdrawn: the handler is not called.
    if (handed === null) {
      entity.settled.add(transition.seq);
      return this.#end(delivery, {});
    }
    if (!turn.isHeld) throw lostRace();
    const { state, position } = current;
    const order = state !== null && "release" in state ? state : null;
    try {
      await handler(shown(handed), {
        attempt: row.attempts + 1,
        signal,
        state,
        position,
        current: isCurrent(handed, state),
        release: order?.release ?? null,
        releaseReason: order?.releaseReason ?? null,
        reference: order?.facts.match === "matched"
          ? order.expected?.reference ?? null
          : null,
        missed,
        late: row.state === "late" || handed.seq < transition.seq,
      });
    } catch (error) {
      // Being stopped is no failure of the handler: it is called again.
      if (signal.aborted) return;
      const after = this.#afterFailure(row, error);
      if (after.state === "dead" || after.state === "passed") {
        entity.died.set(transition.seq, transition.key);
      } else if (after.state === "due") {
        entity.blocking.add(transition.seq);
      }
      this.#failed++;
      memory.failures++;
      return this.#end(delivery, { after });
    }
    entity.settled.add(transition.seq);
    this.#delivered++;
    if (memory.failures >= DOWN_AFTER) this.#isBack = true;
    memory.failures = 0;
    this.#end(delivery, {
      passing: missed.length > 0,
      // A `yes` that had failed was handed over in place of `restored`.
      also: handed.seq === transition.seq ? null : handed.seq,
      released: handed.logged?.entered === "yes",
    });
  }

  #end(
    { row: { transition: { seq, no }, attempts } }: Delivery,
    outcome: Partial<Settled>,
  ): void {
    this.#ended.push({
      ...{ seq, no, before: attempts, after: null },
      ...{ passing: false, also: null, released: false, ...outcome },
    });
    this.#open--;
    if (attempts > 0) this.#openAgain--;
    if (this.#open === 0 || this.#ended.length >= GROUP) this.#wake();
  }

  /** Waits until a group has ended, or until it is time to look again. */
  async #progress(): Promise<void> {
    const { sleep = sleepFor } = this.#parts.options;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    let leftMs = POLL_INTERVAL_MS;
    const enough = () =>
      this.#open === 0 || this.#ended.length >= GROUP || this.#ending ||
      woken.signal.aborted || leftMs <= 0 ||
      (this.#ended.length > 0 && leftMs < POLL_INTERVAL_MS);
    try {
      while (!enough()) {
        await sleep(GROUP_MS, woken.signal);
        leftMs -= GROUP_MS;
      }
    } catch (error) {
      if (!woken.signal.aborted) throw error;
    } finally {
      this.#wake = () => {};
    }
  }

  async #write(): Promise<void> {
    const ended = this.#ended;
    this.#ended = [];
    if (ended.length > 0) await this.#settle(ended);
  }

  /** Writes how deliveries went; what could not be written is kept. */
  async #settle(settled: readonly Settled[]): Promise<void> {
    const { driver, name, turn, memory, now } = this.#parts;
    for (const one of settled) memory.unwritten.set(one.seq, one);
    const all = [...memory.unwritten.values()];
    const nowMs = now();
    const isBack = this.#isBack &&
      Math.abs(nowMs - memory.hastenedAt) >= HASTEN_EVERY_MS;
    const results = await driver.batch([
      ...turn.guard(),
      ...settle(name, all),
      ...isBack ? [hasten(name, nowMs)] : [],
    ], "write");
    if (isBack && (results.at(-1)?.rowsAffected ?? 0) > 0) {
      memory.hastenedAt = nowMs;
    }
    this.#isBack = false;
    for (const { seq, no } of all) {
      memory.unwritten.delete(seq);
      this.#taken.delete(seq);
      const entity = this.#entities.get(no);
      if (entity !== undefined && --entity.open <= 0) this.#entities.delete(no);
    }
    this.#makeRoom();
  }

  #afterFailure(
    { attempts: before, state }: OutboxRow,
    error: unknown,
  ): NonNullable<Settled["after"]> {
    const { maxAttempts = 10, retryDelayMs = redeliveryDelayMs } =
      this.#parts.options;
    const { longestDelayMs = LONGEST_DELAY_MS, now } = this.#parts;
    const attempts = before + 1;
    const isDead = attempts >= maxAttempts;
    const waitMs = Math.min(retryDelayMs(attempts, error), longestDelayMs);
    return {
      state: state === "late"
        ? isDead ? "passed" : "late"
        : isDead
        ? "dead"
        : "due",
      attempts,
      dueAt: Math.ceil(now() + waitMs),
      error: messageOf(error).slice(0, 500).toWellFormed()
        .replaceAll("\0", ""),
    };
  }
}

/** A transition as handlers see it, without what only the ledger needs. */
function shown<Shown extends object>(transition: Shown): Shown {
  const { no: _no, withheld: _withheld, historic: _historic, ...rest } =
    transition as Shown & Record<"no" | "withheld" | "historic", unknown>;
  return rest as unknown as Shown;
}

const backoff = { firstMs: 1000, longestMs: 60 * 60_000 };

/**
 * How long a failed delivery waits: one second, doubled with each attempt, up to an
 * hour.
 */
export function redeliveryDelayMs(attempt: number): number {
  return backoffMs(attempt, backoff);
}
