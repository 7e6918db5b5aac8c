import { printableJson } from "../../core/printable.ts";
import type { ExclusionCounts, MonthSums } from "./month_summary.ts";
import type { BookBy } from "./month_row.ts";

/** How a month was worked out. */
export interface MonthTerms {
  /** The month, `2026-11`. */
  readonly month: string;
  /** Time zone of its days. */
  readonly timeZone: string;
  /** Version of the time zone data; null where the runtime does not say. */
  readonly timeZoneVersion: string | null;
  /** Which time of an order decides its month. */
  readonly bookBy: BookBy;
  /** What was known. */
  readonly asOf: {
    /** Position of the last event. */
    readonly position: number;
    /** Events up to it. */
    readonly events: number;
  };
  /** Version of the fold. */
  readonly foldVersion: number;
}

/** What a closed month adds up to: its `summary.json`. */
export interface MonthSummary extends MonthTerms, MonthSums {
  /** Orders that are not booked, by reason. */
  readonly excluded: ExclusionCounts;
  /** Orders that are `unclear`, sorted: a person asks the service. */
  readonly unclear: readonly string[];
}

/** Writes a summary as `summary.json`: one key order, two spaces. */
export function summaryFile(summary: MonthSummary): string {
  return `${printableJson(summary, 2)}\n`;
}
