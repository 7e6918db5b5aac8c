/** What happened in the sandbox so far; counts only ever grow. */
export interface SandboxCounters {
  /** Events the service had to tell, faults apart. */
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
  /** False events sent by the forger. */
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
  /** API answers that trickled. */
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
}
