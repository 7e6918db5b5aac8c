import type { Incarnation } from "../world/incarnation.ts";
import type { Process } from "../world/process.ts";
import { passing } from "../world/virtual_time.ts";
import type { World } from "../world/world.ts";

const minuteMs = 60_000;

/**
 * Does work in a process to its end. A process whose handler crashes takes the
 * work with it: then it is done again once the process is up.
 *
 * @param world Where.
 * @param process The process.
 * @param work What to do.
 * @param limitMs Longest that it may take, in milliseconds of the clock.
 * @throws {Error} When it takes longer.
 */
export async function inProcess<T>(
  { clock }: World,
  process: Process,
  work: (incarnation: Incarnation) => Promise<T>,
  limitMs: number,
): Promise<T> {
  const endsAt = clock.now() + limitMs;
  while (clock.now() < endsAt) {
    const { incarnation, life } = process;
    if (incarnation === null) {
      await clock.advance(minuteMs);
      continue;
    }
    const done = work(incarnation).then((result) => ({ result }));
    const outcome = await passing(
      clock,
      Promise.race([done, life.died]),
      endsAt - clock.now(),
    );
    if (outcome !== undefined) return outcome.result;
  }
  throw new Error(`The process was not up for long enough in ${limitMs} ms`);
}
