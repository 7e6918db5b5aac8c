import type { Transition } from "../../../ledger/mod.ts";

/**
 * The first transition that a receiver of all should have been told of and was
 * not. A `yes` that was withdrawn before it was handed over is parked, and told
 * in place of `restored`: so only orders that are released in the end have to
 * have had theirs, and none that a person dealt with.
 *
 * @param log Every transition, in order.
 * @param told Keys that the receiver was told of.
 * @param byHand Orders that a person delivered or refunded.
 * @returns Its key; null when nothing is missing.
 */
export function notTold(
  log: readonly Transition[],
  told: { has(key: string): boolean },
  byHand: ReadonlySet<string>,
): string | null {
  const last = new Map<string, Transition>();
  for (const one of log) if (one.logged !== null) last.set(one.id, one);
  for (const { key, id, live, logged } of log) {
    if (!live || told.has(key)) continue;
    if (logged?.release !== "yes") return key;
    if (byHand.has(id)) continue;
    const isReleased = last.get(id)?.logged?.release === "yes";
    const isToldAsYes = told.has(`order:${id}:release.yes`);
    if (isReleased && !isToldAsYes) return key;
  }
  return null;
}
