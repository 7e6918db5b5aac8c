/** Work that is done where the database is, in steps that an append can wait for. */
import type { Driver } from "../store/driver/driver.ts";
import {
  FOLD,
  project,
  type Projected,
  type ProjectOptions,
} from "./project.ts";

export interface FoldParts
  extends Pick<ProjectOptions, "assets" | "fold" | "redactNew"> {
  readonly driver: Driver;
}

/** Work that the thread of a database knows by name; what it takes and gives is data. */
export interface Work<Options, Result> {
  readonly name: string;
  make(parts: FoldParts, options: Options): Promise<Result>;
}

/** Folds the next events. */
export const NEXT_EVENTS = {
  name: "events",
  make: (
    { driver, ...parts }: FoldParts,
    { most }: Most,
  ): Promise<Projected> => project(driver, { ...parts, maxEvents: most }),
};

export interface Most {
  /** Most events of a step. */
  readonly most: number;
}

/** A step should not take longer: an append waits for it. */
const STEP_MS = 45;
const FEWEST_EVENTS = 100;

/**
 * Lets work be done in steps, each of as many events as fit into that time by how long
 * the last one took. It is done in the thread that owns the database, where one does:
 * its fold is that of this version. A server takes appends meanwhile.
 */
export function inSteps<
  Options,
  Result extends { readonly events: number },
>(
  parts: FoldParts,
  { name, make }: Work<Options & Most, Result>,
  most: number,
): (options: Options) => Promise<Result> {
  const { driver: { location, work }, assets, fold = FOLD } = parts;
  let size = location === "remote" ? most : FEWEST_EVENTS;
  return async (options) => {
    const beganMs = performance.now();
    const asked = { ...options, most: size };
    const result = work !== undefined && fold === FOLD
      ? await work(name, { assets, ...asked }) as Result
      : await make(parts, asked);
    const ms = performance.now() - beganMs;
    // A step with few events says little of how long many take.
    if (location !== "remote" && result.events >= size / 2 && ms > 0) {
      const wanted = Math.max(result.events * STEP_MS / ms, FEWEST_EVENTS);
      size = Math.round(Math.min(Math.max(wanted, size / 2), 2 * size, most));
    }
    return result;
  };
}
