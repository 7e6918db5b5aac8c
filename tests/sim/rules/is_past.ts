import type { SandboxOrder } from "../../../sandbox/mod.ts";
import type { World } from "../world/world.ts";

/** The clock of the service may be ten minutes behind or ahead. */
const marginMs = 60 * 60_000;

/**
 * Whether an order had ended before the ledger went live, and the service has
 * given it no other status since.
 */
export function isPast(
  { plan }: World,
  { history }: Pick<SandboxOrder, "history">,
): boolean {
  return history.every(({ atMs }) => atMs < plan.startMs - marginMs);
}
