import type { Finding } from "../../resources/health/finding.ts";

/**
 * Something a person should know about a running program, or that it is over.
 */
export interface Problem {
  /**
   * What was checked, one word; null when a part of the program reports itself.
   */
  readonly subject: string | null;
  /** What it is, one word; docs/reference/health.md says what each means. */
  readonly code: string;
  /** Which of several it is about, for example a handler; else null. */
  readonly about: string | null;
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
  /** What a handler of yours threw, with its stack; else absent. */
  readonly error?: unknown;
}

/** Called once when a problem begins, and once when it is over. */
export type OnProblem = (problem: Problem) => void;

/** What was found, as it is reported to a person. */
export function problemOf({ level, detail, ...finding }: Finding): Problem {
  return {
    ...finding,
    level: level === "skipped" ? "fine" : level,
    message: detail,
  };
}

/** The same once it is over. */
export function problemOver(finding: Finding): Problem {
  const message = overMessage(finding);
  return { ...problemOf(finding), level: "fine", message, next: null };
}

/** One sentence that says that it is over. */
export function overMessage({ detail }: Pick<Finding, "detail">): string {
  return `Over: ${detail}`;
}
