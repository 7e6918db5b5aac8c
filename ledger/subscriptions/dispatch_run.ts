import { messageOf } from "../../core/guards.ts";
import { sleep as sleepFor } from "../../core/waiting/sleep.ts";
import type { LeaseTurn } from "../lease/lease_turn.ts";
import { isLostRace, lostRace } from "../store/driver/retrying_driver.ts";
import {
  entityKey,
  readDeliveries,
} from "../store/tables/subscriptions/deliveries.ts";
import {
  type QueuedTransition,
  settleQueue,
} from "../store/tables/subscriptions/queued_transitions.ts";
import {
  moveSubscription,
  placeOf,
  selectPlace,
  type SubscriptionPlace,
} from "../store/tables/subscriptions/subscriptions.ts";
import {
  type Delivery,
  deliveryOf,
  EntityDeliveries,
  type Outcome,
  redeliveryDelayMs,
  settledBy,
  waiting,
} from "./delivery.ts";
import { isCurrent, StateLoader } from "./state_loader.ts";
import { Lanes } from "./lanes.ts";
import type { Matchable } from "./pattern.ts";
import { ReleaseGate } from "./release_gate.ts";
import type { Dispatched, SubscriptionParts } from "./subscription_options.ts";

/** No wait before another attempt is longer, unless stated otherwise, ms. */
const LONGEST_DELAY_MS = 31 * 24 * 3_600_000;
/** Most transitions of one read of the log. */
const LOG_ROWS = 256;
/** Most queued transitions of one read. */
const DUE_ROWS = 256;
/** So many deliveries are written together, unless they take long. */
const GROUP = 128;
/** While so many are not written none is begun: a crash makes them again. */
const UNWRITTEN = 2 * GROUP;
/** Deliveries that have ended wait no longer than this for others, ms. */
const GROUP_MS = 200;
/** Polling interval while no delivery finishes, in ms. */
const POLL_INTERVAL_MS = 1000;
/** Most that is remembered because an earlier delivery has not ended. */
const LOG_MEMORY = 16 * LOG_ROWS;
/** Save the checkpoint after this many skipped transitions. */
const SKIPPED = 5000;

/** What `order.release.yes` matches. */
const RELEASED: Matchable = {
  entity: "order",
  machine: "release",
  trust: "confirmed",
  status: "success",
  logged: { entered: "yes", release: "yes", reason: "session_matched" },
};

/** Deliveries that are written together, and the checkpoint with them. */
export interface Written {
  readonly ended: readonly Delivery[];
  readonly to: number;
}

/** What a run has done and could not write, because the database failed. */
export interface Unwritten {
  /** The place that it has read or written last. */
  readonly place: SubscriptionPlace;
  /** A write that may have been done. */
  readonly doubt: Written | null;
  /** Deliveries that have ended since. */
  readonly ended: readonly Delivery[];
  /** Where the checkpoint goes with them. */
  readonly to: number;
  /** Places in the log after that which were delivered as well. */
  readonly passed: ReadonlySet<number>;
}

/** What one run works with. */
export interface DispatchRunParts extends SubscriptionParts {
  /** Which transitions are taken. */
  readonly matches: (transition: Matchable) => boolean;
  /** The lease under which it delivers; its end ends the run. */
  readonly turn: Pick<LeaseTurn, "signal" | "isHeld" | "guard">;
  /** The revision that is known to be written. */
  readonly revision: number;
  /** What the run before could not write; null where it wrote all. */
  readonly before: Unwritten | null;
}

/**
 * Delivers what there is until nothing is left, then ends. Handlers run side by
 * side across orders and users. How deliveries went is written in groups, with
 * a checkpoint before which all are settled: after a crash those of the last two
 * groups, and those past one that was under way, are made again, in the same
 * order.
 */
