import assert from "node:assert/strict";
import {
  sqldAvailable,
  startSqld,
} from "../../ledger/testing/sqld_test_server.ts";
import { serveSandbox } from "../../sandbox/mod.ts";
import { deployApp } from "../../server/compose/deploy_app.ts";
import { cli } from "../kit/cli.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";

const SECRET = "the-secret-in-the-webhook-address";
const root = new URL("../..", import.meta.url).pathname;

async function post(url: string, body: string): Promise<number> {
  const answer = await fetch(url, { method: "POST", body });
  await answer.body?.cancel();
  return answer.status;
}

/** Runs the entry as `deno serve` does, with no disk and no native code. */
async function serveEntry(env: Record<string, string>) {
  const child = new Deno.Command("deno", {
    args: [
      "serve",
      "--no-prompt",
      "--allow-env",
      "--allow-net=127.0.0.1",
      "--host=127.0.0.1",
      "--port=0",
      `${root}server/deploy.ts`,
    ],
    env: { ...env, NO_COLOR: "1" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let log = "";
  const listening = Promise.withResolvers<string>();
  const reading = (async () => {
    const text = child.stderr.pipeThrough(new TextDecoderStream());
    for await (const part of text) {
      log += part;
      const url = /Listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(log);
      if (url?.[1] !== undefined) listening.resolve(url[1]);
    }
    listening.reject(new Error(`deno serve ended early:\n${log}`));
  })();
  listening.promise.catch(() => {});
  return {
    url: await listening.promise,
    log: () => log,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.status;
      await reading;
    },
  };
}

Deno.test({
  name:
    "the Deploy entry keeps deliveries on a real sqld, without disk or native code",
  ignore: !sqldAvailable,
  fn: async () => {
    await using directory = await temporaryFolder();
    await using sqld = await startSqld({ directory: directory.path });
    const env = {
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_DATABASE_URL: sqld.url,
      RAMPKIT_WEBHOOK_SECRET: SECRET,
    };
    await using entry = await serveEntry(env);
    const hook = `${entry.url}/webhooks/${SECRET}`;
    const body = JSON.stringify({
      type: "order_complete",
      click_id: "click-1",
      order: { id: "order-1", quote: "USD", quote_amount: "10" },
    });
    assert.equal(await post(hook, body), 204, entry.log());
    assert.equal(await post(hook, "no JSON"), 204);
    assert.equal(await post(`${entry.url}/webhooks/wrong`, body), 404);
    const ready = await fetch(`${entry.url}/readyz`);
    assert.equal(ready.status, 200);
    await ready.body?.cancel();

    const shown = await cli(["orders", "show", "order-1", "--json"], env);
    assert.equal(JSON.parse(shown.out).status, "success", shown.err);
    const verified = await cli(["ledger", "verify", "--json"], env);
    assert.deepEqual(
      [JSON.parse(verified.out).ok, JSON.parse(verified.out).events],
      [true, 2],
    );
    assert.equal(entry.log().includes(SECRET), false);
  },
});

Deno.test({
  name: "the Deploy app's poll confirms what a webhook claimed",
  ignore: !sqldAvailable,
  fn: async () => {
    await using directory = await temporaryFolder();
    await using sqld = await startSqld({ directory: directory.path });
    await using served = await serveSandbox({ port: 0 });
    const { orderId } = served.sandbox.createOrder();
    served.sandbox.advance(orderId, "pay");
    served.sandbox.advance(orderId, "complete");
    const env: Record<string, string> = {
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_DATABASE_URL: sqld.url,
      RAMPKIT_WEBHOOK_SECRET: SECRET,
      RAMPKIT_API_KEY: served.sandbox.apiKey,
      RAMPKIT_BASE_URL: served.url,
    };
    let log = "";
    const app = deployApp({
      env: (name) => env[name],
      write: (text) => log += text,
      now: Date.now,
      pollMs: 3000,
    });
    const answer = await app.fetch(
      new Request(`http://partner/webhooks/${SECRET}`, {
        method: "POST",
        body: JSON.stringify({
          type: "order_complete",
          order: { id: orderId },
        }),
      }),
    );
    assert.equal(answer.status, 204, log);
    await app.poll();
    await app.close();
    const shown = await cli(["orders", "show", orderId, "--json"], env);
    const { status, trust } = JSON.parse(shown.out);
    assert.deepEqual([status, trust], ["success", "confirmed"], log);
  },
});

Deno.test("the Deploy app answers 503 with Retry-After, and says why at /readyz, when a setting is missing", async () => {
  let log = "";
  const app = deployApp({
    env: (name) => name === "RAMPKIT_DATABASE_URL" ? "file:x.db" : undefined,
    write: (text) => log += text,
    now: Date.now,
  });
  const answer = await app.fetch(
    new Request("http://partner/webhooks/x", { method: "POST", body: "{}" }),
  );
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get("retry-after"), "60");
  const ready = await app.fetch(new Request("http://partner/readyz"));
  assert.match((await ready.json()).problem, /RAMPKIT_WEBHOOK_SECRET/);
  assert.equal(log.split("not_ready").length - 1, 1, "told once");
  const alive = await app.fetch(new Request("http://partner/healthz"));
  assert.equal(alive.status, 200);
  await alive.body?.cancel();
});

Deno.test({
  name:
    "the Deploy app says at /readyz when no cron has run for five minutes, and no longer once one does",
  ignore: !sqldAvailable,
  fn: async () => {
    await using directory = await temporaryFolder();
    await using sqld = await startSqld({ directory: directory.path });
    const env: Record<string, string> = {
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_DATABASE_URL: sqld.url,
      RAMPKIT_WEBHOOK_SECRET: SECRET,
    };
    let nowMs = Date.now();
    const app = deployApp({
      env: (name) => env[name],
      write: () => {},
      now: () => nowMs,
    });
    const ready = async () => {
      // Whoever asks within a quarter of a second gets the same answer.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const answer = await app.fetch(new Request("http://partner/readyz"));
      const { conditions } = await answer.json();
      return conditions.map(({ code }: { code: string }) => code);
    };
    assert.deepEqual(await ready(), []);
    nowMs += 4 * 60_000;
    assert.deepEqual(await ready(), []);
    nowMs += 2 * 60_000;
    assert.deepEqual(await ready(), ["cron_silent"]);
    await app.poll();
    assert.deepEqual(await ready(), []);
    await app.close();
  },
});

Deno.test("the Deploy entry registers its cron first, and works where there are none", async () => {
  for (
    const [cron, said] of [
      [
        "(name, schedule) => console.log(name, schedule)",
        "rampkit-poll * * * * *",
      ],
      ["undefined", ""],
    ] as const
  ) {
    const { stdout, stderr } = await new Deno.Command("deno", {
      args: [
        "eval",
        `Object.defineProperty(Deno, "cron", { value: ${cron} });
        const { default: entry } = await import("./server/deploy.ts");
        const answer = await entry.fetch(new Request("http://a/healthz"));
        console.log(answer.status);`,
      ],
      cwd: root,
      env: { NO_COLOR: "1" },
    }).output();
    assert.equal(
      new TextDecoder().decode(stdout).trim(),
      `${said}\n200`.trim(),
      new TextDecoder().decode(stderr),
    );
  }
});
