import { CONTRADICTED_AFTER_MS } from "../recording/readings.ts";
import { WATCH_EVERY_MS } from "../watchdog/watchdog.ts";
import { type Driver, LEASE_MS } from "../../ledger/for_sync.ts";
import type { PollClient } from "../walk/walk.ts";
import type { Recorder, SweepRead } from "../recording/recorder.ts";

export interface SweepContext {
  readonly client: PollClient;
  readonly driver: Driver;
  readonly recorder: Recorder;
  /** The time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Random bytes, for salts and to draw unknown ids. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** Items a window should hold at most. */
  readonly itemsPerWindow: number;
  /** Shortest time between two confirming reads of the same id, in ms. */
  readonly confirmAtLeastMs: number;
  /** How far back the new sweep looks again, in milliseconds. */
  readonly overlapMs: number;
  /** Younger than this the past may still change, in milliseconds. */
  readonly settleMs: number;
  /** How long the service may disagree with a claim, in milliseconds. */
  readonly contradictedAfterMs: number;
  readonly signal?: AbortSignal;
  readonly onRead: (read: SweepRead) => void;
}

/** Items of one page: the most the Data API gives. Source: "Limits". */
export const ITEMS_PER_REQUEST = 20;

/**
 * What is used where the options leave it out, times in ms. Declarations of the
 * package are made file by file, so what stands elsewhere says its type here.
 */
export const POLLER_DEFAULTS = {
  requestsPerSecond: 4,
  burst: 2,
  shares: { new: 2, open: 3, confirm: 3, deep: 2 },
  followEveryMs: 15_000,
  confirmEveryMs: 1000,
  confirmAtLeastMs: 10_000,
  openEveryMs: 5000,
  deepCycleAtLeastMs: 3_600_000,
  itemsPerWindow: 200,
  overlapMs: 120_000,
  settleMs: 60_000,
  contradictedAfterMs: CONTRADICTED_AFTER_MS as number,
  watchEveryMs: WATCH_EVERY_MS as number,
  leaseMs: LEASE_MS as number,
  randomBytes: (length: number): Uint8Array =>
    crypto.getRandomValues(new Uint8Array(length)),
};