export class DispatchRun {
  readonly #parts: DispatchRunParts;
  readonly #states: StateLoader;
  readonly #gate: ReleaseGate;
  readonly #takesYes: boolean;
  readonly #lanes: Lanes<Delivery>;
  readonly #entities = new Map<string, EntityDeliveries>();
  /** From the log and not below the checkpoint, in order. */
  #log: Delivery[] = [];
  /** Places in the log that the run before has delivered. */
  readonly #passed: Set<number>;
  /** Deliveries from the queue that have not been written, by place. */
  readonly #due = new Set<number>();
  #ended: Delivery[] = [];
  /** Deliveries that have not ended. */
  #open = 0;
  /** Those of them that are from the log. */
  #openLog = 0;
  #place: SubscriptionPlace | null = null;
  /** How far the log has been read. */
  #readTo: number | null = null;
  /** A write that is under way, or failed: it may have been done. */
  #doubt: Written | null = null;
  #problem: { readonly error: unknown } | null = null;
  #delivered = 0;
  #failed = 0;
  #wake: () => void = () => {};
  /** Those who wait until deliveries are written. */
  #onRoom: (() => void)[] = [];

  /** @param parts What it works with. */
  constructor(parts: DispatchRunParts) {
    this.#parts = parts;
    this.#passed = new Set(parts.before?.passed);
    this.#states = new StateLoader(parts.driver);
    this.#takesYes = parts.matches(RELEASED);
    this.#gate = new ReleaseGate({
      driver: parts.driver,
      name: parts.name,
      guard: () => parts.turn.guard(),
      takesYes: this.#takesYes,
      matches: parts.matches,
    });
    this.#lanes = new Lanes({
      most: parts.options.concurrency ?? 16,
      work: (delivery) => this.#deliver(delivery),
      isRetry: ({ queued }) => queued !== null,
    });
  }

  /** The revision that this run has read or written last. */
  get revision(): number {
    return this.#place?.revision ?? this.#parts.revision;
  }

  /**
   * What could not be written; null where all is, or where another process has
   * written meanwhile. To be asked when the run has ended.
   */
  get unwritten(): Unwritten | null {
    const place = this.#place;
    if (this.#problem === null || isLostRace(this.#problem.error)) return null;
    if (place === null) return this.#parts.before;
    const to = this.#lowWater();
    const passed = new Set([...this.#passed].filter((seq) => seq > to));
    for (const { transition, outcome } of this.#log) {
      if (outcome !== null && outcome.kind !== "queued") {
        passed.add(transition.seq);
      }
    }
    return { place, doubt: this.#doubt, ended: this.#ended, to, passed };
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
      await this.#resolveDoubt();
      await this.#write();
    } catch (error) {
      this.#problem ??= { error };
    }
    if (this.#problem !== null) throw this.#problem.error;
    return { delivered: this.#delivered, failed: this.#failed };
  }

  /** Writes what the run before could not. */
  async #resume(): Promise<void> {
    const { before } = this.#parts;
    if (before === null) return;
    this.#place = before.place;
    this.#readTo = before.to;
    this.#doubt = before.doubt;
    this.#ended = [...before.ended];
    try {
      await this.#resolveDoubt();
      await this.#write();
    } catch (error) {
      if (!isLostRace(error)) throw error;
      // Another process has delivered meanwhile, and wrote how far it is.
      this.#place = null;
      this.#readTo = null;
      this.#doubt = null;
      this.#ended = [];
      this.#passed.clear();
    }
  }

  async #deliverAll(): Promise<void> {
    await this.#resume();
    while (!this.#ending) {
      const more = await this.#read();
      if (!more && this.#open === 0 && this.#ended.length === 0) return;
      await this.#progress();
      if (this.#ended.length > 0 || this.#skipped() >= SKIPPED) {
        await this.#write();
      }
    }
  }

  get #longestDelayMs(): number {
    return this.#parts.longestDelayMs ?? LONGEST_DELAY_MS;
  }

  /** Deliveries that have ended and are not known to be written. */
  get #unwritten(): number {
    return this.#ended.length + (this.#doubt?.ended.length ?? 0);
  }

  #makeRoom(): void {
    for (const resolve of this.#onRoom.splice(0)) resolve();
  }

  /** Whether nothing more is begun. */
  get #ending(): boolean {
    return this.#parts.turn.signal.aborted || this.#problem !== null;
  }

  /** Reads what may be delivered, and begins with it. */
  async #read(): Promise<boolean> {
    if (this.#ending) return false;
    const { driver, name, matches } = this.#parts;
    // What is tried again, and takes long, must not keep what is new waiting.
    const room = this.#openLog < LOG_ROWS && this.#log.length < LOG_MEMORY;
    const query = {
      name,
      now: this.#time(),
      latest: this.#time(this.#longestDelayMs),
      limits: { due: DUE_ROWS, log: room ? LOG_ROWS : 0 },
      after: this.#readTo,
    };
    let found = await readDeliveries(driver, query, "read");
    // A replica may be behind what this process itself has written.
    if (found.place.revision < this.revision) {
      found = await readDeliveries(driver, query, "write");
    }
    this.#place ??= found.place;
    if (found.place.revision !== this.#place.revision) throw lostRace();
    this.#readTo ??= found.place.seq;
    let begun = false;
    for (const queued of found.due) {
      const { transition } = queued;
      if (this.#due.has(transition.seq)) continue;
      begun = true;
      this.#due.add(transition.seq);
      this.#begin(deliveryOf(transition, queued, found), false);
    }
    for (const transition of found.log) {
      this.#readTo = transition.seq;
      // A `yes` that was parked is handed over when it is restored.
      const isTaken = matches(transition) ||
        (this.#takesYes && transition.logged?.entered === "restored");
      if (!transition.live || !isTaken) continue;
      if (this.#passed.has(transition.seq)) continue;
      const queued = found.queued.get(entityKey(transition)) ?? [];
      // A crash left it in the queue and the checkpoint before it.
      if (queued.some((one) => one.transition.seq === transition.seq)) continue;
      const delivery = deliveryOf(transition, null, found);
      this.#log.push(delivery);
      // What a crash makes come again does not wait for what came after it.
      const isBlocked = delivery.earlier.some(({ state, overtaken }) =>
        state !== "dead" && !overtaken
      );
      this.#begin(delivery, isBlocked);
    }
    return begun || found.log.length > 0;
  }

  /** Begins with a delivery, or lets it wait behind one in the queue. */
  #begin(delivery: Delivery, blocked: boolean): void {
    const key = entityKey(delivery.transition);
    const entity = this.#entities.get(key) ?? new EntityDeliveries();
    this.#entities.set(key, entity);
    entity.open++;
    this.#open++;
    if (delivery.queued === null) this.#openLog++;
    delivery.blocked = blocked;
    // In its lane even if it only has to wait: it may not be queued before an
    // earlier one of the lane is.
    this.#lanes.add(key, delivery);
  }

  async #deliver(delivery: Delivery): Promise<void> {
    while (this.#unwritten >= UNWRITTEN && !this.#ending) {
      await new Promise<void>((resolve) => this.#onRoom.push(resolve));
    }
    if (this.#ending) return;
    const { transition, queued } = delivery;
    const entity = this.#entities.get(entityKey(transition));
    if (entity === undefined) return;
    const isHeld = delivery.blocked || entity.blockedAt < transition.seq;
    if (queued === null && isHeld) {
      // Those after it wait as well, also where they were read later.
      entity.blockedAt = Math.min(entity.blockedAt, transition.seq);
      return this.#end(delivery, waiting(transition));
    }
    const { handler, turn } = this.#parts;
    const { signal } = turn;
    const attempt = (queued?.attempts ?? 0) + 1;
    const missed = entity.missedBefore(delivery);
    try {
      const passed = await this.#gate.pass(transition);
      if (this.#ending) return;
      const { transition: handed } = passed;
      if (handed === null) return this.#end(delivery, { kind: "parked" });
      const { state, position } = passed.current ??
        await this.#states.load(transition);
      if (this.#ending) return;
      if (!turn.isHeld) throw lostRace();
      try {
        await handler(handed, {
          attempt,
          signal,
          state,
          position,
          current: isCurrent(handed, state),
          release: state !== null && "release" in state ? state.release : null,
          releaseReason: state !== null && "releaseReason" in state
            ? state.releaseReason
            : null,
          reference: state !== null && "expected" in state &&
              state.facts.match === "matched"
            ? state.expected?.reference ?? null
            : null,
          missed,
          late: (queued?.overtaken ?? false) || handed.seq < transition.seq,
        });
      } catch (error) {
        // Being stopped is no failure of the handler: it is called again.
        if (signal.aborted) return;
        const as = this.#afterFailure(delivery, attempt, error);
        if (as.state === "dead") {
          entity.died.set(transition.seq, transition.key);
        } else if (!as.overtaken) {
          entity.blockedAt = Math.min(entity.blockedAt, transition.seq);
        }
        this.#failed++;
        return this.#end(delivery, { kind: "queued", as });
      }
      entity.delivered.add(transition.seq);
      this.#delivered++;
      const passing = missed.length > 0;
      this.#end(delivery, { kind: "delivered", passing, handed });
    } catch (error) {
      this.#problem ??= { error };
      this.wake();
    }
  }

  #end(delivery: Delivery, outcome: Outcome): void {
    delivery.outcome = outcome;
    this.#ended.push(delivery);
    this.#open--;
    if (delivery.queued === null) this.#openLog--;
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

  /** Writes how deliveries went, and moves the checkpoint, in one batch. */
  async #write(): Promise<void> {
    const { driver, name, turn } = this.#parts;
    const from = this.#place;
    const to = this.#lowWater();
    const ended = this.#ended;
    if (from === null || (ended.length === 0 && to === from.seq)) return;
    this.#ended = [];
    this.#doubt = { ended, to };
    await driver.batch([
      ...turn.guard(),
      ...moveSubscription(name, from, to),
      ...settleQueue(name, settledBy(ended)),
    ], "write");
    this.#written({ ended, to });
  }

  /**
   * Looks whether a write that failed was done after all. So a database that
   * fails, however long, makes nobody be told again as long as this process
   * lives, unless another one delivers meanwhile.
   *
   * @throws {LedgerError} `conflict` when another process has written.
   */
  async #resolveDoubt(): Promise<void> {
    const doubt = this.#doubt;
    const from = this.#place;
    if (doubt === null || from === null) return;
    const { driver, name } = this.#parts;
    const [row] = await driver.batch([selectPlace(name)], "write");
    const place = placeOf(row);
    if (place.revision === from.revision) {
      this.#ended.unshift(...doubt.ended);
    } else if (place.revision === from.revision + 1 && place.seq === doubt.to) {
      this.#written(doubt);
    } else throw lostRace();
  }

  #written({ ended, to }: Written): void {
    this.#doubt = null;
    this.#makeRoom();
    this.#place = { seq: to, revision: (this.#place?.revision ?? 0) + 1 };
    for (const { transition, queued } of ended) {
      if (queued !== null) this.#due.delete(transition.seq);
      const key = entityKey(transition);
      const entity = this.#entities.get(key);
      if (entity !== undefined && --entity.open === 0) {
        this.#entities.delete(key);
      }
    }
  }

  /** Up to here everything in the log is delivered, queued or not taken. */
  #lowWater(): number {
    const open = this.#log.findIndex(({ outcome }) => outcome === null);
    this.#log.splice(0, open < 0 ? this.#log.length : open);
    const first = this.#log[0]?.transition.seq;
    return first === undefined ? this.#readTo ?? 0 : first - 1;
  }

  #skipped(): number {
    return this.#lowWater() - (this.#place?.seq ?? 0);
  }

  #afterFailure(
    { transition, queued }: Delivery,
    attempts: number,
    error: unknown,
  ): QueuedTransition {
    const { maxAttempts = 10, retryDelayMs = redeliveryDelayMs } =
      this.#parts.options;
    return {
      transition,
      state: attempts >= maxAttempts ? "dead" : "retrying",
      attempts,
      dueAt: this.#time(
        Math.min(retryDelayMs(attempts, error), this.#longestDelayMs),
      ),
      error: messageOf(error).slice(0, 500).toWellFormed()
        .replaceAll("\0", ""),
      overtaken: queued?.overtaken ?? false,
    };
  }

  #time(aheadMs = 0): string {
    return new Date(this.#parts.now() + aheadMs).toISOString();
  }
}
