/** What happened in the sandbox so far. Counts never decrease. */
export interface SandboxCounters {
  /** Events of the service, without those that faults added. */
  events: number;
  /** Attempts to deliver, copies and forgeries included. */
  attempts: number;
  /** Attempts after the first of an event. */
  retries: number;
  /** Events answered 2xx in time, as far as the service knows. */
  received: number;
  /** Attempts the service counts as failed. */
  failedAttempts: number;
  /** Attempts not answered within five seconds. */
  timeouts: number;
  /** Events never sent, by fault. */
  dropped: number;
  /** Copies sent, by fault. */
  duplicated: number;
  /** Events sent late, by fault. */
  delayed: number;
  /** Events overtaken by a later one, by fault. */
  reordered: number;
  /** Forged events sent. */
  forged: number;
  /** Events of an undocumented type. */
  unknownTypes: number;
  /** Events whose body was cut short. */
  malformed: number;
  /** 2xx answers lost on the way back. */
  answersLost: number;
  /** Attempts that never reached the endpoint. */
  requestsLost: number;
  /** Times delivery was switched off. */
  disabled: number;
  /** Events lost because delivery was off or had no address. */
  notSent: number;
  /** API requests taken, faults included. */
  apiRequests: number;
  /** API requests answered 429. */
  apiTooManyRequests: number;
  /** API requests answered 5xx by fault. */
  apiServerErrors: number;
  /** API requests left without an answer. */
  apiTimeouts: number;
  /** API answers whose body came slowly. */
  apiSlowBodies: number;
  /** Rows inserted during a page walk. */
  pageInserts: number;
  /** Rows changed during a page walk. */
  pageChanges: number;
  /** Pages cut short. */
  pagesShort: number;
  /** Orders created in the second of the one before. */
  sameSeconds: number;
  /** Answers with a wrong total. */
  totalsWrong: number;
  /** Answers without a total. */
  totalsMissing: number;
  /** Rows shown with a field of the wrong kind. */
  oddRows: number;
  /** Rows shown without an id. */
  rowsWithoutId: number;
  /** Rows shown with a time in the far future. */
  timesAhead: number;
  /** Searches refused for one of their ids. */
  refusedIds: number;
  /** Answers with a wrong `Date` header. */
  wrongDates: number;
  /** Pages whose cursor leads to the same page again. */
  endlessCursors: number;
}

/** Counters that all start at zero. */
export function zeroCounters(): SandboxCounters {
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
    oddRows: 0,
    rowsWithoutId: 0,
    timesAhead: 0,
    refusedIds: 0,
    wrongDates: 0,
    endlessCursors: 0,
  };
}
