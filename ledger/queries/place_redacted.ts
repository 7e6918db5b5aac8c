import type { Fact } from "../events/fact.ts";

/**
 * Puts what was kept of erased events at the places of those, so that what was
 * known at a position is the same after an erasure.
 *
 * @param facts Facts of one order.
 * @returns The facts by position.
 */
export function placeRedacted(facts: readonly Fact[]): Fact[] {
  if (facts.every(({ redacts }) => redacts === undefined)) return [...facts];
  const places = new Map(
    facts.map(({ eventId, position }) => [eventId, position]),
  );
  return facts.map((fact) => {
    const position = places.get(fact.redacts ?? "");
    return position === undefined ? fact : { ...fact, position };
  }).sort((a, b) => a.position - b.position);
}
