import assert from "node:assert/strict";
import { OnrampClient, sandbox as preset } from "../../client/mod.ts";
import { serveSandbox } from "../../sandbox/mod.ts";
import { cli } from "../kit/cli.ts";

Deno.test("sandbox prints for people what a program asks it with, and what a page opens its widget with", async () => {
  for (const own of [{}, { RAMPKIT_API_KEY: "k", RAMPKIT_PARTNER_ID: "01P" }]) {
    const stop = new AbortController();
    const { code, out, err } = await cli(
      ["sandbox", "--port", "0"],
      own,
      stop.signal,
      (text) => text.includes("stop it with") && stop.abort(),
    );
    assert.equal(code, 0, err);
    const key = "RAMPKIT_API_KEY" in own ? "" : "RAMPKIT_API_KEY=sandbox-key ";
    const partner = "RAMPKIT_PARTNER_ID" in own ? "01P" : "01SANDBOXPARTNER";
    assert.match(
      out,
      /\n {2}export RAMPKIT_BASE_URL=(http:\S+) RAMPKIT_WIDGET_ORIGIN=\1\n/,
    );
    assert.ok(
      out.includes(`\n  export ${key}RAMPKIT_PARTNER_ID=${partner}`),
      out,
    );
  }
});

Deno.test("trigger plays a scenario in a sandbox that runs, and says step by step what happened", async () => {
  await using served = await serveSandbox({ port: 0 });
  const { code, out, err } = await cli([
    ...["trigger", "refund", "--amount", "12.50", "--click", "basket-7"],
    ...["--pause", "0", "--sandbox", served.url],
  ]);
  assert.equal(code, 0, err);
  const [order] = served.sandbox.orders();
  assert.deepEqual(
    [order?.status, order?.failReason, order?.currencyAmount, order?.clickId],
    ["failed", "4016", "12.50", "basket-7"],
  );
  assert.match(out, /^refund: .*4016/);
  assert.match(out, /\n {2}pay +progress +webhook sent\n/);
  assert.ok(out.endsWith(`Order ${order?.orderId}\n`));
  assert.match(err, /No webhook will come.*they have no address/s);
});

Deno.test("trigger prints what the endpoint answered to each webhook, and what to do about a wrong secret", async () => {
  const endpoint = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    ({ url }) =>
      new Response(null, { status: url.endsWith("/right") ? 204 : 404 }),
  );
  for (
    const [secret, answer, advice] of [
      ["right", 204, /^$/],
      ["wrong", 404, /^The endpoint answered 404: .*RAMPKIT_WEBHOOK_SECRET/],
    ] as const
  ) {
    await using served = await serveSandbox({
      port: 0,
      webhookUrl: `http://127.0.0.1:${endpoint.addr.port}/webhooks/${secret}`,
    });
    const args = ["trigger", "success", "--sandbox", served.url];
    const { code, out, err } = await cli([...args, "--pause", "0"]);
    assert.equal(code, 0, err);
    const line = `webhook sent, answered ${answer}\n`;
    assert.equal(out.split(line).length - 1, 3, out);
    assert.match(err, advice);
  }
  await endpoint.shutdown();
});

Deno.test("trigger names the known scenarios, and refuses what is no address and no amount", async () => {
  for (
    const [args, message] of [
      [
        ["succes"],
        /^Unknown scenario: "succes" is not one of success, failed,/,
      ],
      [["success", "--sandbox", "8788"], /^Wrong --sandbox: "8788" is not/],
      [["success", "--amount", "1,50"], /^Wrong --amount: "1,50" is not/],
    ] as const
  ) {
    const { code, err } = await cli(["trigger", ...args]);
    assert.equal(code, 2, args.join(" "));
    assert.match(err, message);
  }
});

Deno.test("trigger --session pays what the session says, and names the click id that is missing", async () => {
  await using served = await serveSandbox({ port: 0 });
  const { sandbox, url } = served;
  const sessions = new OnrampClient({
    environment: { ...preset, baseUrl: url },
    apiKey: sandbox.apiKey,
  }).sessions;
  const wallet = "0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";
  const terms = { currency: "USD", commodity: "ETH", network: "sepolia" };
  const { sessionId } = await sessions.create({
    ...terms,
    currency: "USD",
    currency_amount: "49.90",
    wallet_address: wallet,
  });
  const trigger = async (...args: string[]) => {
    const run = ["trigger", "success", "--pause", "0", "--sandbox", url];
    const { code, err } = await cli([...run, ...args]);
    assert.equal(code, 0, err);
    return { order: sandbox.orders().at(-1), err };
  };
  const { order, err } = await trigger("--session", sessionId);
  assert.partialDeepStrictEqual(order, {
    ...{ ...terms, status: "success", sessionId, address: wallet },
    ...{ currencyAmount: "49.90", cryptoType: "simple" },
  });
  assert.match(err, /pass --click with the one that belongs to it/);
  const click = await trigger("--session", sessionId, "--click", "c-7");
  assert.equal(click.order?.clickId, "c-7");
  assert.doesNotMatch(click.err, /--click/);
  // Once the widget was opened, the sandbox knows both by either.
  await sandbox.fetch(
    new Request(
      `${url}/${sandbox.partnerId}/widget?session_id=${sessionId}&click_id=c-8`,
    ),
  );
  const opened = await trigger("--session", sessionId);
  assert.equal(opened.order?.clickId, "c-8");
  assert.doesNotMatch(opened.err, /--click/);
  const short = await trigger("--click", "c-8", "--amount", "4.99");
  assert.deepEqual(
    [short.order?.sessionId, short.order?.currencyAmount, short.order?.network],
    [sessionId, "4.99", "sepolia"],
  );
  const unknown = await cli([
    ...["trigger", "success", "--sandbox", url, "--session", "s-none"],
  ]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /No such session/);
});
