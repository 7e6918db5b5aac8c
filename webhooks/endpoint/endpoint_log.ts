import type { WebhookLog, WebhookLogEntry } from "./log.ts";

/** A log entry before its time is written into it. */
export type UntimedLogEntry = Omit<WebhookLogEntry, "at">;

/** Writes an entry to the caller's log. */
export type WriteLog = (entry: UntimedLogEntry) => void;

/** A writer that adds the time, removes secrets, and never throws. */
export function endpointLog(
  log: WebhookLog | undefined,
  now: () => number,
  redact: (text: string) => string,
): WriteLog {
  if (log === undefined) return () => {};
  return (entry) => {
    try {
      const at = new Date(now()).toISOString();
      log(
        entry.detail === undefined
          ? { ...entry, at }
          : { ...entry, at, detail: redact(entry.detail) },
      );
    } catch {
      // A failing log must not cost a delivery.
    }
  };
}

/**
 * Without another occasion for this long an alarm is over. What is refused and
 * taken by turns, as by a full spool that is being drained, is one alarm.
 */
const SETTLED_AFTER_MS = 60_000;

/** What a {@linkcode LastingAlarm} works with. */
export interface LastingAlarmOptions {
  /** The line that begins it. */
  readonly raised: Omit<UntimedLogEntry, "level">;
  /** The line that ends it. */
  readonly cleared: Omit<UntimedLogEntry, "level">;
  /** Steady clock, ms. */
  readonly clock: () => number;
  /** Wall clock, ms since 1970. */
  readonly now: () => number;
  /** Where its lines go. */
  readonly log: WriteLog;
}

/** An alarm of the log: one line when it begins, and one when it is over. */
export class LastingAlarm {
  readonly #options: LastingAlarmOptions;
  #since: string | null = null;
  #latestAt = 0;

  /** @param options Its lines, its clocks and its log. */
  constructor(options: LastingAlarmOptions) {
    this.#options = options;
  }

  /** Since when it stands, UTC ISO 8601; null while it does not. */
  get since(): string | null {
    return this.#since;
  }

  /** There is an occasion for it. */
  raise(detail?: string): void {
    const { raised, clock, now, log } = this.#options;
    this.#latestAt = clock();
    if (this.#since !== null) return;
    this.#since = new Date(now()).toISOString();
    log({ level: "error", ...raised, ...(detail !== undefined && { detail }) });
  }

  /** All is well at the moment: ends it, if that has been so for a minute. */
  settle(): void {
    if (this.#since === null) return;
    const { cleared, clock, log } = this.#options;
    if (clock() - this.#latestAt < SETTLED_AFTER_MS) return;
    this.#since = null;
    log({ level: "info", ...cleared });
  }
}
