import { type BatchEvent, readEvents } from "./batch.ts";
import {
  type Checkpoint,
  type Checkpoints,
  createCheckpoint,
  type ProjectionSlot,
} from "../store/tables/checkpoints.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import type { Driver } from "../store/driver/driver.ts";
import {
  CatchUp,
  type NothingPrepared,
  type PreparedStep,
} from "./catch_up.ts";
import { randomPool } from "../store/random_pool.ts";
import { batchStatements } from "./batch_statements.ts";
import { foldBatch } from "./fold_batch.ts";
import { FOLD_VERSION } from "./fold_version.ts";
import { loadBatch } from "./load_batch.ts";
import { selectGoLive } from "../store/tables/go_live.ts";
import type { LedgerTimes } from "../releases/historic.ts";
import { ReleaseLoader } from "./load_releases.ts";
import { logReleases, NOTHING_LOGGED } from "../releases/log_releases.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";

/** The part of the fold that tests replace to play another version. */
export interface FoldCode {
  /** Version of the fold. */
  readonly version: number;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
}

/** What a projector works with. */
export interface ProjectorOptions extends ResolveOptions {
  /** The database. */
  readonly driver: Driver;
  /**
   * The fold.
   *
   * @default the fold of this version
   */
  readonly fold?: FoldCode;
  /**
   * Most events of one step.
   *
   * @default 1000
   */
  readonly maxEvents?: number;
  /**
   * Most bytes of bodies of one step.
   *
   * @default 4 MiB
   */
  readonly maxBytes?: number;
  /**
   * Redacts arrivals about what was erased, before they are folded.
   *
   * @default {nothing is erased}
   */
  readonly redactNewEvents?: (
    driver: Driver,
    events: readonly BatchEvent[],
    parts: ResolveOptions & {
      readonly live: Checkpoint;
      readonly readFact: (event: RecordedEvent) => Fact;
      readonly randomBytes: (length: number) => Uint8Array;
    },
  ) => Promise<boolean>;
  /** Random bytes for what is redacted. @default crypto.getRandomValues */
  readonly randomBytes?: (length: number) => Uint8Array;
}

/** What one step did. */
export interface Step {
  /** The checkpoints before it. */
  readonly checkpoints: Checkpoints;
  /** Events folded; 0 when there were none, or the slot is not ours to fold. */
  readonly events: number;
  /** Position the slot has reached. */
  readonly position: number;
  /** Whether it wrote transitions that subscriptions wait for. */
  readonly transitions: boolean;
  /** Whether it queued what the poller is to confirm. */
  readonly requests: boolean;
}

/** How a step is prepared. */
interface PrepareOptions {
  readonly mode: "read" | "write";
  readonly mostEvents: number;
  /** The write of the step before, while it is under way. */
  readonly writing: Promise<unknown> | null;
}

/**
 * Folds events into states, step by step: load, fold, commit. Any number of
 * processes may do so at once: each commit is guarded by the checkpoint that
 * was loaded, and the process that comes second loads again.
 */
export class Projector {
  readonly #driver: Driver;
  readonly #options: ProjectorOptions;
  readonly #fold: FoldCode;
  readonly #resolve: ResolveOptions;
  #isLogToEmpty = false;
  readonly #catchUps = new Map<ProjectionSlot, CatchUp>();
  readonly #releases: ReleaseLoader;
  #times: LedgerTimes | null = null;

  /**
   * Folds the events of a database.
   *
   * @param options What to work with.
   */
  constructor(options: ProjectorOptions) {
    this.#driver = options.driver;
    this.#releases = new ReleaseLoader(options.driver);
    this.#options = options;
    this.#resolve = options.assets === undefined
      ? {}
      : { assets: options.assets };
    this.#fold = options.fold ?? { version: FOLD_VERSION, readFact };
  }

  /** How states are worked out of folds. */
  get resolve(): ResolveOptions {
    return this.#resolve;
  }

  /** Version of the fold that this projector runs. */
  get foldVersion(): number {
    return this.#fold.version;
  }

  /**
   * Folds the next events of a slot, if it is this version's to fold.
   *
   * @param slot Which states.
   * @param mostEvents Takes no more than this, unless they were read ahead.
   * @throws {LedgerError} When the database fails.
   */
  step(slot: ProjectionSlot, mostEvents: number = Infinity): Promise<Step> {
    return retryLostRaces((mode) => this.#step(slot, mostEvents, mode));
  }

  async #step(
    slot: ProjectionSlot,
    mostEvents: number,
    mode: "read" | "write",
  ): Promise<Step> {
    const driver = this.#driver;
    // The log holds events as they were before they were redacted.
    if (this.#isLogToEmpty) {
      this.#isLogToEmpty = await driver.emptyLog?.() === false;
    }
    const known = this.#catchUps.get(slot) ?? null;
    const step = known?.takePrepared() ??
      await this.#prepare(slot, { mode, mostEvents, writing: null });
    if (step === "again") return this.#step(slot, mostEvents, "write");
    if (step.statements === null) {
      this.#catchUps.delete(slot);
      const { checkpoints } = step;
      const position = checkpoints[slot]?.position ?? 0;
      const nothing = { transitions: false, requests: false };
      return { checkpoints, events: 0, position, ...nothing };
    }
    const writing = driver.batch(step.statements, "write");
    writing.catch(() => {}); // It is waited for below.
    try {
      if (step.manyWait) {
        const catchUp = known ?? new CatchUp();
        this.#catchUps.set(slot, catchUp);
        catchUp.keepFolds(step);
        catchUp.keepPrepared(
          await this.#prepareNext(slot, mostEvents, writing),
        );
      } else {
        this.#catchUps.delete(slot);
      }
      await writing;
    } catch (error) {
      this.#catchUps.delete(slot);
      throw error;
    }
    const { checkpoints, events, to, changes, releases } = step;
    return {
      checkpoints,
      events,
      position: to.position,
      transitions: releases.transitions.length > 0,
      requests: changes.ordersToConfirm.size + changes.usersToConfirm.size > 0,
    };
  }

