/**
 * `deno task sim`: runs seeds, one in each thread, and says what they found;
 * `--mutations` breaks rules on purpose and says which seed noticed.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { simulateMany } from "./many_seeds.ts";
import { mutationLines, tryMutation } from "./mutation_table.ts";
import { MUTATIONS } from "./mutations.ts";
import { addTo, emptyTally, failureText, tallyLines } from "./tally.ts";

const USAGE =
  `Usage: deno task sim [--seed N] [--runs M] [--keep-going] [--json]
       deno task sim --mutations [--only WORDS] [--json]`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "1" },
    "keep-going": { type: "boolean", default: false },
    mutations: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const first = Number(values.seed);
const runs = Number(values.runs);
if (values.help || !Number.isSafeInteger(first) || !(runs >= 1)) {
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
Deno.exit(values.mutations ? await tryMutations() : await runSeeds());

async function runSeeds(): Promise<number> {
  const tally = emptyTally();
  for await (const report of simulateMany({ first, runs })) {
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
