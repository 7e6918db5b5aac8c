/**
 * `deno task sim`: runs seeds, one in each thread, and says what they found;
 * `--mutations` breaks rules on purpose and says which seed noticed; `--flood`
 * invents very many orders and says how soon true ones are confirmed.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { floodLedger, tooLate } from "./long_flood.ts";
import { seedsFrom, simulateMany } from "./many_seeds.ts";
import { mutationLines, tryMutation } from "./mutations/mutation_table.ts";
import { MUTATIONS } from "./mutations/mutations.ts";
import { addTo, emptyTally, failureText, tallyLines } from "./tally.ts";

const USAGE =
  `Usage: deno task sim [--seed N] [--runs M] [--keep-going] [--json]
       deno task sim --mutations [--only WORDS] [--json]
       deno task sim --flood IDS [--json]`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "1" },
    "keep-going": { type: "boolean", default: false },
    mutations: { type: "boolean", default: false },
    flood: { type: "string", default: "" },
    only: { type: "string", default: "" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const first = Number(values.seed);
const runs = Number(values.runs);
const flood = Number(values.flood);
if (
  !Number.isSafeInteger(flood) || values.help || !Number.isSafeInteger(first) ||
  !(runs >= 1)
) {
  console.error(USAGE);
  Deno.exit(values.help ? 0 : 2);
}

let stopped = false;
Deno.addSignalListener("SIGTERM", () => {
  stopped = true;
});
Deno.addSignalListener("SIGINT", () => {
  if (stopped) Deno.exit(130);
  stopped = true;
});
/** Lets a signal be heard: a run keeps to itself until its end. */
const listen = () => new Promise((resolve) => setTimeout(resolve));

const startedMs = performance.now();
let sayAfterMs = 1000;
Deno.exit(
  values.mutations
    ? await tryMutations()
    : flood > 0
    ? await runFlood()
    : await runSeeds(),
);

async function runSeeds(): Promise<number> {
  const tally = emptyTally();
  for await (const report of simulateMany({ seeds: seedsFrom(first, runs) })) {
    if (stopped) break;
    addTo(tally, report);
    sayWhenDue(tally.runs);
    if (report.broken === null) continue;
    console.error(failureText(report));
    if (!values["keep-going"]) break;
  }
  const tookMs = performance.now() - startedMs;
  if (values.json) console.log(JSON.stringify({ ...tally, tookMs }));
  else for (const line of tallyLines(tally, tookMs)) console.log(line);
  return stopped || tally.broken.length > 0 ? 1 : 0;
}

async function runFlood(): Promise<number> {
  const report = await floodLedger({ ids: flood, seed: first });
  const late = tooLate(report);
  const tookMs = performance.now() - startedMs;
  console.log(JSON.stringify({ ...report, tookMs }));
  for (const line of late) console.error(line);
  return late.length === 0 ? 0 : 1;
}

/** Says how far it is after 1, 2, 4 and so on seconds. */
function sayWhenDue(done: number): void {
  if (values.json || performance.now() - startedMs < sayAfterMs) return;
  sayAfterMs *= 2;
  console.error(`seeds run: ${done} of ${runs}`);
}

async function tryMutations(): Promise<number> {
  const table = [];
  for (const mutation of MUTATIONS) {
    if (!mutation.name.includes(values.only)) continue;
    await listen();
    if (stopped) break;
    const caught = await tryMutation(mutation);
    table.push(caught);
    if (!values.json) console.log(mutationLines([caught])[0]);
  }
  const missed = table.filter(({ seed }) => seed === null).length;
  if (values.json) console.log(JSON.stringify(table));
  else console.log(`${table.length - missed} of ${table.length} caught`);
  return stopped || missed > 0 ? 1 : 0;
}
