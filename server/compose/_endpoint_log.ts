import type {
  UntimedLogEntry,
  WebhookLogCode,
} from "../../webhooks/for_server.ts";
import { isLogged, type LogEvent } from "../monitoring/log_events.ts";
import type { Log } from "../monitoring/logger.ts";

/** What the endpoint's events are called where it stores in the spool. */
export const SPOOL_EVENTS = {
  append_failing: "spool_failed",
  append_recovered: "spool_recovered",
} as const;

/**
 * Writes what endpoint and spool report into the log of the program.
 *
 * @param events Names of events that are called otherwise here.
 */
export function endpointLog(
  log: Log,
  events: Readonly<Partial<Record<WebhookLogCode, LogEvent>>> = {},
): (entry: UntimedLogEntry & { readonly at?: string }) => void {
  return ({ level, code, at: _, ...fields }) => {
    if (level !== "debug" && isLogged(code)) {
      log(level, events[code] ?? code, fields);
    }
  };
}
