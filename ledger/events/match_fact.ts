/** Every result of a comparison. */
export const MATCH_FACTS = [
  "nothing",
  "no_amount",
  "differs",
  "several",
  "matched",
] as const;

/**
 * How the latest reading compares with what the partner recorded.
 *
 * - `nothing`: nothing was recorded that the order can belong to.
 * - `no_amount`: what was recorded agrees, and no amount could be compared.
 * - `differs`: nothing that was recorded agrees.
 * - `several`: more than one reference agrees, or too many were recorded.
 * - `matched`: what was recorded for one reference agrees, amount included.
 */
export type MatchFact = (typeof MATCH_FACTS)[number];
