import type { OtpStep } from "../events/fact.ts";
import {
  type UserActivity,
  type UserActivityFold,
  userActivityOf,
} from "../orders/activity_fold.ts";
import {
  type StoredTime,
  timeReader,
  timeWriter,
} from "../orders/repeated_times.ts";

/** An activity by place, as the row of a user holds it. */
type StoredActivity = readonly [
  counts: readonly number[],
  firstAt: string | null,
  lastAt: StoredTime,
  lastWebhookAt: StoredTime,
  lastReadAt: StoredTime,
  lastLoginAt: StoredTime,
  otp: readonly OtpStep[],
];

/**
 * The activity of a user as its row holds it, like that of an order: any version
 * reads it, because labels stay at their places.
 *
 * @param fold The activity as folded.
 * @returns JSON that {@linkcode readUserActivity} reads.
 */
export function storeUserActivity(fold: UserActivityFold): string {
  const { counts, firstAt, lastAt, lastWebhookAt, lastReadAt } = fold;
  const once = timeWriter(firstAt);
  const stored: StoredActivity = [
    counts,
    firstAt,
    once(lastAt),
    once(lastWebhookAt),
    once(lastReadAt),
    once(fold.lastLoginAt),
    fold.otp,
  ];
  return JSON.stringify(stored);
}

/**
 * Reads what {@linkcode storeUserActivity} wrote.
 *
 * @param text The stored activity.
 */
export function readUserActivity(text: string): UserActivity {
  const stored: StoredActivity | UserActivity = JSON.parse(text);
  // What earlier versions stored is what readers see.
  if (!isByPlace(stored)) return stored;
  const [counts, firstAt, lastAt, lastWebhookAt, lastReadAt, lastLoginAt, otp] =
    stored;
  const again = timeReader(firstAt);
  return userActivityOf({
    counts,
    firstAt,
    lastAt: again(lastAt),
    lastWebhookAt: again(lastWebhookAt),
    lastReadAt: again(lastReadAt),
    lastLoginAt: again(lastLoginAt),
    otp,
  });
}

function isByPlace(
  stored: StoredActivity | UserActivity,
): stored is StoredActivity {
  return Array.isArray(stored);
}
