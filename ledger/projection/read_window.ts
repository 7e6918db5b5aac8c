import { decodeOrderFold, decodeUserFold } from "../fold/codec.ts";
import type { Driver } from "../store/driver.ts";
import type { Checkpoints } from "./checkpoint.ts";
import type { FoldCache } from "./fold_cache.ts";
import type { Known, WindowEvent } from "./fold_window.ts";
import { addFolds, lookUp, type MutableKnown, wantedBy } from "./look_up.ts";
import {
  type EventsOptions,
  type EventsRead,
  readEvents,
  selectOrders,
  selectUsers,
} from "./read_events.ts";

/** What a step reads. */
export interface WindowOptions extends EventsOptions {
  /** States kept from the steps before; null reads them with the events. */
  readonly cache: FoldCache | null;
  /** What {@linkcode readAhead} has read after the cache's checkpoint. */
  readonly ahead: EventsRead | null;
  /** Version of the folds that can be read. */
  readonly foldVersion: number;
}

/** What a step has read. */
export interface Window {
  /** Both checkpoints, as of the same moment. */
  readonly checkpoints: Checkpoints;
  /** The events after the lane's checkpoint. */
  readonly events: readonly WindowEvent[];
  /**
   * What is known before them; null when the checkpoint moved meanwhile, or the
   * folds are of another version.
   */
  readonly known: Known | null;
}

/**
 * Reads the events of the step after next, and decodes them, while the next one
 * is written. Events never change, so they hold whoever writes meanwhile.
 *
 * @param driver The database.
 * @param options Which events.
 * @param after Position that the step before them will reach.
 */
export function readAhead(
  driver: Driver,
  options: EventsOptions,
  after: number,
): Promise<EventsRead> {
  return readEvents(driver, options, after, []);
}

/**
 * Reads what one step needs: the next events and the states they touch in one
 * batch; where sessions are about, or many events are folded with states kept
 * in memory, what is still missing in a second one.
 *
 * @param driver The database.
 * @param options What to read.
 */
export async function readWindow(
  driver: Driver,
  options: WindowOptions,
): Promise<Window> {
  const { lane, mode, cache, ahead, foldVersion } = options;
  const { events, states, ...read } = ahead ??
    await readEvents(
      driver,
      options,
      null,
      cache === null ? [selectOrders, selectUsers] : [],
    );
  const at = ahead !== null && cache !== null
    ? cache.at
    : read.checkpoints[lane];
  const checkpoints = { ...read.checkpoints, [lane]: at };
  if (at === null || at.foldVersion !== foldVersion || events.length === 0) {
    return { checkpoints, events, known: null };
  }
  const sessionsAbout = read.anySession || (cache?.sessionsWritten ?? false);
  const wanted = wantedBy(events, sessionsAbout);
  const known: MutableKnown = {
    orders: new Map(),
    users: new Map(),
    sessions: new Map(),
    linkedOrders: new Map(),
  };
  if (cache === null) {
    addFolds(known.orders, states[0], decodeOrderFold);
    addFolds(known.users, states[1], decodeUserFold);
    wanted.orders.clear();
    wanted.users.clear();
  } else {
    cache.take(at, wanted, known);
  }
  const found = await lookUp(
    driver,
    at,
    { mode, lane, wanted, known, readFact: options.readFact },
  );
  return { checkpoints, events, known: found ? known : null };
}
