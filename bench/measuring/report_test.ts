import assert from "node:assert/strict";
import { boundRow, holds, ratioRow } from "./comparison.ts";
import { machineFigures } from "./machine_figures.ts";
import { json, type Report, text } from "./report.ts";

const half = ratioRow("refold", {
  ours: [40, 50, 90],
  theirs: [100],
  unit: "events/s",
  at: "least",
  bound: 0.5,
  limit: "one thread",
});
const slow = boundRow("p99", {
  ours: [51],
  most: 50,
  unit: "ms",
  limit: "the disk",
  details: { load: "wrk", p50Ms: 2 },
});
const unaimed = ratioRow("serve", {
  ours: [1],
  theirs: [3],
  unit: "requests/s",
  at: "least",
  bound: null,
  limit: "all processors",
});
const report: Report = {
  comparison: { name: "all", note: "What each side does." },
  rows: [half, slow, unaimed],
  problem: null,
  machine: { cores: 2, clockGhz: 2.6, syncMs: 0.314 },
};
const before = new Map([["refold", 0.48], ["p99", 49]]);

Deno.test("holds() compares the ratio or the figure with its aim", () => {
  assert.equal(holds(half), true);
  assert.equal(holds(slow), false);
  assert.equal(holds(unaimed), null);
});

Deno.test("text() shows every row with its aim, and the notes", () => {
  const shown = text([report], before, null);
  assert.match(
    shown,
    /refold +50 +40\.\.90 +100 +events\/s +0\.5 +0\.48 +>= 0\.5 +yes/,
  );
  assert.match(shown, /p99 +51 +ms +49 +<= 50 +no/);
  assert.match(shown, /serve +1 +3 +requests\/s +0\.333\n/);
  assert.match(
    shown,
    /refold: limit one thread, clock 2\.60 GHz, sync 0\.31 ms\n/,
  );
  assert.match(shown, /p99: limit the disk, load wrk, p50Ms 2, clock /);
  assert.match(shown, /all: What each side does\./);
});

Deno.test("text() names a comparison that could not be measured", () => {
  const shown = text(
    [{ ...report, rows: [], problem: "npm is not there" }],
    before,
    80,
  );
  assert.match(shown, /NOT MEASURED: npm is not there/);
});

Deno.test("json() gives each row with whether its aim holds", () => {
  const { rows, problems } = JSON.parse(json([report]));
  assert.deepEqual(
    rows.map((row: { ratio: number; holds: boolean | null }) => row.holds),
    [true, false, null],
  );
  assert.equal(rows[0].ratio, 0.5);
  assert.deepEqual(problems, []);
});

Deno.test("machineFigures() times the disk of this machine", async () => {
  const { cores, syncMs } = await machineFigures();
  assert.equal(cores, navigator.hardwareConcurrency);
  assert.ok(syncMs > 0);
});
