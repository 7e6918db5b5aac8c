import type { SandboxOrder } from "../../../sandbox/mod.ts";
import type { World } from "../world/world.ts";

/** The clock of the service may be ten minutes behind or ahead. */
const marginMs = 60 * 60_000;

/**
 * Whether an order had ended before the ledger went live, and the service has
 * said nothing else of it since.
 */
export function isPast(
  world: World,
  { history, changedAtMs }: Pick<SandboxOrder, "history" | "changedAtMs">,
): boolean {
  return hadEnded(world, { history }) &&
    changedAtMs < world.plan.startMs - marginMs;
}

/** Whether an order had its status before the ledger went live. */
export function hadEnded(
  { plan }: World,
  { history }: Pick<SandboxOrder, "history">,
): boolean {
  return history.every(({ atMs }) => atMs < plan.startMs - marginMs);
}

/**
 * Whether an order had succeeded before the ledger went live, whatever the
 * service said of that success afterwards.
 */
export function hadSucceeded(
  { plan }: World,
  { history }: Pick<SandboxOrder, "history">,
): boolean {
  return history.some(({ status, atMs }) =>
    status === "success" && atMs < plan.startMs - marginMs
  );
}
