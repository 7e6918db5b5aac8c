import type { WatchedChange } from "../../ledger/for_sync.ts";
import {
  ATTEMPTS_FROM_FIRST_MS,
  ATTEMPTS_FROM_PREVIOUS_MS,
} from "../../core/waiting/waiting.ts";

/**
 * How long a webhook may take before its absence counts: the service tries a
 * second time after five minutes.
 */
export const GRACE_MS: number = 6 * 60_000;

const SILENT_IDS = 20;

/** All that the rule looks at. */
export interface WatchedFacts {
  /** The last changes, by the time of change: at least the last sixty. */
  readonly changes: readonly WatchedChange[];
  /** Last delivery answered in time; null when none ever was. */
  readonly lastReceivedAt: string | null;
  /**
   * First delivery that was not answered in time since one about an order was;
   * null when all were.
   */
  readonly failingSince: string | null;
  /**
   * When the oldest delivery came that was answered and waits to go into the
   * ledger; null when none waits. The ledger knows only what came before.
   */
  readonly waitingSince: string | null;
  /** Changes before this do not count: the watchdog did not run then. */
  readonly watchedSince: string;
  /** Times since then in which the watchdog did not look. @default {[]} */
  readonly pauses?: readonly Pause[];
  readonly nowMs: number;
}

/**
 * State of webhook delivery.
 *
 * - `ok`: nothing is overdue.
 * - `suspected`: orders move at the service, and their webhooks do not come.
 * - `failing`: deliveries arrive and are not answered in time.
 * - `never_received`: no webhook came of an order or user that the service
 *   has shown. Either webhooks are not used here, or they never worked: worth a
 *   look, but no alarm.
 */
export type DeliveryState = "ok" | "suspected" | "failing" | "never_received";

