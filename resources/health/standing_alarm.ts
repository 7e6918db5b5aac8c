/** What an alarm is about: one of each stands at a time. */
export type AlarmArea =
  /** Webhooks of the service. */
  | "delivery"
  /** Requests to the service. */
  | "polling"
  /** What came and is not worked off. */
  | "backlog"
  /** Whether what comes can be stored. */
  | "disk"
  /** Whether deliveries of every size can be stored. */
  | "room"
  /** The evidence chain. */
  | "evidence"
  /** Whether orders are compared with what was recorded. */
  | "comparison";

/**
 * What is wrong.
 *
 * - `delivery_suspected`: orders move at the service and no webhook comes.
 * - `delivery_failing`: deliveries arrive and are not answered in time.
 * - `poll_failing`: requests to the service fail; nothing is confirmed.
 * - `poll_stalled`: the poller of this process makes no step.
 * - `deliveries_waiting`: answered deliveries do not get into the ledger.
 * - `events_not_folded`: stored events do not become states.
 * - `confirmations_waiting`: what webhooks named is not asked about.
 * - `deliveries_refused`: deliveries are answered 503.
 * - `ledger_refuses`: the ledger takes no writes; deliveries are kept elsewhere.
 * - `disk_nearly_full`: little is left of the disk of the ledger.
 * - `spool_nearly_full`: the spool takes only bodies of at most 8 KiB.
 * - `large_bodies_refused`: bodies above 64 KiB have used up their share.
 * - `chain_broken`: the evidence chain does not contain its anchored head.
 * - `released_unchecked`: orders succeed, and nothing was ever recorded to
 *   compare them with.
 */
export type AlarmCode =
  | "delivery_suspected"
  | "delivery_failing"
  | "poll_failing"
  | "poll_stalled"
  | "deliveries_waiting"
  | "events_not_folded"
  | "confirmations_waiting"
  | "deliveries_refused"
  | "ledger_refuses"
  | "disk_nearly_full"
  | "spool_nearly_full"
  | "large_bodies_refused"
  | "chain_broken"
  | "released_unchecked";

/** Something that is wrong now. */
export interface StandingAlarm {
  /** What it is about. */
  readonly area: AlarmArea;
  /** What is wrong. */
  readonly code: AlarmCode;
  /** Since when, UTC ISO 8601. */
  readonly since: string;
  /** Figures and words behind it; never a secret, never a person. */
  readonly facts: Readonly<Record<string, string | number | null>>;
}

/**
 * One look at everything: for each area what is wrong, or null when nothing is.
 * An area that could not be looked at is left out.
 */
export type AlarmCheck = ReadonlyMap<AlarmArea, StandingAlarm | null>;
