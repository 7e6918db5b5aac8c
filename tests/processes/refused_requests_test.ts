import assert from "node:assert/strict";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { startServe } from "../kit/program.ts";

const SECRET = "the-secret-in-the-webhook-address";

Deno.test("rampkit serve counts refused requests, tells of many in one line, and doctor shows them", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  await using served = await startServe(env, ["--no-poll"]);
  const send = async (path: string, init: RequestInit) => {
    const answer = await fetch(`${served.url}${path}`, init);
    await answer.body?.cancel();
    return answer.status;
  };
  const post = { method: "POST", body: "{}" };
  for (let n = 0; n < 20; n++) {
    assert.equal(await send("/webhooks/an-old-secret", post), 404);
  }
  assert.equal(await send(`/webhook/${SECRET}`, post), 404);
  assert.equal(await send(`/webhooks/${SECRET}`, { method: "PUT" }), 405);
  assert.equal(
    await send(`/webhooks/${SECRET}`, {
      method: "POST",
      body: "x".repeat((1 << 20) + 1),
    }),
    413,
  );
  const login = { method: "POST", body: `{"type":"login"}` };
  assert.equal(await send(`/webhooks/${SECRET}`, login), 204);
  await served.settled();
  assert.equal(await served.stop(), 0);

  const lines = served.log.filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
    .filter(({ event }) => event === "requests_refused");
  const counts: Record<string, number> = {};
  for (const { refused } of lines) {
    for (const [reason, count] of Object.entries<number>(refused)) {
      counts[reason] = (counts[reason] ?? 0) + count;
    }
  }
  assert.deepEqual(counts, {
    wrong_secret: 20,
    wrong_path: 1,
    method: 1,
    too_large: 1,
  });
  assert.ok(lines.length <= 2, "one in the minute, one at the end");
  const all = served.log.join("\n");
  assert.ok(!all.includes(SECRET) && !all.includes("an-old-secret"));

  const { out } = await cli(["doctor", "--json"], env);
  const check = JSON.parse(out).checks
    .find(({ name }: { name: string }) => name === "Refused");
  assert.equal(check.status, "warn");
  assert.match(check.detail, /20 requests \(wrong_secret, last \d+ m?s ago\)/);
  assert.match(check.advice, /address in the service's dashboard/);
});

Deno.test("rampkit serve --allow counts deliveries from other addresses", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  await using served = await startServe(env, ["--allow", "192.0.2.7"]);
  const answer = await fetch(`${served.url}/webhooks/${SECRET}`, {
    method: "POST",
    body: "{}",
  });
  await answer.body?.cancel();
  assert.equal(answer.status, 404);
  assert.equal(await served.stop(), 0);
  assert.match(
    served.log.join("\n"),
    /"event":"requests_refused","refused":\{"not_allowed":1\}/,
  );
});

Deno.test("rampkit serve believes a header about addresses from trusted proxies alone, and logs whom it refused", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  const behind = (proxies: string) => [
    ...["--no-poll", "--allow", "192.0.2.0/24"],
    ...["--client-address-header", "X-Forwarded-For"],
    ...["--trusted-proxies", proxies],
  ];
  const send = async (url: string, header: string) => {
    const answer = await fetch(`${url}/webhooks/${SECRET}`, {
      method: "POST",
      headers: { "x-forwarded-for": header },
      body: "{}",
    });
    await answer.body?.cancel();
    return answer.status;
  };
  const refusals = (log: readonly string[]) =>
    log.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line))
      .filter(({ event }) => event === "requests_refused");
  {
    await using served = await startServe(env, behind("127.0.0.1"));
    assert.equal(await send(served.url, "192.0.2.7"), 204);
    assert.equal(await send(served.url, "192.0.2.7, 203.0.113.9"), 404);
    assert.equal(await served.stop(), 0);
    const [line] = refusals(served.log);
    assert.deepEqual(line.refused, { not_allowed: 1 });
    assert.equal(line.lastNotAllowed, "203.0.113.9");
  }
  await using served = await startServe(env, behind("10.0.0.1"));
  assert.equal(await send(served.url, "192.0.2.7"), 404);
  assert.equal(await served.stop(), 0);
  assert.equal(refusals(served.log)[0].lastNotAllowed, "127.0.0.1");
});

Deno.test("rampkit serve trusts no header unless it is told whose", async () => {
  const env = { RAMPKIT_WEBHOOK_SECRET: SECRET };
  const header = ["--client-address-header", "X-Forwarded-For"];
  const proxies = ["--trusted-proxies", "10.0.0.1"];
  const allow = ["--allow", "192.0.2.0/24"];
  for (
    const [flags, message] of [
      [[...allow, ...header], /^Missing --trusted-proxies/],
      [[...allow, ...proxies], /^Missing --client-address-header/],
      [[...header, ...proxies], /^Missing --allow/],
      [
        [...allow, ...header, "--trusted-proxies", "proxy"],
        /"proxy" is neither an IP/,
      ],
      [
        [...allow, ...proxies, "--client-address-header", "Forwarded"],
        /"Forwarded"/,
      ],
    ] as const
  ) {
    const { code, err } = await cli(["serve", ...flags], env);
    assert.equal(code, 2, flags.join(" "));
    assert.match(err, message);
  }
});
