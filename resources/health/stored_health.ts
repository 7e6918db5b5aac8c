import type { Ledger } from "../../ledger/for_resources.ts";
import { lookAtDelivery, lookAtFreshness } from "./delivery_health.ts";
import { type Finding, found, gathered, lookedAt } from "./finding.ts";
import { lookAtChain, lookAtFolding, lookAtWaiting } from "./ledger_health.ts";
import { lookAtRequirement } from "./node_health.ts";
import { lookAtPolling } from "./polling_health.ts";
import { lookAtReceivers } from "./receiver_health.ts";
import { uncheckedSince } from "../../ledger/for_resources.ts";
import type { Driver } from "../../ledger/for_sync.ts";
import {
  type DriftMet,
  isOfWebhooks,
  readDrift,
  readRefusedRequests,
} from "../../sync/check/drift.ts";
import { readPollBacklog } from "../../sync/polling/poll_status.ts";
import { COUNTED, countWaiting } from "./waiting_counts.ts";
import { counted } from "../views/text.ts";
import { ATTENTION } from "../wording/attention.ts";
import { printable } from "../../core/printable.ts";
import { span } from "../wording/phrases.ts";
import { LIMITS } from "./limits.ts";
import { REFUSALS } from "../wording/poll_failure.ts";

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
