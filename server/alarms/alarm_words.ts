import type {
  AlarmCode,
  StandingAlarm,
} from "../../resources/health/standing_alarm.ts";
import { RELEASED_UNCHECKED } from "../../resources/health/released_unchecked.ts";
import type { PollFailureCause } from "../../sync/mod.ts";
import { pollFailureAdvice } from "../../resources/wording/poll_failure.ts";

/** An alarm for people. */
export interface DescribedAlarm {
  /** What is wrong, in one sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly advice: string;
}

const DOCTOR = "run `rampkit doctor`";

const WORDS: Readonly<Record<AlarmCode, DescribedAlarm>> = {
  delivery_suspected: {
    message: "Orders move at the service and no webhook comes any more",
    advice: "In the service's dashboard look whether webhooks are on, press " +
      "Test, and switch them on again; then run `rampkit recover` for the " +
      "time since",
  },
  delivery_failing: {
    message: "Webhooks come and are not answered in time; the service will " +
      "switch them off",
    advice: `Look at the log of \`rampkit serve\` and ${DOCTOR}; afterwards ` +
      "press Test in the service's dashboard",
  },
  poll_failing: {
    message: "The service does not answer as it should: nothing is confirmed",
    advice: DOCTOR,
  },
  poll_stalled: {
    message: "The poller has made no step for minutes: nothing is confirmed",
    advice: pollFailureAdvice("stalled"),
  },
  deliveries_waiting: {
    message: "Answered deliveries wait to go into the ledger",
    advice: `Nothing is lost: see that \`rampkit serve\` runs, and ${DOCTOR}`,
  },
  events_not_folded: {
    message: "Stored events do not become states: orders look older than " +
      "they are",
    advice: "Nothing is lost: the log of `rampkit serve` says why, as " +
      "projection_failing",
  },
  confirmations_waiting: {
    message: "What webhooks claim waits too long to be confirmed",
    advice: "See that a poller runs, and whether its --rate is enough",
  },
  deliveries_refused: {
    message: "Nothing durable takes deliveries: they are answered 503, and " +
      "the service will switch webhooks off",
    advice: `Make room on the disk or bring the database back; ${DOCTOR}`,
  },
  ledger_refuses: {
    message: "The ledger takes no writes; deliveries are kept in the spool",
    advice: `Make room on the disk or bring the database back; ${DOCTOR}`,
  },
  disk_nearly_full: {
    message: "Little is left of the disk that the ledger is on",
    advice: "Make room; remove old backups from the machine after copying " +
      "them elsewhere",
  },
  spool_nearly_full: {
    message: "The spool is three quarters full: only deliveries of at most " +
      "8 KiB are taken, larger ones are answered 503",
    advice: `See why the ledger does not take them: ${DOCTOR}`,
  },
  large_bodies_refused: {
    message: "Bodies above 64 KiB are answered 503: they have used up their " +
      "share of the spool. The service's own have about 1 KiB",
    advice: "Somebody else may know the webhook address: change the secret, " +
      "and limit the senders with `rampkit serve --allow`",
  },
  chain_broken: {
    message:
      "The evidence chain does not contain its anchored head: somebody " +
      "changed the ledger, or an older copy of it is in its place",
    advice: "Change nothing, keep a copy, and run `rampkit ledger verify`",
  },
  released_unchecked: RELEASED_UNCHECKED,
};

/** Every alarm that there is. */
export const ALARM_CODES: readonly string[] = Object.keys(WORDS);

/** Says what is wrong and what to do, in words that are safe to send. */
export function describeAlarm(
  { code, facts }: Pick<StandingAlarm, "code" | "facts">,
): DescribedAlarm {
  const words = WORDS[code];
  return code === "poll_failing" && typeof facts.cause === "string"
    ? {
      ...words,
      advice: pollFailureAdvice(facts.cause as PollFailureCause),
    }
    : words;
}
