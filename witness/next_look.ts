import type { ChainReading } from "../ledger/for_witness.ts";

/** What decides when an order is looked at next. */
export interface NextLookOptions {
  /** The last look at what the service shows now; null before the first. */
  readonly last:
    | Pick<
      ChainReading,
      "verdict" | "final" | "confirmations" | "readAt"
    >
    | null;
  /** Since when there is something to look at, milliseconds since 1970. */
  readonly sinceMs: number;
  /** Time between two blocks, in milliseconds. */
  readonly blockMs: number;
  /** Blocks that count as final. */
  readonly confirmations: number;
}

/** Shortest time between two looks. */
const LEAST_MS = 5_000;
/** Longest time between two looks while an order is looked at. */
const MOST_MS = 6 * 3_600_000;
/** Time after which a transaction is no longer looked for. */
export const GIVEN_UP_AFTER_MS: number = 30 * 86_400_000;

/**
 * When an order is looked at next: at once, then once the missing confirmations
 * can be there; what has no block yet, or was not decided, after a growing
 * while. After a final verdict never, but after a reorganisation again.
 *
 * @returns Milliseconds since 1970; null for never.
 *
 * @example A transaction that is two blocks short
 * ```ts
 * import { nextLookMs } from "./next_look.ts";
 * import assert from "node:assert/strict";
 *
 * const readAt = "2026-11-20T10:00:00.000Z";
 * const next = nextLookMs({
 *   last: { verdict: "delivered", final: false, confirmations: 1, readAt },
 *   sinceMs: Date.parse(readAt),
 *   blockMs: 12_000,
 *   confirmations: 3,
 * });
 * assert.equal(next, Date.parse(readAt) + 24_000);
 * ```
 */
export function nextLookMs(
  { last, sinceMs, blockMs, confirmations }: NextLookOptions,
): number | null {
  if (last === null) return sinceMs;
  if (last.final && last.verdict !== "reorged") return null;
  const readMs = Date.parse(last.readAt);
  const ageMs = Math.max(0, readMs - sinceMs);
  if (ageMs >= GIVEN_UP_AFTER_MS) return null;
  const missing = last.confirmations === null
    ? null
    : confirmations - last.confirmations;
  const waitMs = missing !== null && missing > 0
    ? missing * blockMs
    : Math.max(blockMs, ageMs / 4);
  return readMs + Math.min(MOST_MS, Math.max(LEAST_MS, waitMs));
}
