import {
  ATTEMPTS_FROM_FIRST_MS,
  ATTEMPTS_FROM_PREVIOUS_MS,
} from "../../core/waiting/retry_delay.ts";

/** One delivery of a set with equal bodies. */
export interface EqualDelivery {
  /** Identifier of the event. */
  readonly eventId: string;
  /** When it arrived, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
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

/** How to distinguish repeats from occurrences. */
export interface OccurrenceOptions {
  /**
   * How far a retry may be from its scheduled time. It covers the seconds
   * the service waited for the answer and the delay of its own queue.
   *
   * @default {60000}
   */
  readonly toleranceMs?: number;
}

const minuteMs = 60_000;

/** Every gap that two attempts can have, attempts that never arrived in between. */
const repeatGapsMs: readonly number[] = [
  ...new Set(
    [ATTEMPTS_FROM_FIRST_MS, ATTEMPTS_FROM_PREVIOUS_MS].flatMap((attempts) =>
      attempts.flatMap((later, place) =>
        attempts.slice(0, place).map((earlier) => later - earlier)
      )
    ),
  ),
].sort((a, b) => a - b);

/**
 * Finds out which of several deliveries with equal bodies are repeats. Some
 * events have the same bytes when they really happen twice: a login, a card
 * added, a step of a one-time code. The service also retries unanswered
 * deliveries, and no delivery carries an id.
 *
 * Each delivery repeats at most one other, and is repeated by at most one. An
 * unanswered delivery goes before an answered one, the nearer to a scheduled
 * time before the farther.
 *
 * @throws {RangeError} When a `recordedAt` is not a time.
 */
export function classifyOccurrences(
  deliveries: readonly EqualDelivery[],
  { toleranceMs = minuteMs }: OccurrenceOptions = {},
): Occurrence[] {
  const arrived = deliveries.map((delivery) => ({
    ...delivery,
    atMs: timeMs(delivery.recordedAt),
  })).sort((a, b) =>
    a.atMs - b.atMs ||
    (a.eventId < b.eventId ? -1 : a.eventId > b.eventId ? 1 : 0)
  );
  const longestMs = Math.max(...repeatGapsMs) + toleranceMs;
  let open: typeof arrived = [];
  return arrived.map((delivery) => {
    open = open.filter((earlier) => delivery.atMs - earlier.atMs <= longestMs);
    const [best] = open.flatMap((earlier) => {
      const off = offScheduleMs(delivery.atMs - earlier.atMs);
      return off > toleranceMs ? [] : [{ ...earlier, off }];
    }).sort((a, b) => Number(a.answered) - Number(b.answered) || a.off - b.off);
    // What was repeated once is repeated next from its repeat.
    open = [
      ...open.filter(({ eventId }) => eventId !== best?.eventId),
      delivery,
    ];
    return {
      eventId: delivery.eventId,
      recordedAt: delivery.recordedAt,
      as: best === undefined
        ? "occurrence"
        : best.answered
        ? "possibleRepeat"
        : "retry",
      of: best?.eventId ?? null,
      gapMs: best === undefined ? null : delivery.atMs - best.atMs,
    };
  });
}

/** How far a gap is from the nearest one of the retry schedule. */
function offScheduleMs(gapMs: number): number {
  let nearest = Infinity;
  for (const scheduledMs of repeatGapsMs) {
    nearest = Math.min(nearest, Math.abs(gapMs - scheduledMs));
  }
  return nearest;
}

function timeMs(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) {
    throw new RangeError(
      `Cannot classify deliveries: recordedAt is not a time: ${text}`,
    );
  }
  return ms;
}
