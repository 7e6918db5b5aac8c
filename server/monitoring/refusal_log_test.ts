import assert from "node:assert/strict";
import { RefusalLog } from "./log_alerts.ts";

/** A log of refusals, on a clock and counts to set. */
function world() {
  const lines: string[] = [];
  const stored: unknown[] = [];
  const at = { ms: 0, refused: {} as Record<string, number>, fails: false };
  const refusals = new RefusalLog({
    refused: () => ({ ...at.refused }),
    lastNotAllowed: () => "192.0.2.7",
    keep: (more) => {
      if (at.fails) return Promise.reject(new Error("the disk is full"));
      stored.push(more);
      return Promise.resolve();
    },
    log: (_, event, fields) => lines.push(`${event} ${JSON.stringify(fields)}`),
    steady: () => at.ms,
    timer: false,
  });
  return { at, lines, stored, refusals };
}

Deno.test("RefusalLog.look() logs and stores what was refused since the last line, at most once a minute", async () => {
  const { at, lines, stored, refusals } = world();
  await refusals.look();
  assert.deepEqual(lines, []);
  at.refused = { wrong_secret: 2 };
  await refusals.look();
  at.refused = { wrong_secret: 5, method: 1 };
  at.ms = 59_000;
  await refusals.look();
  assert.equal(lines.length, 1);
  at.ms = 60_000;
  await refusals.look();
  assert.deepEqual(lines, [
    'requests_refused {"refused":{"wrong_secret":2}}',
    'requests_refused {"refused":{"wrong_secret":3,"method":1}}',
  ]);
  assert.deepEqual(stored, [{ wrong_secret: 2 }, {
    wrong_secret: 3,
    method: 1,
  }]);
});

Deno.test("RefusalLog.look() names the address that the allowlist refused last", async () => {
  const { at, lines, refusals } = world();
  at.refused = { not_allowed: 1 };
  await refusals.look();
  assert.deepEqual(lines, [
    'requests_refused {"refused":{"not_allowed":1},"lastNotAllowed":"192.0.2.7"}',
  ]);
});

Deno.test("RefusalLog.look() says when the refusals could not be stored", async () => {
  const { at, lines, refusals } = world();
  at.refused = { method: 1 };
  at.fails = true;
  await refusals.look();
  assert.equal(
    lines.at(-1),
    'refusals_not_kept {"message":"the disk is full"}',
  );
});

Deno.test("RefusalLog logs the rest when it ends, also POSTs to a wrong path", async () => {
  const { lines, refusals } = world();
  refusals.wrongPath();
  refusals.wrongPath();
  await refusals[Symbol.asyncDispose]();
  assert.deepEqual(lines, ['requests_refused {"refused":{"wrong_path":2}}']);
});
