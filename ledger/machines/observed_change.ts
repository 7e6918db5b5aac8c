import { normaliseTime } from "../../core/time/service_time.ts";
import type { Status } from "./transition.ts";

/** A change of status that the service showed, and that a webhook announces. */
export interface ObservedChange {
  /** The status it changed to. */
  readonly status: Status;
  /** When it changed, by our clock, UTC ISO 8601 with milliseconds. */
  readonly movedAt: string;
  /** When it was requested and seen, by our clock, UTC ISO 8601 with milliseconds. */
  readonly seenAt: string;
}

/** A change the service showed, and whether its webhook ever came. */
export interface WatchedChange {
  /** The order. */
  readonly orderId: string;
  /** Status it changed to. */
  readonly status: string;
  /** When it changed, by our clock, UTC ISO 8601. */
  readonly movedAt: string;
  /** When we saw it, by our clock, UTC ISO 8601. */
  readonly seenAt: string;
  /** Whether a webhook announced it. */
  readonly announced: boolean;
}

/** A reading of an order, beside the one before it. */
export interface TwoReadings {
  /** The reading before; null when this is the first. */
  readonly before: {
    /** Status then; null when the service did not know the order. */
    readonly status: Status | null;
    /** When it was requested, by our clock, UTC ISO 8601. */
    readonly requestedAt: string;
  } | null;
  /** Status now. */
  readonly status: Status;
  /** `changed_at` as sent; the service's clock. */
  readonly changedAt: string | null;
  /** When the service answered; the service's clock where it states it. */
  readonly readAt: string;
  /** When it was requested, by our clock, UTC ISO 8601 with milliseconds. */
  readonly requestedAt: string;
}

/**
 * Statuses that a webhook announces, and the types that claim them. `pending` is
 * left out: its webhook follows the first confirmation, long after the status.
 */
export const ANNOUNCED: Readonly<Record<string, readonly string[]>> = {
  progress: ["payment_started"],
  success: ["order_complete"],
  failed: ["order_failed"],
  cancelled: ["order_cancelled", "order_canceled"],
};

/**
 * Finds out whether a reading shows a change, and when it happened by our
 * clock.
 *
 * The age of the change is taken between two times of the service, so a clock
 * that is minutes off does no harm; and it cannot have happened before the
 * reading that did not show it.
 */
export function observedChange(readings: TwoReadings): ObservedChange | null {
  const { before, status, requestedAt: seenAt } = readings;
  if (!Object.hasOwn(ANNOUNCED, status) || before?.status === status) {
    return null;
  }
  const seenMs = Date.parse(seenAt);
  const changedAt = normaliseTime(readings.changedAt);
  const ageMs = changedAt === null
    ? 0
    : Math.max(0, Date.parse(readings.readAt) - Date.parse(changedAt));
  const earliestMs = before === null
    ? -Infinity
    : Date.parse(before.requestedAt);
  // The earlier request lies ahead where our clock was set back since.
  const movedMs = Math.min(
    seenMs,
    Math.max(earliestMs, seenMs - (ageMs || 0)),
  );
  return { status, movedAt: new Date(movedMs).toISOString(), seenAt };
}
