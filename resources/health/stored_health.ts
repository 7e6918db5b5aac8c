import {
  isWitnessed,
  type Ledger,
  type LedgerErrorCode,
  listDeliveries,
  readFolded,
  readUnattended,
  readWaiting,
  type SubscriptionStatus,
  uncheckedSince,
} from "../../ledger/for_resources.ts";
import { watchdog } from "../../sync/watchdog/watchdog.ts";
import type { DeliveryHealth } from "../../sync/watchdog/watchdog_rule.ts";
import { describeCountdown, describeDelivery } from "../wording/delivery.ts";
import {
  describePollFailure,
  pollFailureAdvice,
  REFUSALS,
} from "../wording/poll_failure.ts";
import { describeChainBreak, span } from "../wording/phrases.ts";
import {
  type ConditionCode,
  COUNTED,
  countWaiting,
  LIMITS,
  PRESS_TEST,
} from "./conditions.ts";
import { type Finding, found, gathered, lookedAt } from "./finding.ts";
import {
  type Driver,
  FOLD_VERSION,
  isPolled,
  readOldestWaiting,
  readSweep,
  writeSweep,
} from "../../ledger/for_sync.ts";
import { counted, operands } from "../views/text.ts";
import type { NodeState } from "../../witness/node_health.ts";
import type { NodeProblem } from "../../witness/transfer.ts";
import {
  lastAnsweredAt,
  pollAlarm,
  readPollHealth,
  type SweepFailure,
} from "../../sync/polling/poll_health.ts";
import {
  type DriftMet,
  isOfWebhooks,
  readDrift,
  readRefusedRequests,
} from "../../sync/check/drift.ts";
import { readPollBacklog } from "../../sync/polling/poll_status.ts";
import { ATTENTION } from "../wording/outcome.ts";
import { printable } from "../../core/text.ts";

/** Whether webhooks still come, as the watchdog sees it. */
export async function lookAtDelivery(
  { driver }: Pick<Ledger, "driver">,
  nowMs: number,
): Promise<readonly Finding[]> {
  const { health } = await watchdog(driver, { nowMs });
  return [deliveryFinding(health)];
}

/** What the watchdog saw, as a finding. */
export function deliveryFinding(health: DeliveryHealth): Finding {
  const { state, countdown, silentOrders, silentSince, clearsAfter } = health;
  const more = describeDelivery(health);
  if (state === "ok") return found("delivery_works", { more });
  if (state === "never_received") {
    return silentOrders === 0
      ? found("delivery_unused")
      : found("delivery_never_worked", { more, since: silentSince });
  }
  const since = countdown?.firstFailureAt ?? health.since ??
    health.failingSince;
  return found(`delivery_${state}`, {
    since,
    ...clearsAfter !== null && {
      means: "Webhooks come again, after orders moved without them",
    },
    more: countdown === null || clearsAfter !== null
      ? more
      : `${more}. ${describeCountdown(countdown)}`,
    ...since !== null && {
      next: clearsAfter === null
        ? PRESS_TEST.replace("WHEN-IT-BEGAN", since)
        : `Read what was missed: rampkit recover --from ${since}`,
    },
    facts: {
      silentOrders,
      offAtFromFirst: countdown?.offAtFromFirst ?? null,
      offAtFromPrevious: countdown?.offAtFromPrevious ?? null,
    },
  });
}

/** When the last webhook came, whatever it was about. */
async function lookAtFreshness(
  { driver }: Pick<Ledger, "driver">,
  nowMs: number,
): Promise<readonly Finding[]> {
  for await (const { receivedAt } of listDeliveries(driver)) {
    const ago = span(Math.max(0, nowMs - Date.parse(receivedAt)));
    return [found("last_webhook", {
      more: `${ago} ago`,
      facts: { receivedAt },
    })];
  }
  return [
    found("last_webhook", { more: "never", facts: { receivedAt: null } }),
  ];
}

/** Whether events are folded, and by which version. */
async function lookAtFolding(
  ledger: Pick<Ledger, "driver" | "lag">,
): Promise<readonly Finding[]> {
  const lag = await ledger.lag();
  const more = lag === 0 ? "none waits" : `${counted(lag, "event")} to go`;
  const { foldVersion: version } = await readFolded(ledger.driver);
  if (version > FOLD_VERSION) {
    return [found("fold_newer", {
      more: `fold ${version}, and this version knows ${FOLD_VERSION}; ${more}`,
      facts: { lag, version },
    })];
  }
  return [
    found(lag > LIMITS.eventsNotFolded ? "folding_behind" : "events_folded", {
      more,
      facts: { lag },
    }),
  ];
}

