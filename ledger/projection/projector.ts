import type { RecordedEvent } from "../event/event.ts";
import type { Fact } from "../fold/fact.ts";
import { readFact } from "../fold/read_fact.ts";
import type { ResolveOptions } from "../fold/resolve_order.ts";
import { FOLD_VERSION } from "../fold/version.ts";
import type { Driver } from "../store/driver.ts";
import { LedgerError } from "../store/errors.ts";
import {
  type Checkpoint,
  type Checkpoints,
  createCheckpoint,
  type Lane,
  moveCheckpoint,
  sameCheckpoint,
} from "./checkpoint.ts";
import { FoldCache } from "./fold_cache.ts";
import { foldWindow } from "./fold_window.ts";
import type { EventsOptions, EventsRead } from "./read_events.ts";
import { readAhead, readWindow } from "./read_window.ts";
import { writeChanges } from "./write_changes.ts";

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
  /** The fold. */
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
}

/** What one step did. */
export interface Step {
  /** The checkpoints before it. */
  readonly checkpoints: Checkpoints;
  /** Events folded; 0 when there were none, or the lane is not ours to fold. */
  readonly events: number;
  /** Position the lane has reached. */
  readonly position: number;
  /** Whether it wrote transitions that subscriptions wait for. */
  readonly transitions: boolean;
}

/**
 * Folds events into states, step by step. Any number of processes may do so at
 * once: each write is guarded by the checkpoint that was read, and who comes
 * second reads again.
 */
export class Projector {
  readonly #driver: Driver;
  readonly #options: ProjectorOptions;
  readonly #fold: FoldCode;
  readonly #states: ResolveOptions;
  readonly #caches = new Map<Lane, FoldCache>();
  readonly #aheads = new Map<
    Lane,
    { readonly at: Checkpoint; readonly read: Promise<EventsRead | null> }
  >();
  #catchingUp = false;

  /**
   * Folds the events of a database.
   *
   * @param options What to work with.
   */
  constructor(options: ProjectorOptions) {
    this.#driver = options.driver;
    this.#options = options;
    this.#states = options.assets === undefined
      ? {}
      : { assets: options.assets };
    this.#fold = options.fold ?? { version: FOLD_VERSION, readFact };
  }

  /** Version of the fold that this projector runs. */
  get foldVersion(): number {
    return this.#fold.version;
  }

  /**
   * Folds the next events of a lane, if it is this version's to fold.
   *
   * @param lane Which states.
   * @param mostEvents Takes no more than this, unless they were read before.
   * @throws {LedgerError} When the database fails.
   */
  async step(lane: Lane, mostEvents: number = Infinity): Promise<Step> {
    let refused: Checkpoint | null = null;
    for (let lostRaces = 0;;) {
      const cache = this.#cacheOf(lane);
      const mode = lostRaces === 0 ? "read" : "write";
      const limits = this.#limits(cache !== null);
      const maxEvents = Math.min(limits.maxEvents, mostEvents);
      const { maxBytes } = limits;
      const { readFact } = this.#fold;
      const options = { lane, mode, maxEvents, maxBytes, readFact } as const;
      const ahead = await this.#takeAhead(lane, cache);
      const { checkpoints, events, known } = await readWindow(this.#driver, {
        ...options,
        cache,
        ahead,
        foldVersion: this.#fold.version,
      });
      const at = checkpoints[lane];
      if (at === null && lane === "live") {
        await this.#driver.batch(
          [createCheckpoint(lane, this.#fold.version)],
          "write",
        );
        lostRaces++;
        continue;
      }
      if (events.length === 0 && ahead !== null) continue;
      if (
        at === null || at.foldVersion !== this.#fold.version ||
        events.length === 0
      ) {
        if (lane === "live") this.#catchingUp = false;
        return nothing(checkpoints, at?.position ?? 0);
      }
      if (known === null) {
        cache?.clear();
        lostRaces++;
        continue;
      }
      const position = events.at(-1)?.fact.position ?? at.position;
      const more = events.length >= maxEvents;
      // First of all, so that the database reads while this thread folds.
      if (cache !== null && more) {
        this.#readAhead({ ...at, position }, options);
      }
      const changes = foldWindow(events, known, lane === "live");
      try {
        await this.#driver.batch([
          moveCheckpoint(lane, at, position),
          ...writeChanges(changes, {
            ...this.#states,
            generation: at.generation,
            live: lane === "live",
          }),
        ], "write");
      } catch (error) {
        cache?.clear();
        const race = error instanceof LedgerError &&
          error.code === "constraint" && !sameCheckpoint(refused, at);
        if (!race) throw error;
        // The same checkpoint twice is no race: the rows themselves are refused.
        refused = at;
        lostRaces++;
        continue;
      }
      cache?.keep({ ...at, position }, changes);
      if (lane === "live") this.#catchingUp = more;
      return {
        checkpoints,
        events: events.length,
        position,
        transitions: lane === "live" && changes.transitions.length > 0,
      };
    }
  }

  /** Forgets states kept in memory, and waits for what is being read. */
  async forget(): Promise<void> {
    const aheads = [...this.#aheads.values()];
    this.#aheads.clear();
    this.#caches.clear();
    this.#catchingUp = false;
    for (const { read } of aheads) await read;
  }

  /** While few events wait, states are read with them, in one batch. */
  #cacheOf(lane: Lane): FoldCache | null {
    if (lane === "live" && !this.#catchingUp) {
      this.#caches.delete(lane);
      return null;
    }
    const cache = this.#caches.get(lane) ?? new FoldCache();
    this.#caches.set(lane, cache);
    return cache;
  }

  /** Few large steps cost less than many small ones, once many events wait. */
  #limits(bulk: boolean): { maxEvents: number; maxBytes: number } {
    const { maxEvents = 1000, maxBytes = 4 << 20 } = this.#options;
    return { maxEvents: bulk ? 4 * maxEvents : maxEvents, maxBytes };
  }

  #readAhead(at: Checkpoint, options: EventsOptions): void {
    const read = readAhead(this.#driver, options, at.position);
    // What could not be read ahead is read again, and then the error is thrown.
    this.#aheads.set(options.lane, { at, read: read.catch(() => null) });
  }

  async #takeAhead(
    lane: Lane,
    cache: FoldCache | null,
  ): Promise<EventsRead | null> {
    const ahead = this.#aheads.get(lane);
    if (ahead === undefined) return null;
    this.#aheads.delete(lane);
    const read = await ahead.read;
    return cache !== null && sameCheckpoint(cache.at, ahead.at) ? read : null;
  }
}

function nothing(checkpoints: Checkpoints, position: number): Step {
  return { checkpoints, events: 0, position, transitions: false };
}
