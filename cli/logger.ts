/** How much a line of the log matters. */
export type Level = "info" | "warn" | "error";

/** Writes one line of the structured log. Fields never hold secrets. */
export type Log = (
  level: Level,
  event: string,
  fields?: Readonly<Record<string, unknown>>,
) => void;

/**
 * A structured log: one JSON object a line, with `time`, `level` and `event`.
 */
export function jsonLog(write: (text: string) => void, now: () => number): Log {
  return (level, event, fields) =>
    write(
      `${
        JSON.stringify({
          time: new Date(now()).toISOString(),
          level,
          event,
          ...fields,
        })
      }\n`,
    );
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
