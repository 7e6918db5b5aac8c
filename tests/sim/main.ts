/**
 * `deno task sim`: runs seeds one after the other and says what they found.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { simulate } from "./simulate.ts";
import { addTo, emptyTally, tallyLines } from "./tally.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "1" },
    "keep-going": { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const first = Number(values.seed);
const runs = Number(values.runs);
if (!Number.isSafeInteger(first) || !(runs >= 1)) {
  console.error("Usage: deno task sim [--seed N] [--runs M] [--keep-going]");
  Deno.exit(2);
}

const startedMs = performance.now();
const tally = emptyTally();
for (let seed = first; seed < first + runs; seed++) {
  const report = await simulate({ seed });
  addTo(tally, report);
  if (report.broken === null) continue;
  console.error(`Seed ${seed} broke after ${report.steps} steps.`);
  console.error(report.broken.detail);
  console.error(`Again: deno task sim --seed ${seed}`);
  if (!values["keep-going"]) break;
}
const tookMs = performance.now() - startedMs;
if (values.json) console.log(JSON.stringify({ ...tally, tookMs }));
else for (const line of tallyLines(tally, tookMs)) console.log(line);
Deno.exit(tally.broken.length > 0 ? 1 : 0);
