import { ALL_CLEARS, type Log, type LogEvent } from "./logger.ts";

/**
 * Something that went wrong and lasts: one line of the log when it begins, and
 * one when it is over, if the log has an event for that.
 */
export class Alarm {
  readonly #log: Log;
  readonly #event: LogEvent;
  readonly #now: () => number;
  #since: string | null = null;

  /** Makes an alarm that is not raised. */
  constructor(log: Log, event: LogEvent, now: () => number) {
    this.#log = log;
    this.#event = event;
    this.#now = now;
  }

  /** When it was raised, UTC ISO 8601; null while it is not. */
  get since(): string | null {
    return this.#since;
  }

  /** Writes that it begins, unless it was raised before. */
  raise(fields: Readonly<Record<string, unknown>>): void {
    if (this.#since !== null) return;
    this.#since = new Date(this.#now()).toISOString();
    this.#log("error", this.#event, { since: this.#since, ...fields });
  }

  /** Writes that it is over, if it was raised. */
  clear(fields: Readonly<Record<string, unknown>> = {}): void {
    if (this.#since === null) return;
    const since = this.#since;
    this.#since = null;
    const allClears: Readonly<Partial<Record<LogEvent, LogEvent>>> = ALL_CLEARS;
    const over = allClears[this.#event];
    if (over !== undefined) this.#log("info", over, { since, ...fields });
  }
}
