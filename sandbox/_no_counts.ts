import type { SandboxCounters } from "./counters.ts";

/** All zero. */
export function noCounts(): SandboxCounters {
  return {
    events: 0,
    attempts: 0,
    retries: 0,
    received: 0,
    failedAttempts: 0,
    timeouts: 0,
    dropped: 0,
    duplicated: 0,
    delayed: 0,
    reordered: 0,
    forged: 0,
    unknownTypes: 0,
    malformed: 0,
    answersLost: 0,
    requestsLost: 0,
    disabled: 0,
    notSent: 0,
    apiRequests: 0,
    apiTooManyRequests: 0,
    apiServerErrors: 0,
    apiTimeouts: 0,
    apiSlowBodies: 0,
    pageInserts: 0,
    pageChanges: 0,
    pagesShort: 0,
    sameSeconds: 0,
    totalsWrong: 0,
    totalsMissing: 0,
  };
}
