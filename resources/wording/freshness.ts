import type { Freshness } from "../../sync/mod.ts";
import { span } from "./phrases.ts";
import type { WaitingDeliveries } from "../../ledger/types.ts";

const TIERS: Readonly<Record<Freshness["tier"], string>> = {
  named: "a webhook named it",
  open: "it may still change",
  recently_final: "it lately became final",
  deep: "with the whole past",
};

const DOUBTS: Readonly<Record<NonNullable<Freshness["doubt"]>, string>> = {
  never_observed: "the service has not shown it",
  not_polled: "no poller runs, so nobody asks again",
  polling_fails: "polling fails: see rampkit doctor",
  behind: "polling is behind: it should have been asked for again by now",
};

/** How fresh an answer is, in one line. */
export function describeFreshness(freshness: Freshness, nowMs: number): string {
  const { requestedAt, tier, nextAt, doubt } = freshness;
  const last = requestedAt === null
    ? "never asked for"
    : `asked ${span(nowMs - Date.parse(requestedAt))} ago`;
  if (doubt !== null) return `${last}; ${DOUBTS[doubt]}`;
  const waitMs = nextAt === null ? null : Date.parse(nextAt) - nowMs;
  const next = waitMs === null
    ? `again ${TIERS[tier]}`
    : waitMs <= 0
    ? `again now (${TIERS[tier]})`
    : `again in ${span(waitMs)} (${TIERS[tier]})`;
  return `${last}, ${next}`;
}

/** Says that deliveries wait, in one sentence. */
export function waitingText(
  { count, oldestMs, ended }: WaitingDeliveries,
  nowMs: number,
): string {
  const what = count === 1
    ? "1 answered delivery waits"
    : `${count} answered deliveries wait`;
  const age = span(Math.max(0, nowMs - oldestMs));
  const sentence = `${what} to go into the ledger, the oldest for ${age}`;
  return ended === 0
    ? sentence
    : `${sentence}; ${ended} of them may wait in the files of an ended ` +
      "process, from where a running serve takes them";
}