/** Health of webhook delivery, as far as can be seen from here. */
export interface DeliveryHealth {
  /** Its state. */
  readonly state: DeliveryState;
  /** Whether delivery is suspected to be off. */
  readonly deliverySuspected: boolean;
  /** Since when; null when it is not suspected. */
  readonly since: string | null;
  /**
   * While it is suspected and webhooks come again: how many more changes in a row
   * have to be announced until it no longer is; 0 once they only have to have
   * had their time. Else null.
   */
  readonly clearsAfter: number | null;
  /** Orders that moved and whose webhook is overdue. */
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
 * Decides whether webhook delivery is suspected to be off: of the last 30
 * changes of orders at the service 3 are silent, or the last 2 are. A change is
 * silent when no webhook that claims its status has come in its time. One lost
 * webhook among others that arrive is not enough, where nothing moves nothing is
 * expected, and where no webhook ever came none can have ceased. While
 * deliveries wait to go into the ledger, a webhook is overdue only if it was by
 * the time that the oldest of them came: later ones may wait as well.
 */
export function deliveryHealth(
  facts: WatchedFacts,
): DeliveryHealth {
  const { lastReceivedAt, failingSince, waitingSince, nowMs } = facts;
  const settled = settledChanges(facts);
  const { suspected, silent } = suspectDelivery(settled);
  const silentSince = silent[0]?.movedAt ?? null;
  const silentIds = [...new Set(silent.map(({ orderId }) => orderId))];
  const everReceived = lastReceivedAt !== null || failingSince !== null ||
    waitingSince !== null;
  const since = everReceived && suspected ? silentSince : null;
  const firstFailureAt = earliest(since, failingSince);
  return {
    state: !everReceived
      ? "never_received"
      : since !== null
      ? "suspected"
      : failingSince === null
      ? "ok"
      : "failing",
    deliverySuspected: since !== null,
    since,
    clearsAfter: since === null ? null : clearsAfter(facts, settled),
    silentOrders: silentIds.length,
    silentSince,
    silentOrderIds: silentIds.slice(0, SILENT_IDS),
    ...{ lastReceivedAt, failingSince, waitingSince },
    countdown: firstFailureAt === null
      ? null
      : retryCountdown(firstFailureAt, nowMs),
  };
}

/**
 * Changes whose webhook has had its time, whether it came or not. One that came
 * early says nothing yet: others of the same time may still be silent. Of one
 * time the silent ones come last, so that announced ones of the same time never
 * clear them: after our clock was set back all changes of a poll have one time.
 */
export function settledChanges(
  facts: WatchedFacts,
): WatchedChange[] {
  const { waitingSince, watchedSince, pauses = [], nowMs } = facts;
  const knownUntilMs = waitingSince === null
    ? nowMs
    : Math.min(nowMs, Date.parse(waitingSince));
  return inOrder(
    facts.changes.filter((change) =>
      change.movedAt > watchedSince &&
      webhookDueMs(change, pauses) <= knownUntilMs
    ),
  );
}

/** How many more changes have to be announced; null while the last is silent. */
function clearsAfter(
  { changes }: WatchedFacts,
  settled: readonly WatchedChange[],
): number | null {
  // What was announced early counts here, though it does not clear anything yet.
  const known = inOrder(
    changes.filter((one) => one.announced || settled.includes(one)),
  );
  const inARow = known.length - 1 -
    known.findLastIndex(({ announced }) => !announced);
  return inARow === 0 ? null : Math.max(0, ANNOUNCED_IN_A_ROW - inARow);
}

function inOrder(changes: readonly WatchedChange[]): WatchedChange[] {
  return changes.toSorted((a, b) =>
    a.movedAt < b.movedAt
      ? -1
      : a.movedAt > b.movedAt
      ? 1
      : Number(b.announced) - Number(a.announced)
  );
}

/** The first of some times, UTC ISO 8601; null where there are none. */
export function earliest(...times: (string | null)[]): string | null {
  return times.filter((time) => time !== null).sort()[0] ?? null;
}

/** Delivery is off this long after the first failure, read one way. */
export const RETRIES_FROM_FIRST_MS: number = Math.max(
  ...ATTEMPTS_FROM_FIRST_MS,
);

/** Delivery is off this long after the first failure, read the other way. */
export const RETRIES_FROM_PREVIOUS_MS: number = Math.max(
  ...ATTEMPTS_FROM_PREVIOUS_MS,
);

/**
 * When the service switches delivery off. Its documentation does not say when
 * the retries begin to count. One failure may be enough.
 */
export interface RetryCountdown {
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

function retryCountdown(
  firstFailureAt: string,
  nowMs: number,
): RetryCountdown {
  const firstMs = Date.parse(firstFailureAt);
  const off = (afterMs: number) => new Date(firstMs + afterMs).toISOString();
  return {
    firstFailureAt,
    offAtFromFirst: off(RETRIES_FROM_FIRST_MS),
    leftFromFirstMs: firstMs + RETRIES_FROM_FIRST_MS - nowMs,
    offAtFromPrevious: off(RETRIES_FROM_PREVIOUS_MS),
    leftFromPreviousMs: firstMs + RETRIES_FROM_PREVIOUS_MS - nowMs,
  };
}

/** A webhook may come so long before the service shows its change, in ms. */
const AHEAD_MS = 60_000;

/** A time in which the watchdog did not look, because nothing ran here. */
export interface Pause {
  /** When it looked last before, in milliseconds since the epoch. */
  readonly fromMs: number;
  /** When it looked again, in milliseconds since the epoch. */
  readonly untilMs: number;
}

/**
 * When the webhook of a change should have come: after the grace. Where nothing
 * ran here when the order changed, the service's attempts failed until then: a
 * webhook that has not come is due the grace after the next attempt, by the
 * later reading of the schedule.
 */
export function webhookDueMs(
  { movedAt, announced }: Pick<WatchedChange, "movedAt" | "announced">,
  pauses: readonly Pause[],
): number {
  const movedMs = Date.parse(movedAt);
  const pause = announced
    ? undefined
    : pauses.find(({ fromMs, untilMs }) =>
      movedMs >= fromMs - AHEAD_MS && movedMs <= untilMs
    );
  if (pause === undefined) return movedMs + GRACE_MS;
  const awayMs = pause.untilMs - movedMs;
  const nextMs = [ATTEMPTS_FROM_FIRST_MS, ATTEMPTS_FROM_PREVIOUS_MS].map(
    (attempts) => attempts.find((ms) => ms > awayMs) ?? 0,
  );
  return movedMs + Math.max(...nextMs) + GRACE_MS;
}

/** How many of the last changes are looked at. */
const LAST_CHANGES = 30;
/** So many silent ones among them are an alarm. */
const SILENT_AMONG_LAST = 3;
/** So many silent ones in a row, up to the last change, are an alarm. */
const SILENT_IN_A_ROW = 2;
/** So many announced ones in a row are the all-clear. */
const ANNOUNCED_IN_A_ROW = 5;

/**
 * How many changes decide. Of thirty changes without an alarm at most two are
 * silent, and then five announced ones stand in a row. So whatever came before
 * the last sixty changes nothing.
 */
export const DECIDING_CHANGES: number = 2 * LAST_CHANGES;

interface DeliverySuspicion {
  readonly suspected: boolean;
  /** The silent changes since five in a row were announced, by time. */
  readonly silent: readonly WatchedChange[];
}

/**
 * Decides from changes alone whether delivery is suspected to be off. Each
 * change stands alone: a delivery about one order says nothing about another.
 * So nobody can hide silent changes but by many announced ones of their own.
 *
 * It is suspected as soon as 3 of the last 30 changes, or the last 2, are
 * silent, and until 5 in a row were announced. A webhook that comes after all
 * makes its change an announced one.
 */
export function suspectDelivery(
  changes: readonly WatchedChange[],
): DeliverySuspicion {
  let suspected = false;
  let silent: WatchedChange[] = [];
  for (const [at, change] of changes.entries()) {
    if (!change.announced) silent.push(change);
    const silentAmong = (last: number) =>
      changes.slice(Math.max(0, at + 1 - last), at + 1)
        .filter(({ announced }) => !announced).length;
    if (at + 1 >= ANNOUNCED_IN_A_ROW && silentAmong(ANNOUNCED_IN_A_ROW) === 0) {
      suspected = false;
      silent = [];
    } else if (
      silentAmong(LAST_CHANGES) >= SILENT_AMONG_LAST ||
      silentAmong(SILENT_IN_A_ROW) === SILENT_IN_A_ROW
    ) suspected = true;
  }
  return { suspected, silent };
}

/** An alarm about webhook delivery, as it is remembered between two looks. */
export interface DeliveryAlarm {
  /**
   * - `suspected`: orders move at the service and no webhook comes any more.
   * - `failing`: deliveries arrive and are not answered in time.
   */
  readonly kind: "suspected" | "failing";
  /** When it began, UTC ISO 8601. */
  readonly since: string;
  /** Orders that moved without a webhook, at most at once. */
  readonly silentOrders: number;
  /** The first of them, at most twenty. */
  readonly silentOrderIds: readonly string[];
}

/** An alarm about webhook delivery, or its all-clear. */
export interface DeliveryAlert extends Omit<DeliveryAlarm, "kind"> {
  /** `recovered` is the all-clear; the other facts are those of the alarm. */
  readonly kind: DeliveryAlarm["kind"] | "recovered";
  /** How delivery is now, with the countdown of the ladder. */
  readonly health: DeliveryHealth;
}

/**
 * The alarm after a look: it keeps when it began, and the orders it was about.
 */
export function deliveryAlarm(
  before: DeliveryAlarm | null,
  health: DeliveryHealth,
): DeliveryAlarm | null {
  const { state, countdown, silentOrders, silentOrderIds } = health;
  if (countdown === null || (state !== "suspected" && state !== "failing")) {
    return null;
  }
  const since = countdown.firstFailureAt;
  const more = before !== null && before.silentOrders > silentOrders;
  return {
    kind: state,
    since: before !== null && before.since < since ? before.since : since,
    silentOrders: more ? before.silentOrders : silentOrders,
    silentOrderIds: more ? before.silentOrderIds : silentOrderIds,
  };
}

/** What to report after a look: a new alarm, another one, or the all-clear. */
export function deliveryAlert(
  before: DeliveryAlarm | null,
  after: DeliveryAlarm | null,
  health: DeliveryHealth,
): DeliveryAlert | null {
  if (after === null) {
    return before === null ? null : { ...before, kind: "recovered", health };
  }
  return before?.kind === after.kind ? null : { ...after, health };
}
