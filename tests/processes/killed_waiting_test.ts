import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { type Served, startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";

const SECRET = "the-secret-in-the-webhook-address";
const CONNECTIONS = 32;

/** Posts deliveries until `serve` is gone; gives how many got their 204. */
async function post(served: Served, name: string): Promise<number> {
  let answered = 0;
  const sender = async (connection: number) => {
    try {
      for (let n = 0;; n++) {
        const id = `${name}-${connection}-${n}`;
        const answer = await fetch(`${served.url}/webhooks/${SECRET}`, {
          method: "POST",
          body: JSON.stringify({ type: "payment_started", order: { id } }),
        });
        await answer.body?.cancel();
        if (answer.status === 204) answered++;
      }
    } catch {
      // It was killed.
    }
  };
  await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, index) => sender(index)),
  );
  return answered;
}

Deno.test("a serve that takes over what killed ones left counts it once, and nothing after a clean stop", async () => {
  await using stored = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: stored.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  const waiting = async () => {
    await using ledger = await openLedger({
      url: stored.url,
      environment: "sandbox",
      worker: false,
    });
    return (await ledger.stats()).waiting;
  };
  let answered = 0;
  for (const name of ["first", "second", "third"]) {
    await using served = await startServe(env, ["--no-poll"]);
    const posting = post(served, name);
    await until(async () => (await waiting()) !== null, "nothing waits");
    await served.kill();
    answered += await posting;
    const left = await waiting();
    assert.ok(
      left === null || left.count <= answered + 3 * CONNECTIONS,
      `${left?.count} wait of ${answered}`,
    );
  }
  await using last = await startServe(env, ["--no-poll"]);
  await last.settled();
  await until(async () => (await waiting()) === null, "something waits");
  assert.equal(await last.stop(), 0);
  assert.equal(await waiting(), null);
  const stats = JSON.parse((await cli(["ledger", "stats", "--json"], env)).out);
  assert.ok(stats.events.webhook >= answered);
  assert.match((await cli(["doctor"], env)).out, /ok +Waiting/);
});

Deno.test("a serve that is stopped at once after another was killed leaves no count of it", async () => {
  await using stored = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: stored.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  {
    await using killed = await startServe(env, ["--no-poll"]);
    const posting = post(killed, "killed");
    await until(async () => {
      await using ledger = await openLedger({
        url: stored.url,
        environment: "sandbox",
        worker: false,
      });
      return (await ledger.stats()).waiting !== null;
    }, "nothing waits");
    await killed.kill();
    assert.ok(await posting > 0);
  }
  await using next = await startServe(env, ["--no-poll"]);
  assert.equal(await next.stop(), 0);
  const stats = JSON.parse((await cli(["ledger", "stats", "--json"], env)).out);
  assert.equal(stats.waiting, null);
});
