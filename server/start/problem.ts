import type { Finding } from "../../resources/health/finding.ts";
import { printable } from "../../core/printable.ts";
import {
  ALL_CLEARS,
  type Level,
  type Log,
  LOG_EVENTS,
  type LogEvent,
} from "../monitoring/logger.ts";

/** Something that a person should know of a running program. */
export interface Problem {
  /** What it is, one word; RUNBOOK.md says what each means. */
  readonly code: string;
  /** `fine` says that it is over, or is there for information only. */
  readonly level: "problem" | "warning" | "fine";
  /** Since when, UTC ISO 8601; null where that is not known. */
  readonly since: string | null;
  /** What is wrong, in one sentence. Never a secret. */
  readonly message: string;
  /** What to do; null where there is nothing to do. */
  readonly next: string | null;
  /** Figures and words behind it; never a secret, never a person. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Is told of each problem once, and once that it is over. */
export type OnProblem = (problem: Problem) => void;

const LEVELS: Readonly<Record<Level, Problem["level"]>> = {
  error: "problem",
  warn: "warning",
  info: "fine",
};

/** Each event that says that another one is over. */
const OVER: ReadonlySet<string> = new Set(Object.values(ALL_CLEARS));

/** Hourly, and nothing that a person has to know. */
const FOR_A_LOG: LogEvent = "chain_head";

/** A look found it. */
export function problemOf(
  { code, level, since, detail, next, facts }: Finding,
): Problem {
  const told = level === "skipped" ? "fine" : level;
  return { code, level: told, since, message: detail, next, facts };
}

/**
 * A log whose lines are problems. What a look at everything finds after a part
 * of the program has told of it by itself is not told a second time.
 */
export function problemLog(tell: OnProblem): Log {
  const standing = new Set<string>();
  return (level, event, fields = {}) => {
    const { code = event, since, message, advice, ...rest } = fields;
    const name = String(code);
    if (event === FOR_A_LOG) return;
    const isAlarm = event === "alarm_raised" || event === "alarm_cleared";
    if (event === "alarm_raised" && standing.has(name)) return;
    if (event === "alarm_cleared" && !standing.delete(name)) return;
    if (event === "alarm_raised" || event in ALL_CLEARS) standing.add(name);
    if (OVER.has(event)) standing.delete(begun(event));
    const means = isAlarm && event === "alarm_raised" && message
      ? ""
      : LOG_EVENTS[event];
    tell({
      code: name,
      level: LEVELS[level],
      since: typeof since === "string" ? since : null,
      message: [means, message].filter(Boolean).join(": "),
      next: typeof advice === "string" ? advice : null,
      facts: rest,
    });
  };
}

/** The event that this one says to be over. */
function begun(event: LogEvent): string {
  const found = Object.entries(ALL_CLEARS).find(([, over]) => over === event);
  return found?.[0] ?? event;
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

/**
 * Tells of problems by a line each.
 *
 * @param write Writes a line, without its end.
 */
export function problemPrinter(write: (line: string) => void): OnProblem {
  return (problem) => write(problemLine(problem));
}