/** Whether the evidence chain continues from its anchored head. */
async function lookAtChain(
  { evidence }: { readonly evidence: Ledger["evidence"] },
): Promise<readonly Finding[]> {
  const { broken, events } = await evidence();
  return [
    broken === null
      ? found("chain_whole", {
        more: `it covers ${counted(events, "event")}; ` +
          "`rampkit ledger verify` computes it again",
        facts: { events },
      })
      : found("chain_broken", { more: describeChainBreak(broken) }),
  ];
}

/**
 * Deliveries that wait in the processes that take them. What a process that
 * ended has left raises no alarm: the next `serve` takes it.
 */
async function lookAtWaiting(
  driver: Driver,
  nowMs: number,
): Promise<readonly Finding[]> {
  const waiting = await readWaiting(driver, nowMs);
  if (waiting === null) return [found("nothing_waiting")];
  const oldestMs = await readOldestWaiting(driver, nowMs);
  const details = {
    more: `${waiting.count}, the oldest for ${
      span(Math.max(0, nowMs - waiting.oldestMs))
    }`,
    facts: { waiting: waiting.count, ended: waiting.ended },
  };
  if (oldestMs !== null && nowMs - oldestMs > LIMITS.deliveryWaitsMs) {
    const since = new Date(oldestMs).toISOString();
    return [found("deliveries_waiting", { ...details, since })];
  }
  return [
    waiting.ended === 0
      ? found("deliveries_moving", details)
      : found("deliveries_left", {
        ...details,
        since: new Date(waiting.oldestMs).toISOString(),
      }),
  ];
}

/** The condition of each problem of a node. */
const CONDITION_OF: Readonly<Record<NodeProblem, ConditionCode>> = {
  unreachable: "node_silent",
  timeout: "node_silent",
  refused: "node_refuses",
  rate_limited: "node_refuses",
  bad_answer: "node_unusable",
  wrong_chain: "node_of_other_chain",
  syncing: "node_behind",
  lagging: "node_behind",
  no_index: "node_forgets",
  pruned: "node_forgets",
  says_otherwise: "node_disagrees",
};

/** Health of the partner's chain nodes. */
export function nodeFindings(
  states: readonly NodeState[],
): readonly Finding[] {
  const broken = states.flatMap(({ network, node, problem, since }) =>
    problem === null ? [] : found(CONDITION_OF[problem], {
      about: `${network}/${node}`,
      since,
      more: `${node} of ${network} (${problem})`,
      facts: { network, node, problem },
    })
  );
  if (broken.length > 0) return broken;
  return states.length === 0 ? [] : [
    found("nodes_answer", {
      more: counted(states.length, "node"),
      facts: { nodes: states.length },
    }),
  ];
}

/** Whether a process asks the nodes, if releases wait for them. */
async function lookAtRequirement(
  ledger: Ledger,
): Promise<readonly Finding[]> {
  const rule = await ledger.requiredWitness();
  const isAsked = await isWitnessed(ledger.driver);
  if (isAsked) return [];
  return [found(rule === "off" ? "nodes_unused" : "nodes_not_asked")];
}

/**
 * Whether the service is asked and answers. The poller may run in another
 * process or not at all.
 */
export async function lookAtPolling(
  driver: Driver,
  nowMs: number,
  stuck: SweepFailure | null = null,
): Promise<readonly Finding[]> {
  const health = await readPollHealth(driver);
  const failure = pollAlarm(health) ??
    health.failures.find(({ nextAttemptAt }) => nextAttemptAt === null) ?? null;
  if (failure !== null) return [failureFinding(failure)];
  const answeredAt = await lastAnsweredAt(driver, health);
  const agoMs = answeredAt === null ? null : nowMs - Date.parse(answeredAt);
  const isFresh = agoMs !== null && Math.abs(agoMs) <= LIMITS.pollerSilentMs;
  // Of several processes another may have taken over.
  if (stuck !== null && !isFresh) return [failureFinding(stuck)];
  const isAtWork = await isPolled(driver);
  const ranAt = isAtWork || isFresh ? null : await cronRanAt(driver);
  if (ranAt !== null && nowMs - Date.parse(ranAt) > LIMITS.cronSilentMs) {
    return [found("cron_silent", {
      since: ranAt,
      more: `the last one ran ${span(nowMs - Date.parse(ranAt))} ago`,
    })];
  }
  if (agoMs === null) {
    return [found("polling_not_begun", {
      ...isAtWork && { next: "A poller has begun; look again in a minute" },
    })];
  }
  // A time in the future is none.
  if (agoMs < -LIMITS.pollerSilentMs) return [found("poll_clock_set_back")];
  const heard = {
    more: `the last answer was ${span(Math.max(0, agoMs))} ago`,
    facts: { answeredAt },
  };
  if (isAtWork) {
    return [
      isFresh
        ? found("polling_works", heard)
        : found("poll_stalled", { ...heard, since: answeredAt }),
    ];
  }
  return [
    agoMs > LIMITS.answerOldMs
      ? found("polling_idle", { ...heard, since: answeredAt })
      : found("polling_works", heard),
  ];
}

