import { type Driver, writeSweep } from "../../ledger/for_sync.ts";
import type { PollClient } from "../walk/poll_client.ts";
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
 * Places of a request that urgent ids leave to others that wait, so that nobody
 * can delay those without end.
 */
export const PLACES_FOR_OTHERS = ITEMS_PER_REQUEST / 2;

/** Keeps how far a sweep has come. */
export async function saveProgress(
  { recorder, now }: SweepContext,
  name: string,
  progress: object,
): Promise<void> {
  await recorder.write([writeSweep(name, progress, now())]);
}
