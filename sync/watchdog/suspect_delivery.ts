import type { WatchedChange } from "../../ledger/for_sync.ts";

/** How many of the last changes are looked at. */
const lastChanges = 30;
/** So many silent ones among them are an alarm. */
const silentAmongLast = 3;
/** So many silent ones in a row, up to the last change, are an alarm. */
const silentInARow = 2;
/** So many announced ones in a row are the all-clear. */
export const ANNOUNCED_IN_A_ROW = 5;

/**
 * How many changes decide. Of thirty changes without an alarm at most two are
 * silent, and then five announced ones stand in a row. So whatever came before
 * the last sixty changes nothing.
 */
export const DECIDING_CHANGES: number = 2 * lastChanges;

/** What some changes say of delivery. */
export interface DeliverySuspicion {
  /** Whether delivery is suspected to be off. */
  readonly suspected: boolean;
  /** The silent changes since five in a row were announced, by time. */
  readonly silent: readonly WatchedChange[];
}

/**
 * Decides from changes alone whether delivery is suspected to be off. Each
 * change stands alone: a delivery about one order says nothing about another.
 * So nobody can hide silent changes but by many announced ones of their own.
 *
 * It is suspected as soon as 3 of the last 30 changes, or the last 2, are
 * silent, and until 5 in a row were announced. A webhook that comes after all
 * makes its change an announced one.
 *
 * @param changes Changes whose webhook has had its time, by the time of change.
 * @returns Whether it is suspected, and what is silent.
 *
 * @example One lost webhook raises no alarm, two in a row do
 * ```ts ignore
 * suspectDelivery([announced, silent]).suspected; // false
 * suspectDelivery([announced, silent, silent]).suspected; // true
 * ```
 */
export function suspectDelivery(
  changes: readonly WatchedChange[],
): DeliverySuspicion {
  let suspected = false;
  let silent: WatchedChange[] = [];
  let announcedSince = 0;
  let silentSince = 0;
  let amongLast = 0;
  for (const [at, change] of changes.entries()) {
    const leaving = changes[at - lastChanges];
    if (leaving !== undefined && !leaving.announced) amongLast--;
    if (change.announced) {
      announcedSince++;
      silentSince = 0;
    } else {
      announcedSince = 0;
      silentSince++;
      amongLast++;
      silent.push(change);
    }
    if (announcedSince >= ANNOUNCED_IN_A_ROW) {
      suspected = false;
      silent = [];
    } else if (amongLast >= silentAmongLast || silentSince >= silentInARow) {
      suspected = true;
    }
  }
  return { suspected, silent };
}
