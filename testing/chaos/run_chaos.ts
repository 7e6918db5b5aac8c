import { Random } from "../../sandbox/random.ts";
import type { Handlers } from "../../server/start/handlers.ts";
import { drawHistory, type Step, stepLine } from "./history.ts";
import { Broken, type Guarantee, playHistory } from "./play_history.ts";

/** Which histories handlers are tested with, and for which guarantees. */
export interface ChaosOptions {
  /** How many histories are played. @default {100} */
  readonly seeds?: number;
  /** The first seed. A failure names the seed that repeats it. @default {1} */
  readonly firstSeed?: number;
  /**
   * Lists what was shipped so far, each shipment by your reference, by its
   * order id or by its click id. A purchase that is in it twice was shipped
   * twice. What earlier histories shipped may stay in it.
   */
  readonly effects: () => readonly string[] | Promise<readonly string[]>;
}

/** What was played without breaking a guarantee. */
export interface ChaosReport {
  /** Histories that were played. */
  readonly seeds: number;
  /** Things that happened in them. */
  readonly steps: number;
  /** Purchases that were shipped. */
  readonly shipped: number;
}

/** A history in which your handlers broke a guarantee. */
export class ChaosError extends Error {
  /** Literal name of the class. */
  override readonly name = "ChaosError";
  /** Repeats it: `chaos({ firstSeed: seed, seeds: 1, … })`. */
  readonly seed: number;
  /** What broke. */
  readonly guarantee: Guarantee;
  /** The shortest history that was found in which it breaks. */
  readonly history: readonly string[];

  /**
   * Creates the error.
   *
   * @param broken The guarantee, and how it broke.
   * @param seed The seed.
   * @param history What happened, one line for each step.
   */
  constructor(
    { guarantee, message }: {
      readonly guarantee: Guarantee;
      readonly message: string;
    },
    seed: number,
    history: readonly string[],
  ) {
    const lines = history.map((line, at) => `  ${at + 1}. ${line}`);
    super(
      `Broke ${guarantee} at seed ${seed}: ${message}\n${lines.join("\n")}\n` +
        `Repeat it with chaos({ firstSeed: ${seed}, seeds: 1, effects })`,
    );
    this.guarantee = guarantee;
    this.seed = seed;
    this.history = history;
  }
}

/** Most histories that are played to find a shorter one. */
const MOST_TRIES = 150;

/** Runs number through all calls: no id of one is used in another. */
let runs = 0;

/**
 * Plays histories until one breaks a guarantee or all have held.
 *
 * @throws {ChaosError} For the first that breaks one.
 * @throws {RangeError} When nothing would be played.
 */
export async function runChaos(
  on: Handlers,
  { seeds = 100, firstSeed = 1, effects }: ChaosOptions,
): Promise<ChaosReport> {
  if (!(Number.isInteger(seeds) && seeds > 0)) {
    throw new RangeError(
      `Cannot play chaos: seeds is ${seeds}; use a whole number from 1 on`,
    );
  }
  let steps = 0;
  let shipped = 0;
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const play = (steps: readonly Step[]) =>
      playHistory({ on, steps, effects, seed, run: ++runs });
    const history = drawHistory(new Random(seed).fork("history"));
    try {
      shipped += await play(history);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      const shortest = await shorten(history, error, play);
      throw new ChaosError(
        shortest.broken,
        seed,
        shortest.history.map(stepLine),
      );
    }
    steps += history.length;
  }
  return { seeds, steps, shipped };
}

/**
 * Leaves out steps without which it still breaks: halves first, then single
 * ones.
 */
async function shorten(
  history: readonly Step[],
  broken: Broken,
  play: (history: readonly Step[]) => Promise<unknown>,
): Promise<{ readonly history: readonly Step[]; readonly broken: Broken }> {
  let found = { history, broken };
  let tries = 0;
  const brokenAlike = (error: unknown): Broken | null => {
    if (!(error instanceof Broken)) throw error;
    return error.guarantee === broken.guarantee ? error : null;
  };
  for (let size = Math.ceil(history.length / 2); size >= 1;) {
    let left = false;
    for (
      let from = 0;
      from < found.history.length && tries < MOST_TRIES;
    ) {
      tries++;
      const shorter = found.history.toSpliced(from, size);
      const again = await play(shorter).then(() => null, brokenAlike);
      if (again === null) from += size;
      else {
        found = { history: shorter, broken: again };
        left = true;
      }
    }
    if (size === 1 && !left) break;
    if (tries >= MOST_TRIES) break;
    size = size === 1 ? 1 : Math.ceil(size / 2);
  }
  return found;
}
