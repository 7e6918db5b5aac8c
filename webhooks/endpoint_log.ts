import { defined } from "../core/guards.ts";

/** One entry of the log. It never holds a secret, a header or a body. */
export interface WebhookLogEntry {
  /** How much it matters. */
  readonly level: "debug" | "info" | "warn" | "error";
  /** What happened. */
  readonly code: WebhookLogCode;
  /** The same for people, one sentence. */
  readonly message: string;
  /** When, UTC ISO 8601 with milliseconds. */
  readonly at: string;
  /** Delivery concerned; its event in the ledger has the same id. */
  readonly deliveryId?: string;
  /** HTTP status that was answered. */
  readonly answer?: number;
  /** Deliveries concerned. */
  readonly count?: number;
  /** Why, in the words of the error. */
  readonly detail?: string;
}

/** What a log entry is about. */
export type WebhookLogCode =
  /** A body in the ledger is not a JSON object; it was answered 204. */
  | "quarantined"
  /** A JSON object in the ledger is none of the documented events. */
  | "unrecognised"
  /** A documented event in the ledger has an identifier that is too long. */
  | "identifier_too_long"
  /** A body was over the limit, late, or broken off; nothing was stored. */
  | "body_refused"
  /** Deliveries cannot be stored, or do not get from the spool to the ledger. */
  | "append_failing"
  /** For a minute, deliveries were stored, or moved to the ledger, again. */
  | "append_recovered"
  /** Bodies above 64 KiB have used up their share of the room, and get 503. */
  | "large_bodies_refused"
  /** None of them was refused for a minute. */
  | "large_bodies_taken"
  /** The spool takes only bodies of at most 8 KiB; others get 503. */
  | "spool_nearly_full"
  /** None of those was refused for a minute. */
  | "spool_has_room"
  /** Spooled deliveries went into the ledger. */
  | "spool_drained"
  /** Files that an ended process left in the spool cannot be taken over. */
  | "spool_untidied"
  /** A delivery could not be kept anywhere, and was answered 503. */
  | "delivery_refused"
  /** A stored delivery was answered late, with 503, or not at all. */
  | "delivery_unanswered"
  /** A secret is short enough to be guessed. */
  | "weak_secret";

/** Takes log entries; what it throws is ignored. */
export type WebhookLog = (entry: WebhookLogEntry) => void;

/** Writes an entry to the caller's log. */
export type WriteLog = (
  level: WebhookLogEntry["level"],
  code: WebhookLogCode,
  message: string,
  more?: Pick<WebhookLogEntry, "deliveryId" | "answer" | "count" | "detail">,
) => void;

/** A writer that adds the time, removes secrets, and never throws. */
export function endpointLog(
  log: WebhookLog | undefined,
  now: () => number,
  redact: (text: string) => string,
): WriteLog {
  if (log === undefined) return () => {};
  return (level, code, message, { detail, ...more } = {}) => {
    try {
      const at = new Date(now()).toISOString();
      const redacted = detail === undefined ? {} : { detail: redact(detail) };
      log({ level, code, message, at, ...more, ...redacted });
    } catch {
      // A failing log must not cost a delivery.
    }
  };
}

/**
 * An alarm is over once its cause has not recurred for this long. A full spool
 * that is being drained refuses and accepts by turns, and that is one alarm.
 */
const SETTLED_AFTER_MS = 60_000;

const ALARMS = {
  append_failing: {
    raised: "Deliveries cannot be stored",
    over: ["append_recovered", "Deliveries are stored again"],
  },
  large_bodies_refused: {
    raised: "Bodies above 64 KiB have used up what they share",
    over: [
      "large_bodies_taken",
      "No body above 64 KiB was refused for a minute",
    ],
  },
  spool_nearly_full: {
    raised: "The spool takes only bodies of at most 8 KiB",
    over: ["spool_has_room", "The spool takes bodies of every size again"],
  },
} as const;

/** An alarm of the log: one line when it begins, and one when it is over. */
export class LastingAlarm {
  readonly #code: keyof typeof ALARMS;
  readonly #parts: AlarmParts;
  #latestAt = 0;
  since: string | null = null;

  constructor(code: keyof typeof ALARMS, parts: AlarmParts) {
    this.#code = code;
    this.#parts = parts;
  }

  raise(detail?: string): void {
    const { now, clock, log } = this.#parts;
    this.#latestAt = clock();
    if (this.since !== null) return;
    this.since = new Date(now()).toISOString();
    log("error", this.#code, ALARMS[this.#code].raised, defined({ detail }));
  }

  /** All is well now: ends the alarm if that has lasted a minute. */
  settle(): void {
    if (this.since === null) return;
    if (this.#parts.clock() - this.#latestAt < SETTLED_AFTER_MS) return;
    this.since = null;
    const [code, message] = ALARMS[this.#code].over;
    this.#parts.log("info", code, message);
  }
}

/** A wall clock, a steady one, and where the lines of an alarm go. */
export interface AlarmParts {
  readonly now: () => number;
  readonly clock: () => number;
  readonly log: WriteLog;
}
