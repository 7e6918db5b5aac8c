import assert from "node:assert/strict";
import type { HealthPart } from "./health_bar.ts";
import { LiveHealth } from "./live_health.ts";

/** A part that is as the test says. */
function part(level: HealthPart["level"]): HealthPart {
  return { name: "Ledger", level, findings: [] };
}

Deno.test("LiveHealth.follow() tells of a change once, and ends with the page and with the console", async () => {
  let parts = [part("fine")];
  const live = new LiveHealth({ parts: () => Promise.resolve(parts) }, 1);
  const left = new AbortController();
  const seen = live.follow(left.signal);
  assert.deepEqual((await seen.next()).value, [part("fine")]);
  assert.equal((await seen.next()).value, null);
  parts = [part("problem")];
  assert.deepEqual((await seen.next()).value, [part("problem")]);
  assert.equal((await seen.next()).value, null);
  left.abort();
  assert.equal((await seen.next()).done, true);

  const other = live.follow(new AbortController().signal);
  await other.next();
  live.end();
  assert.equal((await other.next()).done, true);
  assert.equal(live.hasRoom, false);
});

Deno.test("LiveHealth.hasRoom is false while a hundred pages follow", async () => {
  const live = new LiveHealth({ parts: () => Promise.resolve([]) }, 1);
  const pages = Array.from(
    { length: 100 },
    () => live.follow(new AbortController().signal),
  );
  for (const page of pages) await page.next();
  assert.equal(live.hasRoom, false);
  await pages[0]?.return(undefined);
  assert.equal(live.hasRoom, true);
  live.end();
  for (const page of pages) await page.next();
});
