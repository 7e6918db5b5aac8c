import assert from "node:assert/strict";
import { TRACE_NAMES } from "./chores/person_traces.ts";
import { CHAIN_NAMES } from "./chain/chain_scene.ts";
import { CHORE_NAMES } from "./chores/chores.ts";
import { HAND_SCENE_NAMES } from "./shop/hand_scenes.ts";
import { CLERK_NAMES } from "./shop/clerk.ts";
import { SALE_NAMES } from "./shop/shop_chores.ts";
import corpus from "./corpus.json" with { type: "json" };
import { NO_STORE_FAULTS } from "./world/faulty_driver.ts";
import { seedsFrom, simulateMany } from "./many_seeds.ts";
import { type SimReport, simulate } from "./simulate.ts";
import { RELEASE_SCENE_NAMES } from "./shop/release_scenes.ts";
import { addTo, emptyTally, failureText } from "./tally.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";
import { isThorough } from "../kit/thorough.ts";

/** Enough for every fault and chore to occur; `deno task sim` runs more. */
const EVERYTHING = 29;

/** What a run of every test has time for. */
const FEW = 5;

const name = isThorough
  ? `${EVERYTHING} seeds of every fault and chore, and those that once broke a rule,`
  : `${FEW} seeds of faults and crashes`;

Deno.test(`${name} break no rule, and converge`, async () => {
  const tally = emptyTally();
  const once = corpus.map(({ seed }) => seed)
    .filter((seed) => seed > EVERYTHING);
  const seeds = isThorough
    ? [...seedsFrom(1, EVERYTHING), ...once]
    : seedsFrom(1, FEW);
  for await (const report of simulateMany({ seeds })) {
    holds(report);
    addTo(tally, report);
  }
  if (!isThorough) return;
  // A simulator whose faults never strike would hold every rule as well.
  const missing = [
    ...Object.keys(NO_STORE_FAULTS).map((fault) => `store ${fault}`),
    ...["crash", "spool refuses", "spool crash", "receiver fails"],
    ...["dropped", "duplicated", "delayed", "reordered", "forged"],
    ...[
      "malformed",
      "unknownTypes",
      "answersLost",
      "requestsLost",
      "disabled",
    ],
    ...["apiTooManyRequests", "apiServerErrors", "apiTimeouts"],
    ...["apiSlowBodies", "pageInserts", "pageChanges", "pagesShort"],
    ...["sameSeconds", "totalsWrong", "totalsMissing", "oddRows"],
    ...["rowsWithoutId", "timesAhead", "refusedIds", "wrongDates"],
    ...["endlessCursors", "clock set back", "delivery dead"],
    ...["forged contest", "forged sessions", "forged flood"],
    ...[
      "forged life",
      "forged refused id",
      "forged user",
      "forged crowd",
      "forged reference",
    ],
    ...["forged repeat", "forged announcement", "forged long id"],
    ...TRACE_NAMES,
    ...["node silent", "node lies", "chain reorganised"],
    ...["handler crash before", "handler crash in", "handler crash after"],
  ].filter((fault) => (tally.faults[fault] ?? 0) === 0);
  assert.deepEqual(missing, []);
  const never = [
    ...CHORE_NAMES,
    ...SALE_NAMES,
    ...RELEASE_SCENE_NAMES,
    ...CLERK_NAMES,
    ...HAND_SCENE_NAMES,
    ...CHAIN_NAMES,
  ].filter((name) => !(name in tally.chores));
  assert.deepEqual(never, []);
  assert.ok(tally.events > 10 * EVERYTHING, `only ${tally.events} events`);
});

Deno.test("simulate() of a seed gives the same run every time", async () => {
  for (const seed of isThorough ? [3, 14] : [1]) {
    const report = await simulate({ seed });
    assert.deepEqual(await simulate({ seed }), report);
    assert.match(report.hash, /^[0-9a-f]{64}$/);
  }
});

Deno.test("simulateMany() gives each seed's own report, in order", async () => {
  // The second takes half as long as the first.
  const seeds = [2, 1];
  const reports = await Array.fromAsync(simulateMany({ seeds, threads: 2 }));
  assert.deepEqual(reports.map(({ seed }) => seed), seeds);
  assert.deepEqual(reports[1], await simulate({ seed: 1 }));
});

Deno.test("simulate() on a file, with a connection for each process, breaks no rule", async () => {
  await using folder = await temporaryFolder();
  for (const seed of isThorough ? [2, 9, 11] : [2]) {
    holds(await simulate({ seed, file: `${folder.path}/${seed}.db` }));
  }
});

Deno.test("simulate() of a broken rule names the rule, and the command that repeats it", async () => {
  const report = await simulate({
    seed: 1,
    ports: { append: () => () => Promise.resolve() },
  });
  assert.equal(report.broken?.rule, "each 2xx is stored");
  assert.match(
    failureText(report),
    /^Seed 1 broke after \d+ steps: each 2xx is stored: .*\nAgain: deno task sim --seed 1$/,
  );
});

Deno.test("rampkit sim runs seeds, says what they came to, and exits 0", async () => {
  const { code, stdout } = await new Deno.Command("deno", {
    args: [
      "run",
      "--allow-env",
      "--allow-sys",
      "--allow-read",
      "--allow-write",
      new URL("./main.ts", import.meta.url).href,
      ...["--seed", "1", "--runs", "2", "--json"],
    ],
    stderr: "inherit",
  }).output();
  assert.equal(code, 0);
  const tally = JSON.parse(new TextDecoder().decode(stdout));
  assert.equal(tally.runs, 2);
  assert.deepEqual(tally.broken, []);
});

function holds(report: SimReport): void {
  assert.equal(report.broken, null, failureText(report));
}
