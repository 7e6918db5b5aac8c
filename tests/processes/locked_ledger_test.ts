import assert from "node:assert/strict";
import { TextLineStream } from "../kit/text_line_stream.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";

const SECRET = "the-secret-in-the-webhook-address";
const HELD_MS = 10_000;
/** Long enough for all that is looked at meanwhile. */
const LONG_HELD_MS = 25_000;

/** Another process that takes the write lock of the ledger's file. */
async function holdLock(
  path: string,
  heldMs = HELD_MS,
): Promise<AsyncDisposable> {
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
      String(heldMs),
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

Deno.test("rampkit serve is ready, answers its pages and names the lock while another process holds it", async () => {
  await using ledger = await temporaryLedger();
  const token = "a-token-that-reads-and-no-more";
  await using served = await startServe({
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
    RAMPKIT_API_TOKENS: `read:${token}`,
  }, ["--no-poll", "--api-port", "0", "--console", "0"]);
  const listens = (event: string) =>
    served.log.find((line) => line.includes(`"event":"${event}"`));
  await until(() => listens("console_listening") !== undefined);
  const urlOf = (event: string) => JSON.parse(listens(event) ?? "{}").url;
  const pages = urlOf("console_listening");
  const signedIn = await fetch(`${pages}/sign-in`, {
    method: "POST",
    body: new URLSearchParams({ token, to: "/" }),
    headers: { origin: pages },
    redirect: "manual",
  });
  await signedIn.body?.cancel();
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const post = async (id: string) => {
    const answer = await fetch(`${served.url}/webhooks/${SECRET}`, {
      method: "POST",
      body: JSON.stringify({ type: "payment_started", order: { id } }),
    });
    await answer.body?.cancel();
    assert.equal(answer.status, 204);
  };
  await post("O1");
  await served.settled();
  await using _lock = await holdLock(
    `${ledger.folder}/ledger.db`,
    LONG_HELD_MS,
  );
  await post("O2");
  const authorization = `Bearer ${token}`;
  let said = "";
  const slow: string[] = [];
  for (let round = 0; round < 2; round++) {
    for (
      const [url, headers] of [
        [`${served.url}/readyz`, {}],
        [`${pages}/`, { cookie }],
        [`${pages}/orders/O1`, { cookie }],
        [`${pages}/health`, { cookie }],
        [`${urlOf("api_listening")}/v1/orders/O1`, { authorization }],
      ] as [string, Record<string, string>][]
    ) {
      const began = performance.now();
      const answer = await fetch(url, { headers });
      const text = await answer.text();
      const tookMs = performance.now() - began;
      if (answer.status !== 200 || tookMs > 3500) {
        slow.push(`${url}: ${answer.status} after ${tookMs} ms`);
      }
      if (url.endsWith("/readyz")) said = text;
      // A probe that gave up knows why.
      if (url.endsWith("/health")) {
        await new Promise((resolve) => setTimeout(resolve, 3000));
      }
    }
  }
  assert.deepEqual(slow, [], served.log.join("\n"));
  const ready = JSON.parse(said);
  assert.deepEqual([ready.ok, ready.writable], [true, false]);
  assert.match(ready.degraded.join(), /write lock/);
  assert.doesNotMatch(said, /room on the disk/);
  const doctor = await cli(["doctor", "--database-url", ledger.url]);
  assert.match(
    doctor.out,
    /FAIL +Ledger .*write lock[^]*?> Find the process that holds the lock/,
  );
});