function failureFinding(failure: SweepFailure): Finding {
  const { sweep, attempts, since, cause, status } = failure;
  return found(cause === "stalled" ? "poll_stalled" : "poll_failing", {
    since,
    more: describePollFailure(failure),
    next: pollFailureAdvice(cause),
    facts: { sweep, attempts, cause, status },
  });
}

const CRON = "cron";

async function cronRanAt(driver: Driver): Promise<string | null> {
  return (await readSweep<{ readonly at: string }>(driver, CRON))?.at ?? null;
}

/** Keeps that a cron runs now. */
export async function keepCronRun(
  driver: Driver,
  nowMs: number,
  which: "any" | "first" = "any",
): Promise<void> {
  if (which === "first" && await cronRanAt(driver) !== null) return;
  const at = new Date(nowMs).toISOString();
  await driver.batch([writeSweep(CRON, { at }, nowMs)], "write");
}

/**
 * Counting stops at this many transitions, because a look is made every few
 * seconds.
 */
const MOST_COUNTED = 1000;

/** Whether each handler and each target gets its transitions. */
export async function lookAtReceivers(
  { driver, subscriptions }: Pick<Ledger, "driver" | "subscriptions">,
  nowMs: number,
): Promise<readonly Finding[]> {
  const all = await subscriptions.list({ countUpTo: MOST_COUNTED });
  if (all.length === 0) return [found("receivers_none")];
  const before = new Date(nowMs - LIMITS.deliveryWaitsMs).toISOString();
  const unattended = await readUnattended(driver, before);
  return all.map((one) =>
    finding(one, unattended.find(({ name }) => name === one.name)?.since)
  );
}

function finding(
  { name, target, dead, retrying, behind, lastError }: SubscriptionStatus,
  idleSince: string | undefined,
): Finding {
  const who = target?.url ?? name;
  const facts = { dead, retrying, behind };
  const of = { about: name, facts };
  if (target !== null && target.offAt !== null) {
    return found("receiver_off", {
      ...of,
      since: target.offAt,
      more: `${who}, because it ${target.offReason}`,
      next: "When it wants webhooks again: rampkit subscriptions resume " +
        operands(name),
    });
  }
  if (dead > 0) {
    return found("dead_letters", {
      ...of,
      more: `${manyOf(dead)} to ${who}`,
      next: `Fix it, then: rampkit subscriptions retry ${operands(name)}`,
    });
  }
  if (idleSince !== undefined) {
    return found("receiver_idle", {
      ...of,
      since: idleSince,
      more: `${manyOf(behind)} for ${who}`,
    });
  }
  if (retrying > 0) {
    return found("receiver_failing", {
      ...of,
      more: `${manyOf(retrying)} to ${who}` +
        (lastError === null ? "" : `; it ${lastError}`),
    });
  }
  return found("receiver_works", {
    ...of,
    more: behind === 0
      ? `${who} is up to date`
      : `${who} is behind by ${manyOf(behind)}`,
  });
}

function manyOf(count: number): string {
  return `${count < MOST_COUNTED ? "" : "at least "}${
    counted(count, "transition")
  }`;
}

/** What is known of where deliveries are stored. */
interface Storing {
  /** Why nothing durable takes deliveries; null where something does. */
  readonly problem: string | null;
  /** Why the ledger takes no writes; null where it does. */
  readonly refusal: string | null;
  /** The ledger's word for that; null where it has none. */
  readonly cause: LedgerErrorCode | null;
  /** Deliveries that wait in the spool of this process. */
  readonly spooled: number;
  /** When the oldest of them was received, ms; null without any. */
  readonly oldestMs: number | null;
}

