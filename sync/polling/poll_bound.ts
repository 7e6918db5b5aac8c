import {
  type Driver,
  readSweep,
  type Statement,
  writeSweep,
} from "../../ledger/for_sync.ts";
import type { PollStatus } from "./poll_status.ts";
import type { StalenessBound, WorkCounts } from "./staleness.ts";

/** Name under which it is kept. */
const BOUND = "poll_bound";

/** The bound of a running poller, and the figures behind it. */
export interface PollBound {
  /** Requests per second of all its sweeps together. */
  readonly requestsPerSecond: number;
  /** How much there was to look after when it last counted. */
  readonly counts: WorkCounts;
  /** How old the ledger's information can be at most. */
  readonly staleness: StalenessBound;
}

/**
 * The statement that records the bound of a poller.
 *
 * @param requestsPerSecond Its rate.
 * @param status Where it stands, by its own rate.
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function writePollBound(
  requestsPerSecond: number,
  { counts, staleness }: PollStatus,
  nowMs: number,
): Statement {
  const bound: PollBound = { requestsPerSecond, counts, staleness };
  return writeSweep(BOUND, bound, nowMs);
}

/**
 * Reads the bound of the poller that ran last; null when none ever ran.
 *
 * @param driver The ledger's database.
 */
export async function readPollBound(driver: Driver): Promise<PollBound | null> {
  return await readSweep<PollBound>(driver, BOUND);
}
