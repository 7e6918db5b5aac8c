import { goLive } from "../../ledger/for_sync.ts";
import { CONTRADICTED_AFTER_MS } from "../recording/contradiction.ts";
import type { PollClient } from "../walk/poll_client.ts";
import type { PollLedger } from "../polling/poll_ledger.ts";
import {
  cryptoBytes,
  OVERLAP_MS,
  SETTLE_MS,
} from "../polling/poller_settings.ts";
import type { SweepContext } from "../polling/sweep_context.ts";
import { Recorder } from "../recording/recorder.ts";

/** Orders or users a window should hold at most. */
const ITEMS_PER_WINDOW = 200;

/** What work beside a poller is given. */
export interface BesidePollerOptions {
  /** The ledger to record in. */
  readonly ledger: PollLedger;
  /** Makes the requests; its own rate limit holds. */
  readonly client: PollClient;
  /** The clock, in ms. @default {Date.now} */
  readonly now?: () => number;
  /** Random bytes for salts. Defaults to those of the runtime. */
  readonly randomBytes?: (length: number) => Uint8Array;
  /** Younger than this, the past may still change, in ms. @default {60000} */
  readonly settleMs?: number;
  /** Ends the work. */
  readonly signal?: AbortSignal;
}

/**
 * What to work with beside a poller: nothing is written under its lease. A
 * ledger that is not live goes live, as with a poller: what had happened before
 * somebody first asked is historic.
 */
export async function besidePoller(
  options: BesidePollerOptions,
  onRead: SweepContext["onRead"],
): Promise<SweepContext> {
  const { ledger: { driver }, client, signal } = options;
  const now = options.now ?? Date.now;
  const randomBytes = options.randomBytes ?? cryptoBytes;
  await goLive(driver, undefined, now());
  return {
    client,
    driver,
    recorder: new Recorder({ driver, lease: null, now, randomBytes }),
    now,
    randomBytes,
    itemsPerWindow: ITEMS_PER_WINDOW,
    overlapMs: OVERLAP_MS,
    settleMs: options.settleMs ?? SETTLE_MS,
    contradictedAfterMs: CONTRADICTED_AFTER_MS,
    ...(signal === undefined ? {} : { signal }),
    onRead,
  };
}