/** What to do about each reason why a ledger takes no writes. */
export const REFUSAL_ADVICE: Readonly<
  Partial<Record<LedgerErrorCode, string>>
> = {
  busy: "Find the process that holds the lock (fuser FILE names it), and let " +
    "it end: what waits then goes into the ledger by itself",
  full:
    "Make room on the disk, or raise the quota: what waits then goes into " +
    "the ledger by itself",
  read_only:
    "Give the user of serve the right to write the file and its folder",
  unreachable: "Bring the database's server back: check it, its address and " +
    "the network between",
  unauthorised: "Give serve a token that the database's server accepts: " +
    "RAMPKIT_DATABASE_TOKEN",
  corrupt: "Restore the last backup that verifies: rampkit ledger restore",
};

/** Whether deliveries are stored durably, and where. */
export function storingFindings(
  { problem, refusal, cause, spooled, oldestMs }: Storing,
  nowMs: number,
): readonly Finding[] {
  const next = cause === null ? undefined : REFUSAL_ADVICE[cause];
  const why = { facts: { spooled, cause }, ...next !== undefined && { next } };
  if (problem !== null) {
    return [found("deliveries_refused", { more: problem, ...why })];
  }
  if (refusal !== null) {
    return [found("ledger_refuses", { more: refusal, ...why })];
  }
  if (oldestMs === null || nowMs - oldestMs <= LIMITS.deliveryWaitsMs) {
    return [found("ledger_writable")];
  }
  return [
    found("ledger_writable"),
    found("deliveries_waiting", {
      since: new Date(oldestMs).toISOString(),
      more: `${spooled} in the spool`,
      facts: { waiting: spooled },
    }),
  ];
}

/** How to check a ledger. */
export interface StoredLookOptions {
  /** The time, in milliseconds since the epoch. */
  readonly nowMs: number;
  /**
   * Whether the watchdog looks as well. Where nobody polls, each of its looks
   * reads all events since the last poll.
   *
   * @default {true}
   */
  readonly watchdog?: boolean;
}

/** Health of everything, from what the ledger has. Nothing else is asked. */
export async function lookAtStored(
  ledger: Ledger,
  { nowMs, watchdog = true }: StoredLookOptions,
): Promise<readonly Finding[]> {
  const { driver } = ledger;
  return gathered(
    await Promise.all([
      lookedAt("waiting", () => lookAtWaiting(driver, nowMs)),
      lookedAt("projection", () => lookAtFolding(ledger)),
      lookedAt(
        "evidence",
        () => lookAtChain({ evidence: () => ledger.evidence() }),
      ),
      watchdog ? lookedAt("delivery", () => lookAtDelivery(ledger, nowMs)) : [],
      lookedAt("freshness", () => lookAtFreshness(ledger, nowMs)),
      lookedAt("refusals", () => lookAtRefusals(driver, nowMs)),
      lookedAt("polling", () => lookAtPolling(driver, nowMs)),
      lookedAt("backlog", () => lookAtBacklog(driver, nowMs)),
      lookedAt("drift", () => lookAtDrift(driver, nowMs)),
      lookedAt("orders", () => lookAtOrders(ledger, nowMs)),
      lookedAt("comparison", () => lookAtComparison(driver)),
      lookedAt("nodes", () => lookAtRequirement(ledger)),
      lookedAt("forwarding", () => lookAtReceivers(ledger, nowMs)),
    ]),
  );
}

/**
 * Orders that wait for a person, together by their reason. Those that only
 * webhooks name are left out: strangers can make any number of them.
 */
export async function lookAtOrders(
  ledger: Ledger,
  nowMs: number,
): Promise<readonly Finding[]> {
  const waiting = (await countWaiting(ledger, nowMs))
    .filter(({ kind }) => kind !== "forged_or_unknown");
  if (waiting.length === 0) return [found("orders_settled")];
  return waiting.map(({ kind, count }) =>
    found("orders_waiting", {
      about: kind,
      more: `${count > COUNTED ? `more than ${COUNTED}` : count} (${
        ATTENTION[kind]
      })`,
      facts: { orders: count },
      next: `See them, and what to do: rampkit attention ${kind}`,
    })
  );
}

