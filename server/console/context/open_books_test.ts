import assert from "node:assert/strict";
import type { MonthSummary } from "../../../ledger/for_resources.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import { OpenBooks } from "./page_context.ts";
import { until } from "../../../tests/kit/until.ts";

/** A month that is worked out when the test says so. */
function slowMonths() {
  const asked: string[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const preview: Ledger["months"]["preview"] = async (month, options) => {
    asked.push(month);
    const end = Promise.withResolvers<void>();
    ends.push(end);
    const { signal, onProgress } = options ?? {};
    onProgress?.(7);
    signal?.addEventListener("abort", () => end.reject(signal.reason));
    await end.promise;
    const summary = { month, rows: { order: asked.length } };
    return { summary: summary as unknown as MonthSummary, rows: [] };
  };
  return { ledger: { months: { preview } } as Ledger, asked, ends };
}

Deno.test("OpenBooks.of() says how far it is where a month takes long, and remembers what came of it", async () => {
  const { ledger, asked, ends } = slowMonths();
  let nowMs = 0;
  const books = new OpenBooks(ledger, () => nowMs, 1);
  assert.deepEqual(await books.of("2026-11"), { last: null, underWay: 7 });
  assert.deepEqual(await books.of("2026-11"), { last: null, underWay: 7 });
  nowMs = 10_000;
  ends[0]?.resolve();
  const rows = async () => {
    const { last, underWay } = await books.of("2026-11");
    return [last?.books.summary.rows.order, last?.atMs, underWay];
  };
  await until(async () => (await rows())[2] === null);
  assert.deepEqual(await rows(), [1, 0, null]);
  assert.deepEqual(asked, ["2026-11"]);
  // It took ten seconds: for 200 seconds it is not worked out again.
  nowMs = 199_999;
  assert.deepEqual(await rows(), [1, 0, null]);
  nowMs = 200_000;
  assert.deepEqual(await rows(), [1, 0, 7]);
  ends[1]?.resolve();
  await until(async () => (await rows())[2] === null);
  assert.deepEqual(await rows(), [2, 200_000, null]);
  await books.stop();
});

Deno.test("OpenBooks works out one month at a time, tells what failed, and stops", async () => {
  const { ledger, asked, ends } = slowMonths();
  const books = new OpenBooks(ledger, () => 0, 1);
  const patient = new OpenBooks(ledger, () => 0, 60_000);
  await books.of("2026-10");
  await books.of("2026-11");
  assert.deepEqual(asked, ["2026-10"]);
  await books.stop();
  assert.deepEqual(asked, ["2026-10"]);

  const failing = patient.of("2026-09");
  await until(() => ends.length >= 2);
  ends[1]?.reject(new Error("busy"));
  await assert.rejects(failing, /busy/);
  await patient.stop();
});
