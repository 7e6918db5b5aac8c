import type { EventKind } from "../event/event.ts";

/** How many answers are kept apart: late news of one may still come. */
const remembered = 256;

/** One delivery that reached us. */
interface ReceivedDelivery {
  readonly id: string;
  readonly at: string;
  readonly answered: boolean;
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
  /** First delivery since then that was not; null when all were. */
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
 * Takes one event in. The Test button is left out: it also works while delivery
 * is switched off. So is what has no type: the service sends no such thing.
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
  if (
    entry.kind !== "webhook" || entry.type === null || entry.type === "test"
  ) {
    return { ...log, position };
  }
  const delivery: ReceivedDelivery = {
    id: entry.eventId,
    at: entry.recordedAt,
    answered: !log.unmatched.includes(entry.eventId),
  };
  const recent = [...log.recent, delivery];
  const leaving = recent.length > remembered ? recent.slice(0, 1) : [];
  return {
    position,
    recent: recent.slice(leaving.length),
    unmatched: log.unmatched.filter((id) => id !== entry.eventId),
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

function takeIn(facts: DeliveryFacts, next: ReceivedDelivery): DeliveryFacts {
  if (!next.answered) {
    return { ...facts, failingSince: facts.failingSince ?? next.at };
  }
  const { lastReceivedAt } = facts;
  // Deliveries from the spool are stored late: their receipt may lie before.
  const later = lastReceivedAt === null || next.at > lastReceivedAt;
  return {
    lastReceivedAt: later ? next.at : lastReceivedAt,
    failingSince: null,
  };
}
