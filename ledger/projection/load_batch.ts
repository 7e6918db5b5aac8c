import type { Driver } from "../store/driver/driver.ts";
import {
  type BatchEvent,
  type EventsOptions,
  type LoadedStates,
  readEvents,
} from "./batch.ts";
import type { CatchUp } from "./catch_up.ts";
import type { Checkpoints } from "../store/tables/checkpoints.ts";
import { decodeOrderFold, decodeUserFold } from "./codec/fold_codec.ts";
import {
  addFolds,
  isAnyMissing,
  loadStates,
  missingKeys,
  movedWindows,
  type MutableLoadedStates,
} from "./load_states.ts";

/** What a step reads. */
export interface LoadBatchOptions extends EventsOptions {
  /** Version of the folds that can be read. */
  readonly foldVersion: number;
  /** What is in memory while many events wait; null while few do. */
  readonly catchUp: CatchUp | null;
  /**
   * The write of the step before, where that is not waited for: what follows it
   * is loaded. Null where the slot's checkpoint is what counts.
   */
  readonly writing: Promise<unknown> | null;
}

/** What a step has read. */
export interface LoadedBatch {
  /** All checkpoints, as of the same moment. */
  readonly checkpoints: Checkpoints;
  /** The events after the slot's checkpoint. */
  readonly events: readonly BatchEvent[];
  /**
   * What is known before them; null when there are no events, or the states are
   * of another version of the fold.
   */
  readonly states: LoadedStates | null;
}

/**
 * Reads what one step needs. The next events and the states that they name come
 * in one batch; what changed since is in memory, and only what the partner
 * expects of them needs a second batch.
 *
 * @param options What to read.
 * @throws {LedgerError} `conflict` when the checkpoint moved between the two.
 */
export async function loadBatch(
  driver: Driver,
  options: LoadBatchOptions,
): Promise<LoadedBatch> {
  const { slot, mode, catchUp, writing, foldVersion, readFact } = options;
  const ahead = await catchUp?.takeEvents() ?? null;
  const before = ahead === null && writing === null
    ? null
    : catchUp?.at ?? null;
  const read = ahead ??
    await readEvents(driver, options, before?.position ?? null);
  const at = before ?? read.checkpoints[slot];
  const checkpoints = { ...read.checkpoints, [slot]: at };
  const { events } = read;
  if (at === null || at.foldVersion !== foldVersion || events.length === 0) {
    return { checkpoints, events, states: null };
  }
  const missing = missingKeys(events);
  const states: MutableLoadedStates = {
    orders: new Map(),
    users: new Map(),
    expectations: [],
    // A later one is an event of this batch, or of one to come.
    rules: read.rules.filter(({ position }) => position <= at.position),
    successes: [],
    linkedOrders: new Map(),
  };
  catchUp?.takeFolds(at, missing, states);
  if (before === null || catchUp?.completes(read.checkpoints[slot])) {
    addFolds(states.orders, read.orders, decodeOrderFold);
    addFolds(states.users, read.users, decodeUserFold);
    missing.orders.clear();
    missing.users.clear();
  }
  const anyExpected = read.anyExpected || catchUp?.expectationsWritten === true;
  const how = { mode, slot, states, readFact };
  if (anyExpected && missing.orders.size > 0) {
    // Which expectations count depends on what is known of the orders.
    await writing;
    await loadStates(driver, at, { ...how, missing, windows: [] });
    const windows = movedWindows(events, states.orders);
    const nothing = missingKeys([]);
    await loadStates(driver, at, { ...how, missing: nothing, windows });
  } else {
    const windows = anyExpected ? movedWindows(events, states.orders) : [];
    if (isAnyMissing(missing) || windows.length > 0) await writing;
    await loadStates(driver, at, { ...how, missing, windows });
  }
  return { checkpoints, events, states };
}
