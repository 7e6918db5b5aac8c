import { printable } from "../../core/text.ts";
import type { OnProblem, Problem } from "../alarms/alarm_message.ts";
import {
  ALL_CLEARS,
  type Level,
  type Log,
  LOG_EVENTS,
  type LogEvent,
} from "../monitoring/logger.ts";

const LEVELS: Readonly<Record<Level, Problem["level"]>> = {
  error: "problem",
  warn: "warning",
  info: "fine",
};

/** Logged hourly, and not worth reporting to a person. */
const FOR_A_LOG: LogEvent = "chain_head";

/** Events whose message is a whole sentence. */
const OWN_WORDS: ReadonlySet<LogEvent> = new Set([
  "order_waits",
  "order_waits_no_more",
]);

/**
 * How problems are reported: by parts of the program, and by looks at
 * everything.
 */
export interface ProblemPort {
  /** What its parts log of themselves. */
  readonly log: Log;
  /** What looks find. */
  readonly onProblem: OnProblem;
}

/**
 * Reports both alike. What a look finds after a part of the program has
 * reported it is not reported a second time.
 */
export function problemPort(report: OnProblem): ProblemPort {
  const standing = new Set<string>();
  return {
    log: (level, event, fields = {}) => {
      if (event === FOR_A_LOG) return;
      const { since, message, advice, name, error, ...facts } = fields;
      if (event in ALL_CLEARS) standing.add(event);
      // The look counts what was told one by one.
      if (event === "order_waits") standing.add("orders_waiting");
      for (const [begun, over] of Object.entries(ALL_CLEARS)) {
        if (over === event) standing.delete(begun);
      }
      report({
        subject: null,
        code: event,
        about: textOf(name),
        level: LEVELS[level],
        since: textOf(since),
        message: OWN_WORDS.has(event)
          ? String(message)
          : [LOG_EVENTS[event], message].filter(Boolean).join(": "),
        next: textOf(advice),
        facts,
        ...error === undefined ? {} : { error },
      });
    },
    onProblem: (problem) => {
      const { code, level } = problem;
      const isNews = level === "fine"
        ? standing.delete(code)
        : !standing.has(code);
      if (!isNews) return;
      if (level !== "fine") standing.add(code);
      report(problem);
    },
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A problem in one line. */
export function problemLine(
  { code, level, since, message, next }: Problem,
): string {
  return printable(
    `rampkit ${level} ${code}: ${message}` +
      (since === null ? "" : ` (since ${since})`) +
      (next === null ? "" : `. What to do: ${next}`),
  );
}

/** Prints a line for each problem. */
export function problemPrinter(write: (line: string) => void): OnProblem {
  return (problem) => write(problemLine(problem));
}
