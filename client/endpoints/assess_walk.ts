import {
  type Completeness,
  describeIncomplete,
  type IncompleteReason,
} from "../../core/wire/completeness.ts";

/** One pass over a window, as it went. */
export interface PassEvidence {
  /** Distinct identifiers seen. */
  readonly ids: ReadonlySet<string>;
  /** Distinct rows seen that state no usable identifier. */
  readonly rowsWithoutId: number;
  /** Why the pass did not reach its end; null when it did. */
  readonly broken: IncompleteReason | null;
  /** The first `total` the service stated; null when it stated none. */
  readonly total: number | null;
}

/** All that is known about a walk. */
export interface WalkEvidence {
  /** Why such a walk can prove nothing, whatever it reads; null when it can. */
  readonly unprovable: IncompleteReason | null;
  /** End of the window, milliseconds since 1970; null when it is open. */
  readonly windowEndMs: number | null;
  /** The service's time on the first page, milliseconds since 1970. */
  readonly serviceNowMs: number | null;
  /** How long after its creation an item may still appear, in milliseconds. */
  readonly settleMs: number;
  /** Pages read, over all passes. */
  readonly pages: number;
  /** The passes, in order. */
  readonly passes: readonly PassEvidence[];
  /** Whether the reader stopped before the walk was over. */
  readonly stopped: boolean;
}

/**
 * Decides whether a walk has seen everything.
 *
 * It has if the window lies in the past, each pass reached its end, each row
 * had an identifier, and passes in both directions saw the same. The service's
 * `total` proves nothing: a wrong one is a warning.
 *
 * @param evidence All that is known about the walk.
 * @returns The statement, with its reason when there is no proof.
 *
 * @example A single pass proves nothing
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const statement = assessWalk({
 *   unprovable: null,
 *   windowEndMs: 0,
 *   serviceNowMs: 60_000,
 *   settleMs: 60_000,
 *   pages: 1,
 *   passes: [
 *     { ids: new Set(["A"]), rowsWithoutId: 0, broken: null, total: 1 },
 *   ],
 *   stopped: false,
 * });
 * assert.equal(statement.complete, false);
 * ```
 */
export function assessWalk(evidence: WalkEvidence): Completeness {
  const { passes, pages, stopped } = evidence;
  const all = new Set<string>();
  for (const pass of passes) for (const id of pass.ids) all.add(id);
  const total = passes.findLast((pass) => pass.total !== null)?.total ?? null;
  const facts = {
    pages,
    items: all.size,
    passes: passes.length,
    exhausted: !stopped && passes.length > 0 &&
      passes.every((pass) => pass.broken === null && pass.rowsWithoutId === 0),
    total,
    warnings: totalWarnings(passes),
  };
  const reason = reasonAgainst(evidence, all.size);
  if (reason === null) return { complete: true, ...facts };
  return { complete: false, reason, why: describeIncomplete(reason), ...facts };
}

/** Whether the service's own count calls for one more pass. */
export function totalIsOdd(pass: PassEvidence): boolean {
  return pass.total !== rowsOf(pass);
}

function rowsOf(pass: PassEvidence): number {
  return pass.ids.size + pass.rowsWithoutId;
}

function totalWarnings(passes: readonly PassEvidence[]): readonly string[] {
  return passes.filter((pass) => pass.broken === null && totalIsOdd(pass)).map(
    (pass) =>
      pass.total === null
        ? "The service stated no total"
        : `The service stated a total of ${pass.total}, but ${rowsOf(pass)} ` +
          "were read",
  ).filter((warning, at, list) => list.indexOf(warning) === at);
}

function reasonAgainst(
  evidence: WalkEvidence,
  items: number,
): IncompleteReason | null {
  const { passes, windowEndMs, serviceNowMs, settleMs } = evidence;
  if (evidence.stopped) return { code: "stopped" };
  const broken = passes.find((pass) => pass.broken !== null)?.broken;
  if (broken !== undefined && broken !== null) return broken;
  const rows = Math.max(0, ...passes.map((pass) => pass.rowsWithoutId));
  if (rows > 0) return { code: "rows_without_id", rows };
  if (evidence.unprovable !== null) return evidence.unprovable;
  if (windowEndMs === null) return { code: "window_open" };
  if (serviceNowMs === null || windowEndMs > serviceNowMs - settleMs) {
    return { code: "window_too_young", settleMs };
  }
  if (passes.length < 2) return { code: "one_pass" };
  if (passes.some((pass) => pass.ids.size !== items)) {
    const seen = passes.map((pass) => pass.ids.size);
    return { code: "passes_differ", seen, together: items };
  }
  return null;
}
