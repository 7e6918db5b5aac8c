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

/** What a running poller promises, and by which figures. */
export interface PollBound {
  /** Requests per second of all its sweeps together. */
  readonly requestsPerSecond: number;
  /** How much there was to look after when it last counted. */
  readonly counts: WorkCounts;
  /** How old the ledger's information can be at most. */
  readonly staleness: StalenessBound;
}

/**
 * The statement that records what a poller promises.
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
 * Reads what the poller that ran last has promised; null where none ever ran.
 *
 * @param driver The ledger's database.
 */
export async function readPollBound(driver: Driver): Promise<PollBound | null> {
  return await readSweep<PollBound>(driver, BOUND);
}
