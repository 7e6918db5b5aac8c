import type { Driver } from "../../ledger/for_sync.ts";
import type { PollClient } from "../walk/poll_client.ts";
import type { SweepRead } from "../recording/record_page.ts";
import type { Recorder } from "../recording/recorder.ts";

/** What every sweep works with. */
export interface SweepContext {
  /** Makes the requests. */
  readonly client: PollClient;
  /** The ledger's database. */
  readonly driver: Driver;
  /** Writes what was read. */
  readonly recorder: Recorder;
  /** The time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Random bytes, for salts and to draw unknown ids. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** Items a window should hold at most. */
  readonly itemsPerWindow: number;
  /**
   * Shortest time between two confirming reads of the same id, in milliseconds.
   *
   * @default {10000}
   */
  readonly confirmAtLeastMs?: number;
  /** How far back the new sweep looks again, in milliseconds. */
  readonly overlapMs: number;
  /** Younger than this the past may still change, in milliseconds. */
  readonly settleMs: number;
  /** How long the service may disagree with a claim, in milliseconds. */
  readonly contradictedAfterMs: number;
  /** Ends the work. */
  readonly signal?: AbortSignal;
  /** Called with every reading. */
  readonly onRead: (read: SweepRead) => void;
}