/** Whether orders are compared with what the partner asked for. */
export async function lookAtComparison(
  driver: Driver,
): Promise<readonly Finding[]> {
  const since = await uncheckedSince(driver);
  return [
    since === null
      ? found("orders_checked")
      : found("released_unchecked", { since }),
  ];
}

/** Refused ids that are named. */
const NAMED = 3;

/** What waits for a confirming read, and which ids the service refuses. */
export async function lookAtBacklog(
  driver: Driver,
  nowMs: number,
): Promise<readonly Finding[]> {
  const { backlog: { known, unknown }, isolatedIds } = await readPollBacklog(
    driver,
  );
  const ageMs = (at: string | null) =>
    at === null ? 0 : Math.max(0, nowMs - Date.parse(at));
  const waits = (at: string | null) =>
    at === null ? "" : `, the oldest for ${span(ageMs(at))}`;
  const facts = { waiting: known.waiting, unknown: unknown.waiting };
  const more = `${known.waiting} orders and users wait to be confirmed${
    waits(known.oldestAt)
  }; ${unknown.waiting} more that the service never showed${
    waits(unknown.oldestAt)
  }`;
  return [
    ageMs(known.oldestAt) > LIMITS.confirmationWaitsMs
      ? found("confirmations_waiting", { since: known.oldestAt, more, facts })
      : found("nothing_to_confirm", { more, facts }),
    isolatedIds.count === 0 ? found("ids_taken") : found("ids_refused", {
      more: `${counted(isolatedIds.count, "id")}, ` +
        isolatedIds.ids.slice(0, NAMED).map(({ entity, entityId, why }) =>
          `${entity} ${printable(entityId)} (${printable(why)})`
        ).join("; "),
      facts: { ids: isolatedIds.count },
    }),
  ];
}

/** The requests that the endpoint refused in the last day. */
async function lookAtRefusals(
  driver: Driver,
  nowMs: number,
): Promise<readonly Finding[]> {
  const refused = Object.entries(await readRefusedRequests(driver))
    .filter(([, { lastAt }]) =>
      nowMs - Date.parse(lastAt) < LIMITS.refusedAgoMs
    );
  if (refused.length === 0) return [found("requests_taken")];
  const next = Object.entries(REFUSALS).find(([wanted]) =>
    refused.some(([reason]) => reason === wanted)
  )?.[1];
  const details = {
    more: refused.map(([reason, { count, lastAt }]) =>
      `${counted(count, "request")} (${reason}, last ` +
      `${span(Math.max(0, nowMs - Date.parse(lastAt)))} ago)`
    ).join(", "),
    facts: Object.fromEntries(
      refused.map(([reason, { count }]) => [reason, count]),
    ),
  };
  return [
    next === undefined
      ? found("strangers_refused", details)
      : found("requests_refused", { ...details, next }),
  ];
}

/** Names of drift that are listed. */
const DRIFT_NAMED = 5;

/** What answers and webhooks of the last day had that is not described. */
export async function lookAtDrift(
  driver: Driver,
  nowMs: number,
): Promise<readonly Finding[]> {
  const kept = await readDrift(driver);
  if (kept === null) return [found("drift_not_looked_for")];
  const met = Object.entries(kept.names).filter(([, { lastAt }]) =>
    nowMs - Date.parse(lastAt) < LIMITS.driftAgoMs
  );
  if (met.length === 0) return [found("service_as_described")];
  const ofWebhooks = met.filter(([name]) => isOfWebhooks(name));
  const ofAnswers = met.filter(([name]) => !isOfWebhooks(name));
  return [
    ...ofAnswers.length === 0 ? [] : [driftFound("answers_drifted", ofAnswers)],
    ...ofWebhooks.length === 0
      ? []
      : [driftFound("webhooks_drifted", ofWebhooks)],
  ];
}

function driftFound(
  code: "answers_drifted" | "webhooks_drifted",
  met: readonly (readonly [string, DriftMet])[],
): Finding {
  const often = met.toSorted(([, a], [, b]) => b.count - a.count);
  const more = often.length - DRIFT_NAMED;
  return found(code, {
    since: met.map(([, { since }]) => since).sort()[0] ?? null,
    more: often.slice(0, DRIFT_NAMED).map(([name, { count }]) =>
      `${name} (${counted(count, "time")})`
    ).join(", ") + (more > 0 ? `, and ${more} more` : ""),
    facts: Object.fromEntries(often.map(([name, { count }]) => [name, count])),
  });
}
