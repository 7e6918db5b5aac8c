import { type RetryCountdown, retryCountdown } from "./retry_countdown.ts";

/** How long a webhook may take before its absence counts. */
export const GRACE_MS = 5 * 60_000;

/** Silent orders that are named, at most. */
const SILENT_IDS = 20;

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

/** All that the rule looks at. */
export interface WatchedFacts {
  /** Changes of late. */
  readonly changes: readonly WatchedChange[];
  /** Last delivery answered in time; null when none ever was. */
  readonly lastReceivedAt: string | null;
  /** First delivery since then that was not; null when all were. */
  readonly failingSince: string | null;
  /**
   * When the oldest delivery came that was answered and waits to go into the
   * ledger; null when none waits. The ledger knows only what came before.
   */
  readonly waitingSince: string | null;
  /** Changes before this do not count: the watchdog did not run then. */
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
  /** When the first of them moved, UTC ISO 8601; null without any. */
  readonly silentSince: string | null;
  /** The first of them, at most twenty. */
  readonly silentOrderIds: readonly string[];
  /** Last delivery answered in time; null when none ever was. */
  readonly lastReceivedAt: string | null;
  /** Since when deliveries arrive but are not answered in time; else null. */
  readonly failingSince: string | null;
  /**
   * When the oldest delivery came that was answered and waits to go into the
   * ledger, UTC ISO 8601; null when none waits. Later ones may wait as well.
   */
  readonly waitingSince: string | null;
  /** When the service gives up, in both readings; null when nothing fails. */
  readonly countdown: RetryCountdown | null;
}

/**
 * Decides whether webhook delivery is suspected to be off: an order moved at
 * the service, its webhook is overdue, and no webhook of any order has come
 * since. One lost webhook among others that arrive is not enough, where nothing
 * moves nothing is expected, and where none ever came none can have ceased. While
 * deliveries wait to go into the ledger, a webhook is overdue only if it was by
 * the time that the oldest of them came: later ones may wait as well.
 *
 * @param facts What is known.
 * @param graceMs How long a webhook may take, in milliseconds. @default {300000}
 *
 * @example A quiet night
 * ```ts
 * import { deliveryHealth } from "@rampkit/onramp/ledger/internals";
 * import assert from "node:assert/strict";
 *
 * const health = deliveryHealth({
 *   changes: [],
 *   lastReceivedAt: "2026-11-20T22:00:00.000Z",
 *   failingSince: null,
 *   waitingSince: null,
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
  const { lastReceivedAt, failingSince, waitingSince, nowMs } = facts;
  const knownUntilMs = waitingSince === null
    ? nowMs
    : Math.min(nowMs, Date.parse(waitingSince));
  const silent = silentChanges(facts);
  const overdue = silent.some((change) =>
    knownUntilMs - Date.parse(change.movedAt) >= graceMs
  );
  const silentSince = overdue
    ? earliest(silent.map((change) => change.movedAt))
    : null;
  const silentIds = overdue
    ? [...new Set(silent.map((change) => change.orderId))]
    : [];
  const silentOrders = silentIds.length;
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
    silentSince,
    silentOrderIds: silentIds.slice(0, SILENT_IDS),
    lastReceivedAt,
    failingSince,
    waitingSince,
    countdown: firstFailureAt === null
      ? null
      : retryCountdown(firstFailureAt, nowMs),
  };
}

/** Changes that no webhook announced, since delivery was last seen alive. */
function silentChanges(facts: WatchedFacts): WatchedChange[] {
  const aliveMs = Math.max(
    Date.parse(facts.watchedSince),
    facts.lastReceivedAt === null
      ? -Infinity
      : Date.parse(facts.lastReceivedAt),
  );
  return facts.changes.filter((change) =>
    !change.announced && Date.parse(change.movedAt) > aliveMs
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

function earliest(times: readonly string[]): string | null {
  return times.reduce<string | null>(
    (first, time) => first === null || time < first ? time : first,
    null,
  );
}
