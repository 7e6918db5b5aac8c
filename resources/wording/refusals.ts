/**
 * What each reason for which the endpoint refuses a request may mean; those
 * first that cost deliveries.
 */
export const REFUSALS: Readonly<Record<string, string>> = {
  wrong_secret: "Compare the address in the service's dashboard with " +
    "RAMPKIT_WEBHOOK_SECRET; strangers who guess are refused likewise",
  wrong_path: "Compare the address in the service's dashboard: it ends in " +
    "/webhooks/SECRET",
  not_allowed:
    "Ask the service which addresses it delivers from, and compare " +
    "`serve --allow`",
  too_large: "The body limit is 1 MiB; no documented webhook is near it",
  overload: "More deliveries came at once than memory holds",
  large_share: "Bodies above 64 KiB came faster than they share room; the " +
    "service sends none: a stranger may know the address",
  nearly_full: "The spool is three quarters full, and takes bodies of at " +
    "most 8 KiB: bring the ledger back",
};
