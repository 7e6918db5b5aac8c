import { Projector, type ProjectorOptions } from "../projection/projector.ts";
import type { Driver } from "../store/driver/driver.ts";
import { copyTimes, selectGoLive } from "../store/tables/go_live.ts";
import { makeLedger } from "../store/stamp.ts";
import {
  selectEventsAfter,
  unpackEvents,
} from "../store/tables/events/chained_events.ts";
import {
  deleteAllButJoined,
  insertRecorded,
} from "../store/tables/events/events.ts";
import {
  importedRanges,
  selectImported,
  upsertImported,
} from "../store/tables/imported.ts";

/** What is folded in a scratch database, and how. */
export interface ScratchProjectionOptions
  extends Omit<ProjectorOptions, "driver"> {
  /** The ledger, which is only read. */
  readonly source: Driver;
  /** An empty database for what is folded. */
  readonly scratch: Driver;
  /** Called after each step with the number of events folded. */
  readonly onProgress?: (events: number) => void;
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
}

/**
 * Folds the events of a ledger from nothing in a scratch database, up to any
 * position, so that states can be compared as of that position. Events are
 * deleted again once they are folded: only the states grow.
 */
export class ScratchProjection {
  readonly #options: ScratchProjectionOptions;
  readonly #projector: Projector;
  #position = 0;
  #events = 0;

  constructor(options: ScratchProjectionOptions) {
    const { source: _, scratch, ...how } = options;
    this.#options = options;
    this.#projector = new Projector({ ...how, driver: scratch });
  }

  /** Events folded so far. */
  get events(): number {
    return this.#events;
  }

  /** Makes the tables. */
  async prepare(): Promise<void> {
    await makeLedger(this.#options.scratch, {
      environment: "sandbox",
      now: () => 0,
    });
  }

  /** Folds up to a position; it never goes back. */
  async catchUpTo(position: number): Promise<void> {
    const { source, scratch } = this.#options;
    const [times] = await source.batch([selectGoLive], "read");
    const [goLive, createdAt, liveFrom] = times?.rows[0] ?? [];
    const livePosition = Number(liveFrom ?? Infinity);
    // What was folded before the ledger went live was sent.
    await this.#foldTo(Math.min(position, livePosition));
    const isLive = this.#position >= livePosition;
    const time = isLive ? goLive as string : null;
    await scratch.batch([copyTimes(createdAt as string, time)], "write");
    await this.#foldTo(position);
  }

  async #foldTo(position: number): Promise<void> {
    const { source, scratch, onProgress, signal } = this.#options;
    while (this.#position < position) {
      signal?.throwIfAborted();
      const [ranges, rows] = await source.batch([
        selectImported,
        selectEventsAfter(this.#position, 4000, false),
      ], "read");
      const all = unpackEvents(rows).map(({ event }) => event);
      const events = all.filter((event) => event.position <= position);
      if (events.length === 0) {
        this.#position = position;
        break;
      }
      await scratch.batch([
        insertRecorded(events),
        ...importedRanges(ranges).map(upsertImported),
      ], "write");
      while ((await this.#projector.step("live")).events > 0) {
        signal?.throwIfAborted();
      }
      await scratch.batch([deleteAllButJoined], "write");
      this.#position = events.at(-1)?.position ?? position;
      this.#events += events.length;
      onProgress?.(this.#events);
    }
  }

  /** Waits for what is being read. */
  close(): Promise<void> {
    return this.#projector.forget();
  }
}
