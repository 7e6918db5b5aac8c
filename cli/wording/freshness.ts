import type { Freshness } from "../../ledger/mod.ts";
import { span } from "./span.ts";

const TIERS: Readonly<Record<Freshness["tier"], string>> = {
  named: "a webhook named it",
  open: "it may still change",
  lately_final: "it lately became final",
  deep: "with the whole past",
};

const UNBOUND: Readonly<Record<NonNullable<Freshness["unbound"]>, string>> = {
  never_shown: "the service has not shown it",
  not_polled: "no poller is at work, so nobody asks again",
  polling_fails: "polling fails: see rampkit doctor",
  behind: "polling is behind: it should have been asked for again by now",
};

/** How fresh an answer is, in one line. */
export function describeFreshness(freshness: Freshness, nowMs: number): string {
  const { askedAt, tier, nextAt, notOlderThanMs, unbound } = freshness;
  const last = askedAt === null
    ? "never asked for"
    : `asked ${span(nowMs - Date.parse(askedAt))} ago`;
  if (notOlderThanMs === null) {
    return unbound === null ? last : `${last}; ${UNBOUND[unbound]}`;
  }
  const waitMs = nextAt === null ? null : Date.parse(nextAt) - nowMs;
  const next = waitMs === null
    ? `again ${TIERS[tier]}`
    : waitMs <= 0
    ? `again now (${TIERS[tier]})`
    : `again in ${span(waitMs)} (${TIERS[tier]})`;
  return `${last}, ${next}, never older than ${span(notOlderThanMs)}`;
}
