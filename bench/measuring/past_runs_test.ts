import assert from "node:assert/strict";
import { boundRow, ratioRow } from "./comparison.ts";
import {
  keptRows,
  lastFigures,
  lastRunTable,
  pastRunLine,
} from "./past_runs.ts";
import type { Report } from "./report.ts";

const machine = { cores: 2, clockGhz: 2.6, syncMs: 0.314 };

function reportOf(refold: number): Report {
  return {
    comparison: { name: "all", note: "What each side does." },
    rows: [
      ratioRow("refold", {
        ours: [refold - 1, refold, refold + 1.23456789],
        theirs: [100],
        unit: "events/s",
        at: "least",
        bound: 0.5,
        limit: "one thread",
      }),
      boundRow("p99", { ours: [51], most: 50, unit: "ms", limit: "the disk" }),
    ],
    problem: null,
    machine,
  };
}

function lineOf(refold: number): string {
  return pastRunLine({
    day: "2026-11-01",
    commit: "abc",
    seconds: 590,
    rows: keptRows([reportOf(refold)]),
  });
}

Deno.test("lastFigures() gives what was kept last of each row", () => {
  const other = lineOf(40).replaceAll('"p99"', '"growth"');
  assert.deepEqual(
    Object.fromEntries(lastFigures(other + lineOf(60))),
    { refold: 0.6, growth: 51, p99: 51 },
  );
  assert.deepEqual(lastFigures(""), new Map());
});

Deno.test("lastRunTable() shows the last run with its machine, and none where none was kept", () => {
  assert.deepEqual(lastRunTable(lineOf(40) + lineOf(60)), {
    head: [
      "2026-11-01, commit abc, 590 s",
      "ours",
      "the other side",
      "ratio",
      "aim",
      "machine",
    ],
    rows: [
      [
        "refold",
        "60 (59..61.2) events/s",
        "100",
        "0.6",
        ">= 0.5",
        "clock 2.60 GHz, sync 0.31 ms",
      ],
      ["p99", "51 ms", "", "", "<= 50", "clock 2.60 GHz, sync 0.31 ms"],
    ],
  });
  assert.equal(lastRunTable(""), null);
});

Deno.test("pastRunLine() keeps no more digits than mean something", () => {
  assert.match(lineOf(60), /61\.235/);
  assert.ok(lineOf(60).length < 600);
});
