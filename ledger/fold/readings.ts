import type { OrderReading } from "./fact.ts";
import { isKnown, orderRank } from "./order_rank.ts";
import type { Status } from "./order_state.ts";
import { compareTimes, earlierTime, laterTime } from "./time.ts";

/** Unknown statuses of readings that are kept. */
export const UNKNOWN_STATUSES_KEPT = 10;

/** A status that readings showed. */
export interface Shown {
  /** The status. */
  readonly status: Status;
  /** Earliest `changed_at` it was shown with; empty when none was stated. */
  readonly first: string;
  /** Latest `changed_at` it was shown with; empty when none was stated. */
  readonly last: string;
}

/**
 * Whether `a` comes after `b` in the service's history. Between two readings
 * that state no time of change, the later reading is the later state.
 */
export function isLater(a: OrderReading, b: OrderReading): boolean {
  const changed = compareTimes(a.changedAt, b.changedAt);
  if (changed !== 0) return changed > 0;
  const rank = orderRank(a.status) - orderRank(b.status);
  const read = compareTimes(a.readAt, b.readAt);
  if (a.changedAt === "") {
    if (read !== 0) return read > 0;
    if (rank !== 0) return rank > 0;
  } else {
    if (rank !== 0) return rank > 0;
    if (read !== 0) return read > 0;
  }
  return a.digest > b.digest;
}

/** Adds a status that a reading showed: when first, and when last. */
export function addShown(
  shown: readonly Shown[],
  { status, changedAt }: OrderReading,
): readonly Shown[] {
  const rank = orderRank(status);
  let at = 0;
  for (const entry of shown) {
    if (entry.status === status) {
      const first = changedAt === ""
        ? entry.first
        : earlierTime(entry.first === "" ? null : entry.first, changedAt);
      const last = laterTime(entry.last, changedAt);
      return first === entry.first && last === entry.last
        ? shown
        : shown.with(at, { status, first, last });
    }
    const other = orderRank(entry.status);
    if (other > rank || (other === rank && entry.status > status)) break;
    at++;
  }
  const next = shown.toSpliced(at, 0, {
    status,
    first: changedAt,
    last: changedAt,
  });
  const unknown = next.findIndex((entry) => !isKnown(entry.status));
  return unknown === -1 ? next : next.slice(0, unknown + UNKNOWN_STATUSES_KEPT);
}
