import {
  ASSUMPTION_NAMES,
  type AssumptionName,
} from "../../core/assumptions/assumptions.ts";
import { CONFORMANCE_ROWS } from "./conformance_rows.ts";
import type {
  Facts,
  NotSeenReason,
  Observations,
} from "./observing/observation.ts";
import type { ConformanceRow } from "./observing/row.ts";

/** Whether the service is as it is taken to be, in one respect. */
export type Judgement =
  | {
    readonly name: AssumptionName;
    readonly verdict: "agrees" | "differs";
    /** What was seen. */
    readonly facts: Facts;
  }
  | {
    readonly name: AssumptionName;
    readonly verdict: "not_seen";
    /** Why it could not be looked at. */
    readonly reason: NotSeenReason;
  };

/** How each assumption that can be looked at is judged, by any name. */
const ROWS: Readonly<Partial<Record<AssumptionName, ConformanceRow>>> =
  CONFORMANCE_ROWS;

/**
 * Judges what was seen, row by row. Nothing is asked, so that a transcript can
 * be judged again by a later version.
 *
 * @param observations What was seen of each assumption.
 * @returns One judgement an assumption, in the order of the table.
 */
export function judge(observations: Observations): readonly Judgement[] {
  return ASSUMPTION_NAMES.map((name) => {
    const seen = observations[name];
    const row = ROWS[name];
    if (seen === undefined || row === undefined) {
      const reason = seen !== undefined && "notSeen" in seen
        ? seen.notSeen
        : "not_in_transcript";
      return { name, verdict: "not_seen", reason };
    }
    if ("notSeen" in seen) {
      return { name, verdict: "not_seen", reason: seen.notSeen };
    }
    const { facts } = seen;
    const agrees = agreesWith(row, facts);
    return agrees === null
      ? { name, verdict: "not_seen", reason: "not_in_transcript" }
      : { name, verdict: agrees ? "agrees" : "differs", facts };
  });
}

/** Null where a transcript of another version lacks facts that are judged. */
function agreesWith(row: ConformanceRow, facts: Facts): boolean | null {
  try {
    return row.agrees(facts);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
