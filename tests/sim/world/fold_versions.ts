import type { Fact, FoldCode } from "../../../ledger/testing/mod.ts";
import { FOLD_VERSION, readFact } from "../../../ledger/for_sync.ts";

/** A fold that an earlier package might have had, and the one of today. */
export const FOLD_VERSIONS: readonly [earlier: number, today: number] = [
  FOLD_VERSION - 1,
  FOLD_VERSION,
];

/**
 * The code of a version of the fold. The earlier one takes no card brands in,
 * so that states tell by which of the two they were folded.
 *
 * @param today The fold of today, where a rule of it is broken on purpose.
 * @param version One of {@linkcode FOLD_VERSIONS}.
 */
export function foldCode(
  today: FoldCode | undefined,
  version: number,
): FoldCode {
  const read = today?.readFact ?? readFact;
  return {
    version,
    readFact: version === FOLD_VERSION
      ? read
      : (event) => withoutBrand(read(event)),
  };
}

function withoutBrand(fact: Fact): Fact {
  return fact.kind === "order_snapshot"
    ? { ...fact, reading: { ...fact.reading, cardBrand: null } }
    : fact;
}
