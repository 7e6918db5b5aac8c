import type { Entity } from "../entity.ts";
import type { NewProgress } from "./sweeps/sweep_new.ts";

/** How far the past has been read, and whether that is proven. */
export interface BackfillStatement {
  /** True only with proof for every second from `from` to `until`. */
  readonly complete: boolean;
  /** Why not, in one sentence; null when it is. */
  readonly why: string | null;
  /** Where the past begins, UTC ISO 8601; null before the first request. */
  readonly from: string | null;
  /** Where it ended when the walk began, UTC ISO 8601. */
  readonly until: string | null;
  /** All up to here has been walked, UTC ISO 8601. */
  readonly doneUpTo: string | null;
  /** Stretches walked without proof. */
  readonly gaps: readonly {
    /** Exclusive start, UTC ISO 8601. */
    readonly from: string;
    /** Inclusive end, UTC ISO 8601. */
    readonly until: string;
    /** Why there is no proof. */
    readonly why: string;
  }[];
}

/**
 * Says how far the past has been read, and whether that is proven.
 *
 * @param entity Orders or users.
 * @param progress Progress of the sweep for what is new; null before it began.
 */
export function backfillStatement(
  entity: Entity,
  progress: NewProgress | null,
): BackfillStatement {
  if (progress === null) {
    return {
      complete: false,
      why: `The walk through the past of the ${entity}s has not begun`,
      from: null,
      until: null,
      doneUpTo: null,
      gaps: [],
    };
  }
  const doneUpTo = isoTime(progress.walk.doneUpToMs);
  const gaps = progress.gaps.map((gap) => ({
    from: isoTime(gap.fromMs),
    until: isoTime(gap.untilMs),
    why: gap.why,
  }));
  const first = gaps[0];
  const why = progress.finishedAt === null
    ? `The walk through the past of the ${entity}s has come to ${doneUpTo}`
    : first === undefined
    ? null
    : `${first.why} (from ${first.from} to ${first.until}${
      gaps.length > 1 ? `, and ${gaps.length - 1} more` : ""
    })`;
  return {
    complete: why === null,
    why,
    from: isoTime(progress.fromMs),
    until: isoTime(progress.untilMs),
    doneUpTo,
    gaps,
  };
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
