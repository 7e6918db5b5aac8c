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

/** Shows the activity of an order to people. */
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
