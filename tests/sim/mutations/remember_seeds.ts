/**
 * Writes `noticed_at.json` anew, with which the tests begin: for each rule
 * broken on purpose the seed that noticed it before, or else the first that
 * does. It writes after each rule, so that it can be stopped and run again.
 * `deno run -A tests/sim/mutations/remember_seeds.ts`
 *
 * @module
 */
import { ruleBrokenAt, seedsOf } from "./mutation_table.ts";
import { MUTATIONS } from "./mutations.ts";
import type { Mutation } from "./mutation.ts";
import remembered from "./noticed_at.json" with { type: "json" };

/** The first seed at which a rule of the project, and no error, tells of it. */
async function noticedAt(mutation: Mutation): Promise<number | null> {
  for (const seed of seedsOf(mutation)) {
    const rule = await ruleBrokenAt(mutation, seed);
    if (rule !== null && rule !== "the simulation itself") return seed;
  }
  return null;
}

const names = new Set(MUTATIONS.map(({ name }) => name));
const seeds: Record<string, number> = Object.fromEntries(
  Object.entries(remembered).filter(([name]) => names.has(name)),
);
for (const mutation of MUTATIONS) {
  const { name } = mutation;
  const seed = await noticedAt(mutation);
  console.log(`${seed ?? "not noticed"}  ${name}, before ${seeds[name]}`);
  if (seed === null) delete seeds[name];
  else seeds[name] = seed;
  await Deno.writeTextFile(
    new URL("./noticed_at.json", import.meta.url),
    JSON.stringify(seeds, null, 2) + "\n",
  );
}
