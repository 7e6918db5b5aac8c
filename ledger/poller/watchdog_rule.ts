/** How long a webhook may take before its absence counts. */
export const GRACE_MS = 5 * 60_000;

/** Delivery is off this long after the first failure, read one way. */
export const LADDER_FROM_FIRST_MS = 8 * 3_600_000;

/** Delivery is off this long after the first failure, read the other way. */
export const LADDER_FROM_PREVIOUS_MS = (15 * 60 + 5) * 60_000;

/** A move the service showed, and whether its webhook ever came. */
export interface WatchedMove {
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

/** All that the rule looks at. */
export interface WatchedFacts {
  /** Moves of late. */
  readonly moves: readonly WatchedMove[];
  /** Last delivery answered in time; null when none ever was. */
  readonly lastReceivedAt: string | null;
  /** First delivery since then that was not; null when all were. */
  readonly failingSince: string | null;
  /** Moves before this do not count: nobody was watching. */
  readonly watchedSince: string;
  /** The time, in milliseconds since the epoch. */
  readonly nowMs: number;
}

/**
 * How webhook delivery stands.
 *
 * - `ok`: nothing is overdue.
 * - `suspected`: orders move at the service and no webhook comes any more.
 * - `failing`: deliveries arrive and are not answered in time.
 * - `never_received`: no webhook ever came. Either webhooks are not used here,
 *   or they never worked: worth a look, and no alarm.
 */
export type DeliveryState = "ok" | "suspected" | "failing" | "never_received";

/** How webhook delivery is, as far as can be told from here. */
export interface DeliveryHealth {
  /** How it stands, in one word. */
  readonly state: DeliveryState;
  /** Whether delivery is suspected to be off. */
  readonly deliverySuspected: boolean;
  /** Since when; null when it is not suspected. */
  readonly since: string | null;
  /** Orders that moved with no webhook, once one of them is overdue. */
  readonly silentOrders: number;
  /** Last delivery answered in time; null when none ever was. */
  readonly lastReceivedAt: string | null;
  /** Since when deliveries arrive but are not answered in time; else null. */
  readonly failingSince: string | null;
  /** When the service gives up, in both readings; null when nothing fails. */
  readonly countdown: LadderCountdown | null;
  /** The same in one sentence for people. */
  readonly detail: string;
}

/**
 * When the service switches delivery off. Its documentation does not say from
 * what the retries count, nor rules out that one failure is enough.
 */
export interface LadderCountdown {
  /** First delivery that failed, as far as is known, UTC ISO 8601. */
  readonly firstFailureAt: string;
  /** Off at, when retries count from the first failure, UTC ISO 8601. */
  readonly offAtFromFirst: string;
  /** What is left of that, in milliseconds; negative when over. */
  readonly leftFromFirstMs: number;
  /** Off at, when each retry counts from the one before, UTC ISO 8601. */
  readonly offAtFromPrevious: string;
  /** What is left of that, in milliseconds; negative when over. */
  readonly leftFromPreviousMs: number;
}

/**
 * Decides whether webhook delivery is suspected to be off: an order moved at
 * the service, its webhook is overdue, and no webhook of any order has come
 * since. One lost webhook among others that arrive is not enough, where nothing
 * moves nothing is expected, and where none ever came none can have ceased.
 *
 * @param facts What is known.
 * @param graceMs How long a webhook may take, in milliseconds. @default {300000}
 *
 * @example A quiet night
 * ```ts
 * import { deliveryHealth } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const health = deliveryHealth({
 *   moves: [],
 *   lastReceivedAt: "2026-11-20T22:00:00.000Z",
 *   failingSince: null,
 *   watchedSince: "2026-11-01T00:00:00.000Z",
 *   nowMs: Date.parse("2026-11-21T06:00:00.000Z"),
 * });
 * assert.equal(health.deliverySuspected, false);
 * ```
 */
export function deliveryHealth(
  facts: WatchedFacts,
  graceMs: number = GRACE_MS,
): DeliveryHealth {
  const { lastReceivedAt, failingSince, nowMs } = facts;
  const silent = silentMoves(facts);
  const overdue = silent.some((move) =>
    nowMs - Date.parse(move.movedAt) >= graceMs
  );
  const silentSince = overdue
    ? earliest(silent.map((move) => move.movedAt))
    : null;
  const silentOrders = overdue
    ? new Set(silent.map((move) => move.orderId)).size
    : 0;
  const everReceived = lastReceivedAt !== null || failingSince !== null;
  const since = everReceived ? silentSince : null;
  const state = stateOf(everReceived, since, failingSince);
  const firstFailureAt = earliest(
    [since, failingSince].filter((time) => time !== null),
  );
  return {
    state,
    deliverySuspected: since !== null,
    since,
    silentOrders,
    lastReceivedAt,
    failingSince,
    countdown: firstFailureAt === null
      ? null
      : ladderCountdown(firstFailureAt, nowMs),
    detail: detail(state, { silentSince, silentOrders, ...facts }),
  };
}

/** Moves that no webhook announced, since delivery was last seen alive. */
function silentMoves(facts: WatchedFacts): WatchedMove[] {
  const aliveMs = Math.max(
    Date.parse(facts.watchedSince),
    facts.lastReceivedAt === null
      ? -Infinity
      : Date.parse(facts.lastReceivedAt),
  );
  return facts.moves.filter((move) =>
    !move.announced && Date.parse(move.movedAt) > aliveMs
  );
}

function stateOf(
  everReceived: boolean,
  since: string | null,
  failingSince: string | null,
): DeliveryState {
  if (!everReceived) return "never_received";
  if (since !== null) return "suspected";
  return failingSince === null ? "ok" : "failing";
}

/**
 * Counts both readings of the ladder down.
 *
 * @param firstFailureAt First delivery that failed, UTC ISO 8601.
 * @param nowMs The time, in milliseconds since the epoch.
 *
 * @example Eight hours, or fifteen hours and five minutes
 * ```ts
 * import { ladderCountdown } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const failedAt = "2026-11-20T10:00:00.000Z";
 * const countdown = ladderCountdown(failedAt, Date.parse(failedAt));
 * assert.equal(countdown.offAtFromFirst, "2026-11-20T18:00:00.000Z");
 * assert.equal(countdown.offAtFromPrevious, "2026-11-21T01:05:00.000Z");
 * ```
 */
export function ladderCountdown(
  firstFailureAt: string,
  nowMs: number,
): LadderCountdown {
  const firstMs = Date.parse(firstFailureAt);
  const off = (ladderMs: number) => new Date(firstMs + ladderMs).toISOString();
  return {
    firstFailureAt,
    offAtFromFirst: off(LADDER_FROM_FIRST_MS),
    leftFromFirstMs: firstMs + LADDER_FROM_FIRST_MS - nowMs,
    offAtFromPrevious: off(LADDER_FROM_PREVIOUS_MS),
    leftFromPreviousMs: firstMs + LADDER_FROM_PREVIOUS_MS - nowMs,
  };
}

function detail(
  state: DeliveryState,
  { silentSince, silentOrders, lastReceivedAt, failingSince }: WatchedFacts & {
    readonly silentSince: string | null;
    readonly silentOrders: number;
  },
): string {
  const last = lastReceivedAt === null
    ? "no webhook was ever received in time"
    : `the last webhook was received at ${lastReceivedAt}`;
  const orders = silentOrders === 1 ? "1 order" : `${silentOrders} orders`;
  switch (state) {
    case "ok":
      return `Nothing is overdue; ${last}`;
    case "suspected":
      return `${orders} moved at the service since ${silentSince} without a ` +
        `webhook; ${last}; delivery may be switched off`;
    case "failing":
      return `Deliveries have not been answered in time since ` +
        `${failingSince}; ${last}; the service will switch delivery off`;
    case "never_received":
      return silentSince === null
        ? "No webhook was ever received; none is overdue"
        : `No webhook was ever received, and ${orders} moved at the service ` +
          `since ${silentSince}: either webhooks are not used here, or they ` +
          "never worked";
  }
}

function earliest(times: readonly string[]): string | null {
  return times.reduce<string | null>(
    (first, time) => first === null || time < first ? time : first,
    null,
  );
}