  /**
   * Folds the next step while the database writes the one before. Whatever goes
   * wrong, the next step is loaded anew and meets it itself.
   */
  async #prepareNext(
    slot: ProjectionSlot,
    mostEvents: number,
    writing: Promise<unknown>,
  ): Promise<PreparedStep | null> {
    try {
      const next = await this.#prepare(slot, {
        mode: "read",
        mostEvents,
        writing,
      });
      return next === "again" || next.statements === null ? null : next;
    } catch {
      return null;
    }
  }

  /**
   * Loads the next events and folds them.
   *
   * @returns Only the checkpoints where there is nothing for this version to
   * fold; `again` when something was written that has to be read first.
   */
  async #prepare(
    slot: ProjectionSlot,
    { mode, mostEvents, writing }: PrepareOptions,
  ): Promise<PreparedStep | NothingPrepared | "again"> {
    const driver = this.#driver;
    const catchUp = this.#catchUps.get(slot) ?? null;
    const { version: foldVersion, readFact } = this.#fold;
    const { maxEvents: stepEvents = 1000 } = this.#options;
    // A thousand events are less than a megabyte, unless somebody sends others.
    const stepBytes = catchUp === null ? 1 << 20 : 4 << 20;
    const { maxBytes = stepBytes } = this.#options;
    // Once many events wait, few large steps cost less than many small ones.
    const wanted = catchUp === null ? stepEvents : 4 * stepEvents;
    const maxEvents = Math.min(wanted, mostEvents);
    const read = { slot, mode, maxEvents, maxBytes, readFact };
    const loaded = await loadBatch(driver, {
      ...read,
      foldVersion,
      catchUp,
      writing,
    });
    const { checkpoints, events, states } = loaded;
    const from = checkpoints[slot];
    if (from === null && slot === "live") {
      await driver.batch([createCheckpoint(slot, foldVersion)], "write");
      return "again";
    }
    if (from === null || states === null) {
      return { checkpoints, statements: null };
    }

    if (slot === "live" && from.erasures > 0) {
      const { randomBytes = randomPool(), redactNewEvents } = this.#options;
      // Which click ids several people share is read from what a step writes.
      await writing;
      const redacting = { ...this.#resolve, live: from, readFact, randomBytes };
      if (await redactNewEvents?.(driver, events, redacting)) {
        this.#catchUps.delete(slot);
        this.#isLogToEmpty = true;
        return "again";
      }
    }

    const position = events.at(-1)?.fact.position ?? from.position;
    const to = { ...from, position };
    const manyWait = events.length >= maxEvents;
    // Before folding, so that the database reads while this thread folds.
    if (manyWait) {
      catchUp?.readAhead(to, () => readEvents(driver, read, position));
    }
    const collect = slot === "live"
      ? { ...this.#resolve, ...await this.#readTimes() }
      : null;
    const changes = foldBatch(events, states, collect);
    const { transitions } = changes;
    const isByHand = transitions.some((one) => "took" in one);
    // What a person did may concern any order of the step before.
    if (isByHand) await writing;
    const logged = isByHand || transitions.some((one) => "now" in one)
      ? await this.#releases.load(transitions, { mode, from, catchUp })
      : NOTHING_LOGGED;
    const releases = logReleases(transitions, logged);
    const statements = batchStatements(changes, {
      slot,
      from,
      to,
      resolve: this.#resolve,
      releases,
    });
    return {
      checkpoints,
      from,
      to,
      events: events.length,
      manyWait: manyWait && !isByHand,
      changes,
      releases,
      statements,
    };
  }

  /** When the ledger went live; null before it has. Once stamped it stays. */
  async #readTimes(): Promise<LedgerTimes> {
    if (this.#times !== null) return this.#times;
    const [found] = await this.#driver.batch([selectGoLive], "write");
    const [goLive, createdAt] = found?.rows[0] ?? [];
    const times = {
      goLive: goLive as string | null ?? null,
      createdAt: createdAt as string,
    };
    if (times.goLive !== null) this.#times = times;
    return times;
  }

  /** Drops the states in memory, and waits for pending reads. */
  async forget(): Promise<void> {
    const catchUps = [...this.#catchUps.values()];
    this.#catchUps.clear();
    for (const catchUp of catchUps) await catchUp.takeEvents();
  }
}
