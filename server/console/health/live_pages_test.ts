import assert from "node:assert/strict";
import { type HealthPart, LivePages } from "./health_bar.ts";

/** A part that is as the test says. */
function part(level: HealthPart["level"]): HealthPart {
  return { name: "Ledger", level, findings: [] };
}

Deno.test("LivePages.follow() tells of a change once and that it is there again and again, and ends with the page and with the console", async () => {
  let parts = [part("fine")];
  let position = 7;
  const live = new LivePages(
    { parts: () => Promise.resolve(parts) },
    () => Promise.resolve(position),
    1,
  );
  const left = new AbortController();
  const seen = live.follow(left.signal);
  const told = async () => (await seen.next()).value;
  assert.deepEqual(await told(), { parts: [part("fine")], position: 7 });
  assert.deepEqual(await told(), { parts: null, position: 7 });
  parts = [part("problem")];
  position = 8;
  assert.deepEqual(await told(), { parts: [part("problem")], position: 8 });
  assert.deepEqual(await told(), { parts: null, position: 8 });
  left.abort();
  assert.equal((await seen.next()).done, true);

  const other = live.follow(new AbortController().signal);
  await other.next();
  live.end();
  assert.equal((await other.next()).done, true);
  assert.equal(live.hasRoom, false);
});

Deno.test("LivePages.hasRoom is false while a hundred pages follow", async () => {
  const live = new LivePages(
    { parts: () => Promise.resolve([]) },
    () => Promise.resolve(0),
    1,
  );
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
