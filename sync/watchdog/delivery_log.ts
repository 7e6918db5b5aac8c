import { CLOCK_TOLERANCE_MS } from "../../core/time/plausible_time.ts";
import type { EventKind } from "../../ledger/for_sync.ts";

/**
 * How many answers are kept apart: that one was not answered may be reported
 * late.
 */
const remembered = 256;

/** One delivery that reached us. */
interface ReceivedDelivery {
  readonly id: string;
  readonly at: string;
  readonly answered: boolean;
  /** Whether the service has shown the order or user that it names. */
  readonly shown: boolean;
  /** Whether it is about an order. */
  readonly ofOrder: boolean;
}

/** What the recorded events say about webhook delivery: plain data. */
export interface DeliveryLog {
  /** Position of the last event taken in. */
  readonly position: number;
  /** Deliveries of late, oldest first. */
  readonly recent: readonly ReceivedDelivery[];
  /** Named as unanswered before they were stored. */
  readonly unmatched: readonly string[];
  /** The same as {@linkcode DeliveryFacts}, of all that left `recent`. */
  readonly before: DeliveryFacts;
}

/** What is known of delivery at one time. */
export interface DeliveryFacts {
  /** Last delivery that was answered in time; null when none ever was. */
  readonly lastReceivedAt: string | null;
  /**
   * First delivery that was not answered in time since one about an order was;
   * null when all were. A user can log in as often as they like, so webhooks
   * about users say nothing of the others.
   */
  readonly failingSince: string | null;
}

/** One event, as far as delivery is concerned. */
export interface DeliveryLogEntry {
  /** Place in the ledger. */
  readonly position: number;
  /** Kind of fact. */
  readonly kind: EventKind;
  /** Identifier of the event. */
  readonly eventId: string;
  /** Webhook type. */
  readonly type: string | null;
  /** When this ledger learnt it, UTC ISO 8601. */
  readonly recordedAt: string;
  /** Of `delivery_unanswered`: the delivery it is about. */
  readonly unansweredId: string | null;
  /** Of `webhook`: whether the service has shown what it names. */
  readonly shown: boolean;
  /** Of `webhook` and of a reading: whether it is about an order. */
  readonly ofOrder: boolean;
  /** Of a reading: the latest webhook before it that names what it shows. */
  readonly named: {
    /** Identifier of the webhook. */
    readonly eventId: string;
    /** When this ledger learnt it, UTC ISO 8601. */
    readonly recordedAt: string;
  } | null;
}

/**
 * A log that starts after a position.
 *
 * @param position Position of the last event left out.
 * @param lastReceivedAt The last delivery up to there; null when there is none.
 */
export function emptyDeliveryLog(
  position: number,
  lastReceivedAt: string | null = null,
): DeliveryLog {
  return {
    position,
    recent: [],
    unmatched: [],
    before: { lastReceivedAt, failingSince: null },
  };
}

/**
 * Adds one event. Webhooks of the Test button do not count: it also works while
 * delivery is switched off. Webhooks without a type do not count: the service
 * never sends them.
 *
 * Anybody who learns the address can send webhooks. So a webhook counts only
 * after the service has shown the order or user that it names.
 *
 * @param log The log before.
 * @param entry The next event in position order.
 */
export function evolveDeliveryLog(
  log: DeliveryLog,
  entry: DeliveryLogEntry,
): DeliveryLog {
  const { position } = entry;
  if (entry.kind === "delivery_unanswered" && entry.unansweredId !== null) {
    const id = entry.unansweredId;
    if (log.recent.some((delivery) => delivery.id === id)) {
      const recent = log.recent.map((delivery) =>
        delivery.id === id ? { ...delivery, answered: false } : delivery
      );
      return { ...log, position, recent };
    }
    const unmatched = [...log.unmatched, id].slice(-remembered);
    return { ...log, position, unmatched };
  }
  if (entry.named !== null) {
    return withShown(log, position, entry.named, entry.ofOrder);
  }
  if (
    entry.kind !== "webhook" || entry.type === null || entry.type === "test"
  ) {
    return { ...log, position };
  }
  const delivery: ReceivedDelivery = {
    id: entry.eventId,
    at: entry.recordedAt,
    answered: !log.unmatched.includes(entry.eventId),
    shown: entry.shown,
    ofOrder: entry.ofOrder,
  };
  return withDelivery(log, position, delivery);
}

/** The service has shown what a delivery named: now it counts as life. */
function withShown(
  log: DeliveryLog,
  position: number,
  { eventId, recordedAt }: NonNullable<DeliveryLogEntry["named"]>,
  ofOrder: boolean,
): DeliveryLog {
  if (log.recent.some(({ id }) => id === eventId)) {
    const recent = log.recent.map((delivery) =>
      delivery.id === eventId ? { ...delivery, shown: true } : delivery
    );
    return { ...log, position, recent };
  }
  return withDelivery(log, position, {
    id: eventId,
    at: recordedAt,
    answered: !log.unmatched.includes(eventId),
    shown: true,
    ofOrder,
  });
}

function withDelivery(
  log: DeliveryLog,
  position: number,
  delivery: ReceivedDelivery,
): DeliveryLog {
  const recent = [...log.recent, delivery];
  const leaving = recent.length > remembered ? recent.slice(0, 1) : [];
  return {
    position,
    recent: recent.slice(leaving.length),
    unmatched: log.unmatched.filter((id) => id !== delivery.id),
    before: leaving.reduce(takeIn, log.before),
  };
}

/**
 * Sums a log up.
 *
 * @param log The log.
 */
export function deliveryFacts(log: DeliveryLog): DeliveryFacts {
  return log.recent.reduce(takeIn, log.before);
}

/**
 * Drops receipts that are in the future: our clock was set back, and no later
 * change would count. One receipt at the present time takes their place.
 *
 * @param log The log.
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function withoutFuture(log: DeliveryLog, nowMs: number): DeliveryLog {
  const limitMs = nowMs + CLOCK_TOLERANCE_MS;
  const nowIso = new Date(nowMs).toISOString();
  const known = (at: string | null) =>
    at === null || Date.parse(at) <= limitMs ? at : nowIso;
  const recent = log.recent.filter(({ at }) => Date.parse(at) <= limitMs);
  const forgotten = log.recent.length - recent.length;
  const { lastReceivedAt, failingSince } = log.before;
  return {
    ...log,
    recent,
    before: {
      lastReceivedAt: forgotten > 0 ? nowIso : known(lastReceivedAt),
      failingSince: known(failingSince),
    },
  };
}

function takeIn(facts: DeliveryFacts, next: ReceivedDelivery): DeliveryFacts {
  if (!next.answered) {
    return { ...facts, failingSince: facts.failingSince ?? next.at };
  }
  if (!next.shown) return facts;
  const { lastReceivedAt, failingSince } = facts;
  // Deliveries from the spool are stored late: their receipt may lie before.
  const later = lastReceivedAt === null || next.at > lastReceivedAt;
  const clears = next.ofOrder && failingSince !== null &&
    next.at >= failingSince;
  return {
    lastReceivedAt: later ? next.at : lastReceivedAt,
    failingSince: clears ? null : failingSince,
  };
}
