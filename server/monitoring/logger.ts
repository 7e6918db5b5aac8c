import type { LogEvent } from "./log_events.ts";
import { printableJson } from "../../resources/views/printable.ts";

/** How much a line of the log matters. */
export type Level = "info" | "warn" | "error";

/** Writes one line of the structured log. Fields never hold secrets. */
export type Log = (
  level: Level,
  event: LogEvent,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/**
 * A structured log: one JSON object a line, with `time`, `level` and `event`.
 */
export function jsonLog(write: (text: string) => void, now: () => number): Log {
  return (level, event, fields) =>
    write(
      `${
        printableJson({
          time: new Date(now()).toISOString(),
          level,
          event,
          ...fields,
        })
      }\n`,
    );
}
