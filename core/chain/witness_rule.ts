/**
 * Whether the release of a success waits until the partner's chain nodes have
 * seen it arrive.
 *
 * - `off`: it does not wait.
 * - `supported`: it waits, unless nobody can look at the order's pair: its
 *   network is not configured, or its token is not pinned.
 * - `all`: it waits whatever the pair; of one that nobody can look at it is for a
 *   person to decide.
 */
export type WitnessRule = "off" | "supported" | "all";

/** Every rule, in the order in which documents list them. */
export const WITNESS_RULES: readonly WitnessRule[] = [
  "off",
  "supported",
  "all",
];
