import { fieldsWith } from "../../core/wire/order_fields.ts";
import {
  type OrderReading,
  statedTransactionForm,
} from "../events/order_reading.ts";
import {
  addSorted,
  boundUnknown,
  compareFields,
  compareText,
  type ListRule,
} from "../machines/sorted_list.ts";
import { isKnown, orderRank } from "../machines/order_machine.ts";
import type { Status } from "../machines/transition.ts";
import { compareTimes, earlierTime, laterTime } from "../events/time.ts";
import type { Move } from "../machines/machine.ts";
import {
  type OrderMachine,
  orderMachine,
  type OrderMoveAnomaly,
} from "../machines/order_machine.ts";
import { factsBy, type OrderFacts } from "../events/order_facts.ts";
import { emptyToNull } from "../events/fact_text.ts";

/** Most unknown statuses of readings that are kept. */
const UNKNOWN_STATUSES_KEPT = 10;

/** A status that readings showed. */
export interface ObservedStatus {
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
  const rank = orderRank(a.status) - orderRank(b.status);
  const read = compareTimes(a.readAt, b.readAt);
  return (compareTimes(a.changedAt, b.changedAt) ||
    (a.changedAt === "" ? read || rank : rank || read) ||
    compareWithin(a, b)) > 0;
}

/** What is kept of a reading when it is erased. */
const KEPT = [
  "changedAt",
  "createdAt",
  "statedChangedAt",
  "statedCreatedAt",
  ...fieldsWith("erasure", "kept"),
] as const;

const TX_RANK = { unstated: 0, named: 1, unreadable: 2, empty: 3 } as const;

/** The ids that a reading names: kept when its body is pruned. */
const NAMES = fieldsWith("erasure", "replaced");

/**
 * Orders readings of one moment. What is kept when the rest is erased counts
 * first, so that an erasure leaves the order as it was.
 */
function compareWithin(a: OrderReading, b: OrderReading): number {
  return compareFields(a, b, KEPT) ||
    // Of a transaction, how it is stated is kept.
    TX_RANK[statedTransactionForm(a)] - TX_RANK[statedTransactionForm(b)] ||
    compareFields(a, b, NAMES) || compareText(a.digest, b.digest);
}

/** The readings among which A is chosen. */
export interface OrderReadings {
  /** The latest reading by history whose `changed_at` is plausible. */
  readonly plausible: OrderReading | null;
  /** `read_at` of the last reading whose `changed_at` is plausible. */
  readonly plausibleAt: string | null;
  /** The last reading whose `changed_at` lies ahead of it. */
  readonly ahead: OrderReading | null;
}

/**
 * Adds a reading to those among which A is chosen. One whose time of change is
 * none, or lies ahead of it, is kept apart.
 */
export function addReading(
  { plausible, plausibleAt, ahead }: OrderReadings,
  reading: OrderReading,
): OrderReadings {
  const later = (known: OrderReading | null) =>
    known === null || isLater(reading, known) ? reading : known;
  return reading.statedChangedAt === null
    ? {
      plausible: later(plausible),
      plausibleAt: laterTime(plausibleAt, reading.readAt),
      ahead,
    }
    : { plausible, plausibleAt, ahead: later(ahead) };
}

/**
 * A, the reading that counts. One whose `changed_at` lies ahead of it has no
 * place in the service's history. It counts until the service is read again
 * with a plausible time: a row that was dated 2099 and then corrected must not
 * lose to the wrong one.
 */
export function latestReading(
  { plausible, plausibleAt, ahead }: OrderReadings,
): OrderReading | null {
  return ahead !== null &&
      (plausibleAt === null || compareTimes(ahead.readAt, plausibleAt) > 0)
    ? ahead
    : plausible;
}

/** Whether `a` was read after `b`; what they say decides within one moment. */
export function isReadLater(a: OrderReading, b: OrderReading): boolean {
  return (compareTimes(a.readAt, b.readAt) || compareWithin(a, b)) > 0;
}

/**
 * The reading whose fields an order shows: A, or one without a status where no
 * other is known.
 */
export function visibleReading(
  fold: {
    readonly latest: OrderReading | null;
    readonly statusless: OrderReading | null;
  },
): OrderReading | null {
  return fold.latest ?? fold.statusless;
}

/**
 * Final statuses that readings have shown besides that of the latest: the
 * service has taken a final status back.
 */
export function otherFinals(
  { latest, observedStatuses }: {
    readonly latest: OrderReading | null;
    readonly observedStatuses: readonly ObservedStatus[];
  },
): Status[] {
  if (latest === null) return [];
  return observedStatuses.map(({ status }) => status).filter((status) =>
    orderMove(status, latest.status).anomaly === "final_changed"
  );
}

/** Adds a status that a reading showed: when first, and when last. */
export function addObservedStatus(
  observed: readonly ObservedStatus[],
  { status, changedAt }: OrderReading,
): readonly ObservedStatus[] {
  return boundUnknown(
    addSorted(
      observed,
      { status, first: changedAt, last: changedAt },
      observedStatusRule,
    ),
    (entry) => isKnown(entry.status),
    UNKNOWN_STATUSES_KEPT,
  );
}

const observedStatusRule: ListRule<ObservedStatus> = {
  compare: (a, b) =>
    orderRank(a.status) - orderRank(b.status) ||
    compareText(a.status, b.status),
  merge(known, { status, first: changedAt }) {
    if (changedAt === "") return known;
    const first = earlierTime(known.first || null, changedAt);
    const last = laterTime(known.last, changedAt);
    return first === known.first && last === known.last
      ? known
      : { status, first, last };
  },
};

const same: Move<never> = { kind: "same", anomaly: null };

/**
 * What the table of the machine says of two statuses that follow each other in the
 * service's own history.
 */
export function orderMove(from: Status, to: Status): Move<OrderMoveAnomaly> {
  const [row, column] = [rowOf(from), rowOf(to)];
  // The row of unlisted statuses is about two of them.
  if (row === "unlisted" && from === to) return same;
  return orderMachine.moves[row][column];
}

function rowOf(status: Status): keyof OrderMachine["moves"] {
  return isKnown(status) ? status : "unlisted";
}

/** What a reading alone says of the fields that webhooks state too. */
export function readingFacts(latest: OrderReading): OrderFacts {
  return factsBy((field) => emptyToNull(latest[field]));
}
