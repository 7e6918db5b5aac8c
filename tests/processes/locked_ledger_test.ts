import assert from "node:assert/strict";
import { TextLineStream } from "../kit/text_line_stream.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { startServe } from "../kit/program.ts";

const SECRET = "the-secret-in-the-webhook-address";
const HELD_MS = 10_000;

/** Another process that takes the write lock of the ledger's file. */
async function holdLock(path: string): Promise<AsyncDisposable> {
  const child = new Deno.Command("deno", {
    args: [
      "run",
      "--allow-read",
      "--allow-write",
      "--allow-env",
      "--allow-sys",
      new URL("../../ledger/testing/test_lock_holder.ts", import.meta.url)
        .pathname,
      path,
      String(HELD_MS),
      "0",
      "1",
    ],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream()).getReader();
  assert.equal((await lines.read()).value, "held");
  return {
    [Symbol.asyncDispose]: async () => {
      await child.status;
      await lines.cancel();
    },
  };
}

Deno.test("rampkit serve answers in time while another process holds the ledger's lock for ten seconds", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  const ids: string[] = [];
  let slowestMs = 0;
  {
    await using served = await startServe(env, ["--no-poll"]);
    const post = async () => {
      const id = `order-${ids.length}`;
      ids.push(id);
      const started = performance.now();
      const answer = await fetch(`${served.url}/webhooks/${SECRET}`, {
        method: "POST",
        body: JSON.stringify({ type: "payment_started", order: { id } }),
      });
      await answer.body?.cancel();
      slowestMs = Math.max(slowestMs, performance.now() - started);
      assert.equal(answer.status, 204);
    };
    await post();
    {
      await using _lock = await holdLock(`${ledger.folder}/ledger.db`);
      const until = performance.now() + HELD_MS - 2000;
      while (performance.now() < until) {
        await Promise.all([post(), post(), post()]);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const alive = await fetch(`${served.url}/healthz`);
      assert.equal(alive.status, 200);
      await alive.body?.cancel();
    }
    await post();
    assert.equal(await served.stop(), 0);
  }
  assert.ok(
    slowestMs < HELD_MS - 1000,
    `the slowest answer took ${slowestMs} ms`,
  );
  const listed = await cli(["orders", "list", "--json", "--limit", "0"], env);
  const stored = listed.out.trim().split("\n").map((text) =>
    JSON.parse(text).orderId
  );
  assert.deepEqual(stored.sort(), ids.sort());
  const stats = JSON.parse((await cli(["ledger", "stats", "--json"], env)).out);
  assert.equal(stats.events.webhook, ids.length, "each of them once");
});
