/**
 * Writes `noticed_at.json` anew, with which the tests begin: for each rule
 * broken on purpose the cheapest of the first three seeds that notice.
 * `deno run -A tests/sim/mutations/remember_seeds.ts`
 *
 * @module
 */
import process from "node:process";
import { ruleBrokenAt } from "./mutation_table.ts";
import { MUTATIONS } from "./mutations.ts";

const seeds: Record<string, number> = {};
for (const mutation of MUTATIONS) {
  const noticed: { readonly seed: number; readonly cost: number }[] = [];
  for (let seed = 1; seed <= mutation.within && noticed.length < 3; seed++) {
    const before = process.cpuUsage();
    const rule = await ruleBrokenAt(mutation, seed);
    if (rule === null || rule === "the simulation itself") continue;
    noticed.push({ seed, cost: process.cpuUsage(before).user });
  }
  const [cheapest] = noticed.sort((a, b) => a.cost - b.cost);
  if (cheapest !== undefined) seeds[mutation.name] = cheapest.seed;
}
await Deno.writeTextFile(
  new URL("./noticed_at.json", import.meta.url),
  JSON.stringify(seeds, null, 2) + "\n",
);
