import { type Watched, watched } from "./machine.ts";
import type { Usage } from "./machine_usage.ts";

/** The most steal with which a round counts. */
const mostSteal = 0.05;
/** How often a round is measured before it counts as it is. */
const attempts = 4;

/** The middle value; of an even number of values the lower middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[(sorted.length - 1) >> 1];
  if (middle === undefined) throw new RangeError("Cannot take no median");
  return middle;
}

/** What the rounds of one side came to. */
export interface Side<Result> {
  /** One for each round. */
  readonly results: readonly Result[];
  /** How the processors were used, round by round; empty where unknown. */
  readonly usages: readonly Usage[];
}

/** How rounds are measured. */
export interface RoundsOptions {
  /** Called with each round that is done again. */
  readonly say: (text: string) => void;
  /**
   * Measures one side once, and how the machine was used meanwhile.
   *
   * @default watches this process
   */
  readonly watch?: <Result>(
    work: () => Promise<Result>,
  ) => Promise<Watched<Result>>;
}

/**
 * Measures several sides in turns, so that whatever else the machine does
 * meets all of them alike. What was measured while the host gave more than a
 * twentieth of the machine away is measured again, three times at most.
 *
 * @param count Rounds; each measures every side once.
 * @param sides What to measure.
 * @returns What each side measured, round by round.
 */
export async function interleave<Name extends string, Result>(
  count: number,
  sides: Readonly<Record<Name, () => Promise<Result>>>,
  { say, watch = watched }: RoundsOptions,
): Promise<Record<Name, Side<Result>>> {
  const names = Object.keys(sides) as Name[];
  const measured = new Map<Name, Watched<Result>[]>(
    names.map((name) => [name, []]),
  );
  for (let round = 0; round < count; round++) {
    // Every other round backwards: nobody always comes second.
    const order = round % 2 === 0 ? names : names.toReversed();
    for (const name of order) {
      measured.get(name)?.push(await unstolen(name, sides[name], say, watch));
    }
  }
  return Object.fromEntries(
    [...measured].map(([name, rounds]) => [name, {
      results: rounds.map(({ result }) => result),
      usages: rounds.map(({ usage }) => usage).filter((one) => one !== null),
    }]),
  ) as unknown as Record<Name, Side<Result>>;
}

async function unstolen<Result>(
  name: string,
  side: () => Promise<Result>,
  say: (text: string) => void,
  watch: NonNullable<RoundsOptions["watch"]>,
): Promise<Watched<Result>> {
  for (let attempt = 1;; attempt++) {
    const round = await watch(side);
    const steal = round.usage?.steal ?? 0;
    if (steal <= mostSteal) return round;
    const percent = `${Math.round(steal * 100)} % of the machine was stolen`;
    if (attempt === attempts) {
      say(`${name}: ${percent}; kept, as it was no better before`);
      return round;
    }
    say(`${name}: ${percent}; once more`);
  }
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
