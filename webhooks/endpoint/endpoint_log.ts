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
