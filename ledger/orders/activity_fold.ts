import type { ActivityLabel, Fact, OtpStep } from "../events/fact.ts";
import { earlierTime, laterTime } from "../events/time.ts";
import {
  addSorted,
  compareText,
  type ListRule,
} from "../machines/sorted_list.ts";

/** One-time-code steps that are kept of a user: the latest ones. */
export const MAX_OTP_STEPS = 20;

/**
 * Labels in the order of their counters. Append only: stored folds and
 * activities hold the counters by place, whichever version wrote them.
 */
const labels: readonly ActivityLabel[] = [
  "payment_started",
  "transfer_started",
  "order_complete",
  "order_failed",
  "order_cancelled",
  "unrecognised",
  "quarantined",
  "order_snapshot",
  "order_absent",
  "order_contradicted",
  "registration",
  "login",
  "logout",
  "card_added",
  "verify_start",
  "verify_retry",
  "verify_failed",
  "verify_success",
  "otp_status",
  "user_snapshot",
  "order_redacted",
  "order_released",
  "chain_reading",
];

const placeOf: Readonly<Partial<Record<ActivityLabel, number>>> = Object
  .fromEntries(labels.map((label, place) => [label, place]));

/**
 * What was received about an order or a user: counts and times, as stored.
 *
 * Adding commutes, so it is the same in any order of arrival; unlike the state
 * it grows with each repeat, and relies on each event being folded once.
 */
export interface ActivityFold {
  /** Counters by place in the label list, without trailing zeros. */
  readonly counts: readonly number[];
  /** `recordedAt` of the first fact. */
  readonly firstAt: string | null;
  /** `recordedAt` of the last fact. */
  readonly lastAt: string | null;
  /** `recordedAt` of the last webhook. */
  readonly lastWebhookAt: string | null;
  /** `readAt` of the last reading, whether it was there or not. */
  readonly lastReadAt: string | null;
}

/** Activity of a user, as stored. */
export interface UserActivityFold extends ActivityFold {
  /** `recordedAt` of the last login. */
  readonly lastLoginAt: string | null;
  /** The last steps of one-time codes, oldest first. */
  readonly otp: readonly OtpStep[];
}

/** What was received about an order or a user, for people. */
export interface Activity {
  /** Facts folded, repeats included. */
  readonly events: number;
  /** Facts by label; labels never seen are left out. */
  readonly counts: Readonly<Partial<Record<ActivityLabel, number>>>;
  /** When the first fact was recorded, UTC ISO 8601. */
  readonly firstRecordedAt: string | null;
  /** When the last fact was recorded, UTC ISO 8601. */
  readonly lastRecordedAt: string | null;
  /** When the last webhook was recorded, UTC ISO 8601. */
  readonly lastWebhookAt: string | null;
  /** When the service was last read, as far as recorded, UTC ISO 8601. */
  readonly lastReadAt: string | null;
}

/** Activity of a user, for people. */
export interface UserActivity extends Activity {
  /** When the last login was recorded, UTC ISO 8601. */
  readonly lastLoginAt: string | null;
  /** The last 20 steps of one-time codes, oldest first. */
  readonly otp: readonly OtpStep[];
}

/** Activity without any fact. */
export const noActivity: ActivityFold = {
  counts: [],
  firstAt: null,
  lastAt: null,
  lastWebhookAt: null,
  lastReadAt: null,
};

/** Activity of a user without any fact. */
export const noUserActivity: UserActivityFold = {
  ...noActivity,
  lastLoginAt: null,
  otp: [],
};

/**
 * Adds a fact to the activity of an order. Sessions are not counted: one may be
 * linked to an order in several ways, at several times.
 */
export function evolveActivity(fold: ActivityFold, fact: Fact): ActivityFold {
  const place = placeOf[fact.label];
  if (place === undefined) return fold;
  // What was kept of an event, and was kept again under other names.
  if (fact.kind === "unreadable" && fact.label === "order_redacted") {
    return fold;
  }
  const lastReadAt = laterTime(fold.lastReadAt, readAtOf(fact));
  // The erased event that it stands for is counted, and has no time of reading.
  if (fact.redacts !== undefined) {
    return lastReadAt === fold.lastReadAt ? fold : { ...fold, lastReadAt };
  }
  return {
    counts: increment(fold.counts, place),
    firstAt: earlierTime(fold.firstAt, fact.recordedAt),
    lastAt: laterTime(fold.lastAt, fact.recordedAt),
    lastWebhookAt: isWebhook(fact)
      ? laterTime(fold.lastWebhookAt, fact.recordedAt)
      : fold.lastWebhookAt,
    lastReadAt,
  };
}

/** Adds a fact to the activity of a user. */
export function evolveUserActivity(
  fold: UserActivityFold,
  fact: Fact,
): UserActivityFold {
  const activity = evolveActivity(fold, fact);
  if (activity === fold) return fold;
  return {
    ...activity,
    lastLoginAt: fact.label === "login"
      ? laterTime(fold.lastLoginAt, fact.recordedAt)
      : fold.lastLoginAt,
    otp: fact.kind === "webhook" && fact.otp !== null
      ? addSorted(fold.otp, fact.otp, otpRule).slice(-MAX_OTP_STEPS)
      : fold.otp,
  };
}

/** Gives an activity its labels. */
export function activityOf(fold: ActivityFold): Activity {
  const counts: Partial<Record<ActivityLabel, number>> = {};
  let events = 0;
  labels.forEach((label, place) => {
    const count = fold.counts[place] ?? 0;
    if (count > 0) counts[label] = count;
    events += count;
  });
  return {
    events,
    counts,
    firstRecordedAt: fold.firstAt,
    lastRecordedAt: fold.lastAt,
    lastWebhookAt: fold.lastWebhookAt,
    lastReadAt: fold.lastReadAt,
  };
}

/** Gives the activity of a user its labels. */
export function userActivityOf(fold: UserActivityFold): UserActivity {
  return {
    ...activityOf(fold),
    lastLoginAt: fold.lastLoginAt,
    otp: fold.otp,
  };
}

function increment(counts: readonly number[], place: number): number[] {
  const next = counts.slice();
  while (next.length <= place) next.push(0);
  next[place] = (next[place] ?? 0) + 1;
  return next;
}

function isWebhook(fact: Fact): boolean {
  return fact.kind === "webhook" || fact.label === "unrecognised" ||
    fact.label === "quarantined";
}

function readAtOf(fact: Fact): string | null {
  switch (fact.kind) {
    case "order_snapshot":
    case "user_snapshot":
      return fact.reading.readAt;
    case "order_absent":
      return fact.readAt;
    default:
      return null;
  }
}

const otpRule: ListRule<OtpStep> = {
  compare: (a, b) =>
    compareText(a.recordedAt, b.recordedAt) ||
    compareText(a.eventId, b.eventId),
};
