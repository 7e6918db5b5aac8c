import { type Activity, activityOf } from "./activity_fold.ts";
import type { ClaimedStatus } from "../machines/order_machine.ts";
import type { OrderFold } from "./order_fold.ts";
import { type ClaimState, claimState } from "./order_status.ts";

/**
 * What was received about an order, and when. Unlike the state it grows with
 * each repeat; it does not depend on the order of arrival.
 */
export interface OrderActivity extends Activity {
  /** Every status webhooks claimed, by rank. */
  readonly claims: readonly {
    /** The claimed status. */
    readonly status: ClaimedStatus;
    /** When a webhook last claimed it, UTC ISO 8601 with milliseconds. */
    readonly lastRecordedAt: string;
    /** State of the claim. */
    readonly state: ClaimState;
  }[];
}

/**
 * Shows the activity of an order to people.
 *
 * @param fold Folded facts of the order.
 * @returns Its activity.
 *
 * @example An order of which nothing was received
 * ```ts
 * import { initialOrderFold } from "./order_fold.ts";
 * import { orderActivity } from "./order_activity.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(orderActivity(initialOrderFold("01ORDER")).events, 0);
 * ```
 */
export function orderActivity(fold: OrderFold): OrderActivity {
  return {
    ...activityOf(fold.activity),
    claims: fold.claims.map((claim) => ({
      status: claim.status,
      lastRecordedAt: claim.lastAt,
      state: claimState(fold, claim),
    })),
  };
}

/** A time, or 0 where the time before it is the same. */
type StoredTime = string | null | 0;

/** An activity by place, as its row holds it. */
type StoredActivity = readonly [
  counts: readonly number[],
  firstAt: string | null,
  lastAt: StoredTime,
  lastWebhookAt: StoredTime,
  lastReadAt: StoredTime,
  claims: readonly (readonly [ClaimedStatus, StoredTime, ClaimState])[],
];

/**
 * The activity of an order as its row holds it: without names, and a time that
 * is the one before it once. Any version reads it, because labels stay at their
 * places.
 *
 * @param fold Folded facts of the order.
 * @returns JSON that {@linkcode readOrderActivity} reads.
 */
export function storeOrderActivity(fold: OrderFold): string {
  const { counts, firstAt, lastAt, lastWebhookAt, lastReadAt } = fold.activity;
  let before = firstAt;
  const once = (time: string | null): StoredTime => {
    if (time === before) return 0;
    return before = time;
  };
  const stored: StoredActivity = [
    counts,
    firstAt,
    once(lastAt),
    once(lastWebhookAt),
    once(lastReadAt),
    fold.claims.map((claim) => [
      claim.status,
      once(claim.lastAt),
      claimState(fold, claim),
    ]),
  ];
  return JSON.stringify(stored);
}

/**
 * Reads what {@linkcode storeOrderActivity} wrote.
 *
 * @param text The stored activity.
 */
export function readOrderActivity(text: string): OrderActivity {
  const stored: StoredActivity | OrderActivity = JSON.parse(text);
  // What version 1 of the schema stored is what readers see.
  if (!isByPlace(stored)) return stored;
  const [counts, firstAt, last, lastWebhook, lastRead, claims] = stored;
  let before = firstAt;
  const again = (time: StoredTime): string | null =>
    time === 0 ? before : before = time;
  const lastAt = again(last);
  const lastWebhookAt = again(lastWebhook);
  const lastReadAt = again(lastRead);
  return {
    ...activityOf({ counts, firstAt, lastAt, lastWebhookAt, lastReadAt }),
    claims: claims.map(([status, time, state]) => ({
      status,
      lastRecordedAt: again(time) ?? "",
      state,
    })),
  };
}

function isByPlace(
  stored: StoredActivity | OrderActivity,
): stored is StoredActivity {
  return Array.isArray(stored);
}
