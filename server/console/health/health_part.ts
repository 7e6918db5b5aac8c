/**
 * How well a part of the whole is.
 *
 * - `good`: as it should be.
 * - `warn`: works, and a person should know.
 * - `bad`: does not work.
 * - `unused`: there is nothing to watch.
 */
export type HealthLevel = "good" | "warn" | "bad" | "unused";

/** The parts, in the order in which they are shown. */
export const HEALTH_PARTS = [
  "Webhooks",
  "Polling",
  "Ledger",
  "Backlog",
  "Forwarding",
  "Comparison",
] as const;

/** One part of the health bar. */
export interface HealthPart {
  /** Its name. */
  readonly name: (typeof HEALTH_PARTS)[number];
  /** How well it is. */
  readonly level: HealthLevel;
  /** Since when, UTC ISO 8601; null where that is not known. */
  readonly since: string | null;
  /** What is seen, in one sentence. */
  readonly detail: string;
  /** What to do; null where there is nothing to do. */
  readonly advice: string | null;
}
