/** When, and how urgently, the service should be asked about an order or a user. */
import { normaliseTime } from "../../core/time/service_time.ts";
import { isFinal } from "../machines/order_machine.ts";
import {
  isFinalVerification,
  isKnownVerification,
} from "../machines/user_machines.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { contestingClaims, decideOrderStatus } from "../orders/order_status.ts";
import {
  nextFinalReadMs,
  requestAgainAfterMs,
} from "../orders/reread_schedule.ts";
import type { SqlValue } from "../store/driver/driver.ts";
import { msOf } from "../store/events.ts";
import type { UserFold } from "../users/user_fold.ts";

/** 2: a final status was claimed for the first time; 1: another; 0: nothing new. */
export type Urgency = 0 | 1 | 2;

export interface ToConfirm {
  readonly at: string;
  readonly urgency: Urgency;
  /** Position of the last of them that makes it urgent; 0 where none does. */
  readonly claimedBy: number;
}

/**
 * Each status that no reading has shown makes an order or a user urgent once, however
 * often it is claimed.
 */
export function urgencyOf(
  before: OrderFold | UserFold | undefined,
  after: OrderFold | UserFold,
): Urgency {
  const known = before === undefined ? [] : statedIn(before);
  const first = statedIn(after).flatMap(({ claimed, shown, ends }, at) =>
    claimed.filter((status) =>
      !shown.includes(status) && !known[at]?.claimed.includes(status)
    ).map(ends)
  );
  return first.length === 0 ? 0 : first.includes(true) ? 2 : 1;
}

function statedIn(fold: OrderFold | UserFold) {
  if ("orderId" in fold) {
    return [{
      claimed: fold.claims.map(({ status }): string => status),
      shown: fold.observedStatuses.map(({ status }): string => status),
      ends: isFinal,
    }];
  }
  return ([
    [fold.lkyc, fold.observedLkyc],
    [fold.fkyc, fold.observedFkyc],
  ] as const).map(([claims, shown]) => ({
    claimed: claims.map(({ state }) => state).filter(isKnownVerification),
    ...{ shown: [...shown], ends: isFinalVerification },
  }));
}

/**
 * Columns that say when to ask. `named_at`: from when on, because a webhook named it;
 * `urgency` and the position `claimed_by` say how soon, `wanted_at` when the last such
 * webhook came. `due_at`: when an order is asked about again without one.
 */
export const DUE_COLUMNS: readonly string[] = [
  ...["urgency", "claimed_by", "wanted_at", "named_at", "due_at"],
];

/** What the service refuses is not urgent: it is asked for alone, and less often. */
const urgencyNow = (entity: string) =>
  `CASE WHEN excluded.urgency > 0 AND EXISTS (SELECT 1 FROM set_aside AS a
      WHERE a.entity = '${entity}' AND a.id = excluded.id AND a.kind = 'refused')
    THEN 0 ELSE excluded.urgency END`;

/** The rest that the last ask began; one that never ends counts as none. */
const rested = (entity: string) =>
  `coalesce((SELECT b.rests_until FROM observations AS b
      WHERE b.entity = '${entity}' AND b.id = excluded.id
        AND b.rests_until > excluded.wanted_at
        AND b.rests_until <= excluded.wanted_at + b.rest_ms),
    excluded.wanted_at)`;

/**
 * What the columns become of a row that is there. What waits keeps its place, however
 * often it is named again; what is urgent is due at once, though it rests.
 */
export function dueChanges(table: "orders" | "users"): string {
  const entity = table === "orders" ? "order" : "user";
  const urgent = urgencyNow(entity);
  const named = `urgency = max(urgency, ${urgent}),
    claimed_by = max(claimed_by, iif(${urgent} > 0, excluded.claimed_by, 0)),
    wanted_at = coalesce(max(wanted_at, excluded.wanted_at), excluded.wanted_at,
      wanted_at),
    named_at = CASE WHEN excluded.wanted_at IS NULL THEN named_at
      WHEN ${urgent} > 0 THEN min(coalesce(named_at, excluded.wanted_at),
        excluded.wanted_at)
      ELSE coalesce(named_at, ${rested(entity)}) END`;
  return table === "users" ? `${named}, due_at = NULL` : `${named},
    due_at = CASE WHEN excluded.due_at IS NULL THEN NULL
      WHEN due_at IS NULL OR (open = 1 AND excluded.open = 0) THEN excluded.due_at
      ELSE min(due_at, excluded.due_at) END`;
}

/** What these columns say of a row by itself; an order is asked about without a webhook too. */
export function dueOf(
  fold: OrderFold | UserFold,
  named: ToConfirm | undefined,
): Readonly<Record<string, SqlValue>> {
  const namedMs = named === undefined ? null : Date.parse(named.at);
  const lastMs = msOf(fold.activity.lastAt);
  return {
    urgency: named?.urgency ?? 0,
    claimed_by: named?.claimedBy ?? 0,
    wanted_at: namedMs,
    named_at: namedMs,
    due_at: lastMs === null || "userId" in fold ? null : dueAfter(fold, lastMs),
  };
}

/** When to ask again of an order that nothing new asks for; null: never. */
function dueAfter(fold: OrderFold, lastMs: number): number | null {
  return isOpen(fold)
    ? lastMs + requestAgainAfterMs(lastMs - lastMovedMs(fold))
    : nextFinalReadMs(finalSinceMs(fold, lastMs), lastMs);
}

/** Whether the service should go on being asked about an order. */
export function isOpen(fold: OrderFold): boolean {
  const { status, trust } = decideOrderStatus(fold);
  return trust !== "confirmed" || !isFinal(status) ||
    contestingClaims(fold).length > 0;
}

/** When an order last changed, as far as is known, in ms since the epoch. */
export function lastMovedMs(fold: OrderFold): number {
  const times = [
    fold.latest?.changedAt ?? "",
    ...fold.claims.map((claim) => claim.lastAt),
  ].map((time) => Date.parse(time));
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}

/** Since when an order is final; a time yet to come counts as now. */
export function finalSinceMs(fold: OrderFold, nowMs: number): number {
  const changedAt = normaliseTime(fold.latest?.changedAt ?? null);
  const changedMs = changedAt === null ? NaN : Date.parse(changedAt);
  return changedMs <= nowMs ? changedMs : nowMs;
}
