import assert from "node:assert/strict";
import { storeMinutes } from "../../../ledger/for_resources.ts";
import { insertObservedChanges } from "../../../ledger/for_sync.ts";
import { testConsole } from "../../../tests/kit/console.ts";
import {
  minutesAgo,
  ODD_NOW_MS,
  oddLedger,
} from "../../../tests/kit/odd_ledger.ts";
import type { Figures } from "./figures.ts";

const now = () => ODD_NOW_MS;

Deno.test("GET /delivery/figures sets orders that moved against webhooks received, minute by minute", async () => {
  const ledger = await oddLedger([]);
  await ledger.driver.batch([
    insertObservedChanges([{
      orderId: "O1",
      status: "success",
      movedAt: minutesAgo(2.5),
      seenAt: minutesAgo(2),
    }]),
  ], "write");
  await storeMinutes(
    ledger.driver,
    "p1",
    new Map([[ODD_NOW_MS / 60_000 - 2, {
      answers: { "204": [3], "404": [1] },
      types: { order_complete: 3 },
      gauges: { lag: 4, readingAgeMs: 12_345 },
    }]]),
  );
  await using opened = testConsole(ledger, now);
  const answer = await opened.ask("/delivery/figures?range=hour");
  const { times, marks, plots }: Figures = await answer.json();
  assert.equal(times.length, 60);
  assert.equal((times[59] ?? 0) * 1000, ODD_NOW_MS - 60_000);
  assert.deepEqual(marks, []);
  const tail = Object.entries(plots).map(([name, { series }]) => [
    name,
    ...series.map(({ label, values }) => [label, ...values.slice(-3)]),
  ]);
  assert.deepEqual(tail.slice(0, 2), [
    ["moved", ["Orders moved", 1, 0, 0], ["Webhooks received", null, 3, null]],
    ["answers", ["204", null, 3, null], ["404", null, 1, null]],
  ]);
  assert.deepEqual(tail[3], ["reading", ["Age", null, 12, null]]);
});

Deno.test("GET /delivery/figures takes a range that it does not know for a day", async () => {
  await using opened = testConsole(await oddLedger([]), now);
  for (
    const [range, points] of Object.entries({
      hour: 60,
      day: 144,
      week: 168,
      __proto__x: 144,
      "": 144,
    })
  ) {
    const answer = await opened.ask(`/delivery/figures?range=${range}`);
    const { times }: Figures = await answer.json();
    assert.equal(times.length, points, range);
  }
});

Deno.test("GET /files/ has the plot library of its package, and no other file of it", async () => {
  await using opened = testConsole(await oddLedger([]), now);
  const script = await opened.ask("/files/uplot.js");
  assert.match(await script.text(), /export \{ uPlot as default \}/);
  assert.match(
    script.headers.get("content-type") ?? "",
    /^text\/javascript/,
  );
  const style = await opened.ask("/files/uplot.css");
  assert.match(await style.text(), /\.uplot/);
  for (const path of ["package.json", "uPlot.esm.js", "..%2fpackage.json"]) {
    assert.equal((await opened.ask(`/files/${path}`)).status, 404, path);
  }
});
