import type { World } from "../world/world.ts";

/**
 * Whether the times of the service can be compared with ours. A service whose
 * clock is behind dates orders before what was recorded for them.
 */
export function areClocksTrue({ plan, journal }: World): boolean {
  const { clockSkewMs = 0 } = plan.service;
  return clockSkewMs >= -60_000 && !journal.faults.has("clock set back");
}
