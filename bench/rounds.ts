/** The middle value; of an even number of values the lower middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[(sorted.length - 1) >> 1];
  if (middle === undefined) throw new RangeError("Cannot take no median");
  return middle;
}

/**
 * Measures several sides in turns, so that whatever else the machine does
 * meets all of them alike.
 *
 * @param count Rounds; each measures every side once.
 * @param sides What to measure.
 * @returns What each side measured, round by round.
 */
export async function interleave<Name extends string, Result>(
  count: number,
  sides: Readonly<Record<Name, () => Promise<Result>>>,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(sides) as Name[];
  const results = Object.fromEntries(
    names.map((name) => [name, []]),
  ) as unknown as Record<Name, Result[]>;
  for (let round = 0; round < count; round++) {
    // Every other round backwards: nobody always comes second.
    const order = round % 2 === 0 ? names : names.toReversed();
    for (const name of order) results[name].push(await sides[name]());
  }
  return results;
}

/**
 * How often a piece of work was done in a second.
 *
 * @param work Does it, and says how many times.
 */
export async function rate(work: () => Promise<number>): Promise<number> {
  const start = performance.now();
  const count = await work();
  return count / (performance.now() - start) * 1000;
}
