import assert from "node:assert/strict";
import { emptyLedger } from "../../ledger/testing/mod.ts";
import { type Ledger, LedgerError } from "../../ledger/for_server.ts";
import { reachLedger } from "./open_early.ts";

/** Reaches a ledger that answers as is said, attempt by attempt. */
function reaching(
  answers: readonly (Ledger | LedgerError["code"])[],
  signal: AbortSignal = new AbortController().signal,
) {
  const seen = { log: [] as string[], waits: [] as number[], disposed: 0 };
  let early = 0;
  const attempts = [...answers];
  const reached = reachLedger({
    open: () => {
      const answer = attempts.shift();
      assert.ok(answer !== undefined, "it is tried again");
      return typeof answer === "string"
        ? Promise.reject(new LedgerError(answer, `It is ${answer}`))
        : Promise.resolve(answer);
    },
    meanwhile: (problem) => {
      assert.equal(++early, 1);
      assert.equal(problem().code, "unreachable");
      return Promise.resolve({
        [Symbol.asyncDispose]: () => {
          seen.disposed++;
          return Promise.resolve();
        },
      });
    },
    effect: "Nothing is lost",
    log: (level, event) => {
      seen.log.push(`${level} ${event}`);
    },
    now: () => 0,
    signal,
    sleep: (ms) => {
      seen.waits.push(ms);
      return Promise.resolve();
    },
  });
  return { reached, seen };
}

Deno.test("reachLedger() gives a ledger that answers at once, and does nothing else", async () => {
  await using ledger = await emptyLedger();
  const { reached, seen } = reaching([ledger]);
  assert.deepEqual(await reached, { ledger, early: null });
  assert.deepEqual(seen, { log: [], waits: [], disposed: 0 });
});

Deno.test("reachLedger() waits longer and longer for a server that does not answer", async () => {
  await using ledger = await emptyLedger();
  const away = new Array<"unreachable">(7).fill("unreachable");
  const { reached, seen } = reaching([...away, ledger]);
  assert.equal((await reached)?.ledger, ledger);
  assert.deepEqual(seen.waits, [500, 1000, 2000, 4000, 8000, 15000, 15000]);
  assert.deepEqual(seen.log, ["error not_ready", "info ready"]);
  assert.equal(seen.disposed, 0, "whoever gets it ends it");
});

for (const code of ["unauthorised", "not_a_ledger", "cannot_open"] as const) {
  Deno.test(`reachLedger() throws ${code} at once, and ends what it began`, async () => {
    const first = reaching([code]);
    await assert.rejects(first.reached, { code });
    assert.deepEqual(first.seen, { log: [], waits: [], disposed: 0 });
    const later = reaching(["unreachable", code]);
    await assert.rejects(later.reached, { code });
    assert.equal(later.seen.disposed, 1);
  });
}

Deno.test("reachLedger() ends when it is told to", async () => {
  const stop = new AbortController();
  const { reached, seen } = reaching(["unreachable"], stop.signal);
  stop.abort();
  assert.equal(await reached, null);
  assert.equal(seen.disposed, 1);
});
