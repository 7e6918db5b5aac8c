import assert from "node:assert/strict";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { startServe } from "../kit/program.ts";
import { isThorough } from "../kit/thorough.ts";
import { until } from "../kit/until.ts";

const SECRET = "the-secret-in-the-webhook-address";

function orderEvent(id: string): string {
  return JSON.stringify({
    type: "order_complete",
    click_id: "click-1",
    order: {
      id,
      base: "USDC",
      base_amount: "10.5",
      quote: "USD",
      quote_amount: "11",
      transaction_id: `0x${"1".repeat(64)}`,
    },
    user: { user_id: "user-1" },
  });
}

async function post(url: string, body: string): Promise<number> {
  const answer = await fetch(url, { method: "POST", body });
  await answer.body?.cancel();
  return answer.status;
}

Deno.test("rampkit serve answers as documented and keeps what it answered 204", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  await using served = await startServe(env);
  const hook = `${served.url}/webhooks/${SECRET}`;

  assert.equal(await post(hook, orderEvent("order-1")), 204);
  assert.equal(await post(hook, `{"type":"brand_new","x":1}`), 204);
  assert.equal(await post(hook, `{"type":"test","order":{"id":""}}`), 204);
  assert.equal(await post(hook, "this is not JSON"), 204);
  assert.equal(await post(hook, "[1,2]"), 204);
  assert.equal(await post(hook, ""), 204);
  const wrong = `${served.url}/webhooks/wrong`;
  assert.equal(await post(wrong, orderEvent("forged")), 404);
  const got = await fetch(hook);
  assert.equal(got.status, 405);
  await got.body?.cancel();
  assert.equal(await post(hook, `"${"x".repeat(1 << 20)}"`), 413);
  for (const path of ["/healthz", "/readyz"]) {
    const answer = await fetch(served.url + path);
    assert.equal(answer.status, 200);
    assert.equal((await answer.json()).ok, true);
  }
  const readMetrics = async (): Promise<string> =>
    await (await fetch(`${served.url}/metrics`)).text();
  // Bodies are counted when the ledger has them.
  let metrics = "";
  await until(async () => {
    metrics = await readMetrics();
    return metrics.includes("quarantined_total 3");
  });
  for (
    const line of [
      'rampkit_webhook_deliveries_total{answer="204"} 6',
      'rampkit_webhook_bodies_total{type="order_complete"} 1',
      'rampkit_webhook_refused_total{reason="wrong_secret"} 1',
      "rampkit_webhook_quarantined_total 3",
    ]
  ) assert.ok(metrics.split("\n").includes(line), `${line} in\n${metrics}`);
  assert.ok(!metrics.includes(SECRET));
  assert.equal(await served.stop(), 0);
  assert.match(served.log.at(-1) ?? "", /"stopped"/);

  const shown = await cli(["orders", "show", "order-1", "--json"], env);
  const order = JSON.parse(shown.out);
  assert.equal(order.status, "success");
  assert.equal(order.trust, "claimed");
  assert.equal(order.cryptoAmount, "10.5");
  assert.equal((await cli(["orders", "show", "forged"], env)).code, 1);
  const stats = JSON.parse((await cli(["ledger", "stats", "--json"], env)).out);
  assert.equal(stats.events.webhook, 6);
  assert.equal(stats.quarantined, 3);
  assert.equal(stats.orders, 1, "the test event is no order");
  assert.equal(stats.lag, 0);
  const verified = await cli(["ledger", "verify", "--json"], env);
  assert.deepEqual(
    [JSON.parse(verified.out).ok, JSON.parse(verified.out).events],
    [true, 6],
  );
});

Deno.test("rampkit serve loses nothing that it answered 204, whenever it is killed", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  const answered: string[] = [];
  const kills = isThorough ? 10 : 4;
  for (let round = 0; round < kills; round++) {
    await using served = await startServe(env, ["--no-poll"]);
    const hook = `${served.url}/webhooks/${SECRET}`;
    let sent = 0;
    const sender = async () => {
      while (true) {
        const id = `order-${round}-${sent++}`;
        try {
          if (await post(hook, orderEvent(id)) !== 204) continue;
          answered.push(id);
        } catch {
          return;
        }
      }
    };
    const before = answered.length;
    const senders = Array.from({ length: 8 }, sender);
    await until(() => answered.length > before);
    // Another moment of the commit cycle each time.
    const afterMs = 140 * round / kills;
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await served.kill();
    await Promise.all(senders);
  }
  {
    // The next start takes over what the last one left.
    await using served = await startServe(env, ["--no-poll"]);
    assert.equal(await served.stop(), 0);
  }

  const found = await cli(
    ["orders", "list", "--json", "--limit", "0"],
    env,
  );
  assert.equal(found.code, 0, found.err);
  const stored = new Set(
    found.out.trim().split("\n").map((text) => JSON.parse(text).orderId),
  );
  assert.deepEqual(answered.filter((id) => !stored.has(id)), []);
  const verified = await cli(["ledger", "verify", "--json"], env);
  assert.equal(JSON.parse(verified.out).ok, true, verified.out);
});

Deno.test("rampkit serve lets a request under way finish when it is told to stop", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  await using served = await startServe(env);
  const body = orderEvent("order-1");
  const { port } = new URL(served.url);
  using connection = await Deno.connect({
    hostname: "127.0.0.1",
    port: Number(port),
  });
  const send = (text: string) =>
    connection.write(new TextEncoder().encode(text));
  await send(
    `POST /webhooks/${SECRET} HTTP/1.1\r\nHost: partner\r\n` +
      `Content-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  const answer = new Uint8Array(1024);
  // The server says so once it reads the body.
  const went = await connection.read(answer);
  assert.match(
    new TextDecoder().decode(answer.subarray(0, went ?? 0)),
    /^HTTP\/1\.1 100/,
  );
  await send(body.slice(0, 20));
  const stopping = served.stop();
  await until(() => served.log.some((line) => line.includes('"stopping"')));
  await send(body.slice(20));
  const length = await connection.read(answer);
  assert.match(
    new TextDecoder().decode(answer.subarray(0, length ?? 0)),
    /^HTTP\/1\.1 204/,
  );
  assert.equal(await stopping, 0);
  const shown = await cli(["orders", "show", "order-1", "--json"], env);
  assert.equal(JSON.parse(shown.out).status, "success", shown.err);
});
