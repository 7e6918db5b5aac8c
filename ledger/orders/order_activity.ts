import {
  type Activity,
  type ActivityFold,
  activityOf,
} from "./activity_fold.ts";
import type { ClaimedStatus } from "../machines/order_machine.ts";
import type { OrderFold } from "./order_fold.ts";
import { type StoredTime, timeReader, timeWriter } from "./repeated_times.ts";
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

/** The time of a claim; 1 where it is that of the last webhook. */
type ClaimTime = StoredTime | 1;

/** An activity by place, as its row holds it. */
export type StoredActivity = readonly [
  counts: readonly number[],
  firstAt: string | null,
  lastAt: StoredTime,
  lastWebhookAt: StoredTime,
  lastReadAt: StoredTime,
  claims: readonly (readonly [ClaimedStatus, ClaimTime, ClaimState])[],
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
  const once = timeWriter(firstAt);
  const stored: StoredActivity = [
    counts,
    firstAt,
    once(lastAt),
    once(lastWebhookAt),
    once(lastReadAt),
    fold.claims.map((claim) => [
      claim.status,
      claim.lastAt === lastWebhookAt ? 1 : once(claim.lastAt),
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
  const { activity, claims } = foldedActivity(stored);
  return { ...activityOf(activity), claims };
}

/** The activity of an order as it is folded, and what is shown of its claims. */
export interface FoldedActivity {
  readonly activity: ActivityFold;
  readonly claims: OrderActivity["claims"];
}

/**
 * What {@linkcode storeOrderActivity} wrote, as it was folded.
 *
 * @param stored The parsed JSON.
 */
export function foldedActivity(stored: StoredActivity): FoldedActivity {
  const [counts, firstAt, last, lastWebhook, lastRead, claims] = stored;
  const again = timeReader(firstAt);
  const lastAt = again(last);
  const lastWebhookAt = again(lastWebhook);
  const lastReadAt = again(lastRead);
  return {
    activity: { counts, firstAt, lastAt, lastWebhookAt, lastReadAt },
    claims: claims.map(([status, time, state]) => ({
      status,
      lastRecordedAt: (time === 1 ? lastWebhookAt : again(time)) ?? "",
      state,
    })),
  };
}

function isByPlace(
  stored: StoredActivity | OrderActivity,
): stored is StoredActivity {
  return Array.isArray(stored);
}
