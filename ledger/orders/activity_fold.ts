/** What was received about an order or a user: counts and times. */
import type { ActivityLabel, Fact, OtpStep } from "../events/fact.ts";
import { earlierTime, laterTime } from "../events/time.ts";
import { addSorted, compareText } from "../machines/sorted_list.ts";

/** One-time-code steps that are kept of a user: the latest ones. */
export const MAX_OTP_STEPS = 20;

/** In the order of their counters. Append only: stored folds count by place. */
const LABELS: readonly ActivityLabel[] = [
  ...["payment_started", "transfer_started", "order_complete"] as const,
  ...["order_failed", "order_cancelled", "unrecognised"] as const,
  ...["quarantined", "order_snapshot", "order_absent"] as const,
  ...["order_contradicted", "registration", "login", "logout"] as const,
  ...["card_added", "verify_start", "verify_retry", "verify_failed"] as const,
  ...["verify_success", "otp_status", "user_snapshot"] as const,
  ...["order_redacted", "order_released", "chain_reading"] as const,
];

/**
 * Adding commutes, so it is the same in any order of arrival; unlike the state
 * it grows with each repeat, and relies on each event being folded once.
 */
export interface ActivityFold {
  /** Counters by place in the label list, without trailing zeros. */
  readonly counts: readonly number[];
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  readonly lastWebhookAt: string | null;
  readonly lastReadAt: string | null;
}

export interface UserActivityFold extends ActivityFold {
  readonly lastLoginAt: string | null;
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

export const noActivity: ActivityFold = {
  ...{ counts: [], firstAt: null, lastAt: null },
  ...{ lastWebhookAt: null, lastReadAt: null },
};

/** Sessions are not counted: one may be linked to an order several times. */
export function evolveActivity(fold: ActivityFold, fact: Fact): ActivityFold {
  const place = LABELS.indexOf(fact.label);
  // What was kept of an event, and was kept again under other names.
  const isKeptAgain = fact.kind === "unreadable" &&
    fact.label === "order_redacted";
  if (place === -1 || isKeptAgain) return fold;
  const readAt = "reading" in fact
    ? fact.reading.readAt
    : fact.kind === "order_absent"
    ? fact.readAt
    : null;
  const lastReadAt = laterTime(fold.lastReadAt, readAt);
  // The erased event that it stands for is counted, and has no time of reading.
  if (fact.redacts !== undefined) {
    return lastReadAt === fold.lastReadAt ? fold : { ...fold, lastReadAt };
  }
  const isWebhook = fact.kind === "webhook" ||
    fact.label === "unrecognised" || fact.label === "quarantined";
  const { lastWebhookAt } = fold;
  const counts = fold.counts.slice();
  while (counts.length <= place) counts.push(0);
  counts[place] = (counts[place] ?? 0) + 1;
  return {
    counts,
    firstAt: earlierTime(fold.firstAt, fact.recordedAt),
    lastAt: laterTime(fold.lastAt, fact.recordedAt),
    lastWebhookAt: isWebhook
      ? laterTime(lastWebhookAt, fact.recordedAt)
      : lastWebhookAt,
    lastReadAt,
  };
}

export function evolveUserActivity(
  fold: UserActivityFold,
  fact: Fact,
): UserActivityFold {
  const activity = evolveActivity(fold, fact);
  const { lastLoginAt, otp } = fold;
  return activity === fold ? fold : {
    ...activity,
    lastLoginAt: fact.label === "login"
      ? laterTime(lastLoginAt, fact.recordedAt)
      : lastLoginAt,
    otp: fact.kind === "webhook" && fact.otp !== null
      ? addSorted(otp, fact.otp, { compare: compareSteps })
        .slice(-MAX_OTP_STEPS)
      : otp,
  };
}

function compareSteps(a: OtpStep, b: OtpStep): number {
  return compareText(a.recordedAt, b.recordedAt) ||
    compareText(a.eventId, b.eventId);
}

/** Gives an activity its labels. */
export function activityOf<Fold extends ActivityFold>(
  { counts, firstAt, lastAt, ...rest }: Fold,
): Activity & Omit<Fold, "counts" | "firstAt" | "lastAt"> {
  return {
    events: counts.reduce((sum, count) => sum + count, 0),
    counts: Object.fromEntries(
      LABELS.map((label, place) => [label, counts[place] ?? 0])
        .filter(([, count]) => count !== 0),
    ),
    firstRecordedAt: firstAt,
    lastRecordedAt: lastAt,
    ...rest,
  };
}
