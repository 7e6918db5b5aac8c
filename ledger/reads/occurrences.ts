/** Which deliveries of the same bytes repeat another, and which happened again. */
import {
  ATTEMPTS_FROM_FIRST_MS,
  ATTEMPTS_FROM_PREVIOUS_MS,
} from "../../core/waiting/retry_delay.ts";
import { compareText } from "../machines/sorted_list.ts";
import type { Driver } from "../store/driver/driver.ts";
import { select } from "../store/database.ts";
import { timeOf } from "../store/events.ts";
import { ownerOf, readDelivery } from "./deliveries.ts";
import { where } from "./pages.ts";

/** One delivery of a set with equal bodies. */
export interface EqualDelivery
  extends Pick<Occurrence, "eventId" | "recordedAt"> {
  /** False when it is known that its sender got no timely 2xx. */
  readonly answered: boolean;
}

/** How a delivery relates to others with the same body. */
export interface Occurrence {
  /** Identifier of the event. */
  readonly eventId: string;
  /** When it arrived, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /**
   * - `occurrence`: it happened again.
   * - `retry`: it repeats a delivery that is known to be unanswered.
   * - `possibleRepeat`: it comes at a time of the retry schedule after an answered
   *   delivery, so that the answer may have been lost, or it happened again.
   */
  readonly as: "occurrence" | "retry" | "possibleRepeat";
  /** `eventId` of the delivery it repeats; null for an occurrence. */
  readonly of: string | null;
  /** Time since that delivery; null for an occurrence. */
  readonly gapMs: number | null;
}

/**
 * How far a retry may be from its scheduled time. It covers the seconds the service
 * waited for the answer and the delay of its own queue.
 */
const TOLERANCE_MS = 60_000;

/** Every gap that two attempts can have, attempts that never arrived in between. */
const REPEAT_GAPS_MS = [ATTEMPTS_FROM_FIRST_MS, ATTEMPTS_FROM_PREVIOUS_MS]
  .flatMap((attempts) =>
    attempts.flatMap((later, place) =>
      attempts.slice(0, place).map((earlier) => later - earlier)
    )
  );

const LONGEST_MS = Math.max(...REPEAT_GAPS_MS) + TOLERANCE_MS;

/**
 * Finds out which of several deliveries with equal bodies are repeats: a login may
 * happen twice with the same bytes, and the service repeats without an id what was not
 * answered. Each repeats one other at most, and is repeated once: an unanswered one
 * goes before an answered one, the nearer to a scheduled time before the farther.
 */
export function classifyOccurrences(
  deliveries: readonly EqualDelivery[],
): Occurrence[] {
  const arrived = deliveries.map((one) => ({
    ...one,
    atMs: Date.parse(one.recordedAt),
  })).sort((a, b) => a.atMs - b.atMs || compareText(a.eventId, b.eventId));
  let open: typeof arrived = [];
  return arrived.map((delivery) => {
    const { eventId, recordedAt, atMs } = delivery;
    open = open.filter((earlier) => atMs - earlier.atMs <= LONGEST_MS);
    const [best] = open
      .map((one) => ({ ...one, off: offScheduleMs(atMs - one.atMs) }))
      .filter(({ off }) => off <= TOLERANCE_MS).sort((a, b) =>
        Number(a.answered) - Number(b.answered) || a.off - b.off
      );
    // What was repeated once is repeated next from its repeat.
    open = [...open.filter((one) => one.eventId !== best?.eventId), delivery];
    if (best === undefined) {
      return { eventId, recordedAt, as: "occurrence", of: null, gapMs: null };
    }
    const as = best.answered ? "possibleRepeat" : "retry";
    return {
      eventId,
      recordedAt,
      as,
      of: best.eventId,
      gapMs: atMs - best.atMs,
    };
  });
}

/** How far a gap is from the nearest one of the retry schedule. */
function offScheduleMs(gapMs: number): number {
  return Math.min(...REPEAT_GAPS_MS.map((one) => Math.abs(gapMs - one)));
}

/** The whole ladder of attempts of one delivery fits into this time. */
const LADDER_MS = 2 * 86_400_000;

/** Deliveries of the same bytes that are held against each other. */
const MOST_EQUAL = 50_000;

/**
 * Reads the deliveries whose bytes equal those of one, by time of arrival. Of what
 * names no order and no user those that came within two days are read.
 */
export async function readOccurrences(
  driver: Driver,
  eventId: string,
): Promise<Occurrence[]> {
  const delivery = await readDelivery(driver, eventId);
  if (delivery === null) return [];
  const { orderId, userId, body, receivedAt } = delivery;
  const owner = ownerOf({ orderId, userId });
  const receivedMs = Date.parse(receivedAt);
  const from = owner === null
    ? "events AS e"
    : "mentions AS m CROSS JOIN events AS e ON e.position = m.position";
  const { sql, args } = owner ?? where(
    "e.recorded_at BETWEEN ? AND ?",
    ...[receivedMs - LADDER_MS, receivedMs + LADDER_MS],
  );
  const rows = await select(
    driver,
    `SELECT e.id, e.recorded_at, EXISTS (SELECT 1 FROM unanswered AS u
        WHERE u.event_id = e.id)
      FROM ${from} WHERE ${sql} AND e.kind = 'webhook' AND e.body = ?
      LIMIT ${MOST_EQUAL}`,
    ...[...args, body],
  );
  return classifyOccurrences(
    rows.map(([id, recordedAt, isLate]) => ({
      eventId: String(id),
      recordedAt: timeOf(recordedAt) ?? "",
      answered: isLate !== 1,
    })),
  );
}
