import type { AssetTable } from "../../core/assets/environment.ts";
import type { NewEvent, RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import type { Driver } from "../store/driver/driver.ts";

/** What {@linkcode Months} works with. */
export interface MonthsParts {
  /** A database that has been migrated. */
  readonly driver: Driver;
  /** Asset table that gives the precision of amounts. */
  readonly assets: AssetTable;
  /** The clock, in ms. */
  readonly now: () => number;
  /** Random bytes for salts. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
  /** Version of the fold. */
  readonly foldVersion: number;
  /** Appends events; those stored already are skipped. */
  readonly append: (events: readonly NewEvent[]) => Promise<void>;
}

/** How to follow long work on a month. */
export interface MonthWork {
  /** Stops between two pages of orders. */
  readonly signal?: AbortSignal;
  /** Called with the number of orders read so far. */
  readonly onProgress?: (orders: number) => void;
}
