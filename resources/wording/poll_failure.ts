import type {
  PollAlert,
  PollFailureCause,
  SweepFailure,
} from "../../sync/polling/poll_health.ts";

/** What to do about each cause of failing requests. */
const ADVICE: Readonly<Record<PollFailureCause, string>> = {
  wrong_key: "The service does not know the key: check RAMPKIT_API_KEY and " +
    "RAMPKIT_ENVIRONMENT; keys of sandbox and production are not " +
    "interchangeable",
  refused: "The service knows the address and refuses the key: ask the " +
    "service's support which addresses and calls the key may use",
  bad_request: "The service rejects the request as wrong: a newer version of " +
    "this program may correct it",
  rate_limited:
    "The service allows fewer requests: lower --rate, and look for another " +
    "program that uses the same key",
  service_error: "The service itself fails: wait, and look at its status " +
    "page; nothing is wrong with the key",
  bad_answer:
    "The answer is not that of the service: check RAMPKIT_BASE_URL, " +
    "and for a proxy that answers in its place",
  timeout: "The service does not answer in time: check network and proxy, " +
    "and the service's status page",
  network: "The service cannot be reached: check RAMPKIT_BASE_URL, name " +
    "resolution, firewall and proxy",
  certificate: "The service's certificate is not accepted: look at the clock " +
    "of this machine, and for a proxy that opens TLS; where it has expired, " +
    "the service has to renew it",
  lease_lost:
    "Another poller takes the lease again and again: run one poller " +
    "for a ledger, or give each a holder name of its own",
  ledger: "The database fails, so nothing read can be stored: see the check " +
    "of the ledger",
  stalled:
    "The poller has made no progress for minutes: look for a clock that " +
    "was set back or a hanging database, and restart `serve`",
  other: "The message says what failed",
};

/** Every cause of failing requests. */
export const POLL_FAILURE_CAUSES: readonly PollFailureCause[] = Object.keys(
  ADVICE,
) as PollFailureCause[];

/** What to do about polling that fails. */
export function pollFailureAdvice(cause: PollFailureCause): string {
  return ADVICE[cause];
}

/** A failure in one sentence. */
export function describePollFailure(failure: SweepFailure): string {
  const { sweep, attempts, since, nextAttemptAt, message } = failure;
  const what = sweep === "poller" ? "The poller" : `The sweep "${sweep}"`;
  const times = attempts === 1 ? "once" : `${attempts} times in a row`;
  const next = nextAttemptAt === null ? "" : `; next try at ${nextAttemptAt}`;
  return `${what} has failed ${times} since ${since}${next}: ${message}`;
}

/** An alarm about polling, or its all-clear, for a terminal. */
export function describePollAlert(alert: PollAlert): string {
  return alert.kind === "recovered"
    ? `Polling works again; it had failed since ${alert.since}`
    : `${describePollFailure(alert.failure)}\n  > ${
      pollFailureAdvice(alert.failure.cause)
    }`;
}

/**
 * What each reason for refusing a request may mean; reasons that lose
 * deliveries come first.
 */
export const REFUSALS: Readonly<Record<string, string>> = {
  wrong_secret: "Compare the address in the service's dashboard with " +
    "RAMPKIT_WEBHOOK_SECRET; strangers who guess are refused likewise",
  misplaced_secret:
    "The secret is right and the address is not: it ends in /webhooks/SECRET",
  wrong_path: "Compare the address in the service's dashboard: it ends in " +
    "/webhooks/SECRET",
  not_allowed:
    "Ask the service which addresses it delivers from, and compare " +
    "`serve --allow`",
  read_before: "Mount the endpoint ahead of what reads bodies, such as " +
    "express.json()",
  too_large: "The body limit is 1 MiB; no documented webhook is near it",
  overload: "More deliveries came at once than memory holds",
  large_share: "Bodies above 64 KiB came faster than they share room; the " +
    "service sends none: a stranger may know the address",
  nearly_full: "The spool is three quarters full, and takes bodies of at " +
    "most 8 KiB: bring the ledger back",
};
