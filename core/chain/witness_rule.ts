/**
 * Whether the release of a success waits until the partner's chain nodes have
 * seen it arrive.
 *
 * - `off`: it does not wait.
 * - `supported`: it waits, unless the order's pair cannot be looked at: its
 *   network is not configured, or its token is not pinned.
 * - `all`: it waits whatever the pair; for one that cannot be looked at a
 *   person decides.
 */
export type WitnessRule = "off" | "supported" | "all";

/** Every rule, in the order in which documents list them. */
export const WITNESS_RULES: readonly WitnessRule[] = [
  "off",
  "supported",
  "all",
];
