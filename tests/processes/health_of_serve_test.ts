import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { orderRead } from "../../ledger/testing/projection_test_kit.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { type Served, startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";

const SECRET = "the-secret-in-the-webhook-address";
const READ = "a-token-that-reads-and-no-more";

function line(served: Served, event: string): Record<string, unknown> | null {
  const found = served.log.find((one) => one.includes(`"event":"${event}"`));
  return found === undefined ? null : JSON.parse(found);
}

Deno.test("every face of a running serve shows a handler's dead letter under one code, with no target to tell", async () => {
  await using stored = await temporaryLedger();
  {
    await using ledger = await openLedger({
      url: stored.url,
      environment: "sandbox",
      worker: false,
    });
    await ledger.append([orderRead(30, { orderId: "O1", status: "success" })]);
    await ledger.project();
    const goods = await ledger.subscribe(
      "goods",
      { on: "order.*.*", maxAttempts: 1, from: "start" },
      () => Promise.reject(new Error("Out of stock")),
    );
    await goods.dispatch();
    await goods.stop();
  }
  const env = {
    RAMPKIT_DATABASE_URL: stored.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
    RAMPKIT_API_TOKENS: `read:${READ}`,
  };
  await using served = await startServe(env, [
    ...["--no-poll", "--api-port", "0", "--console", "0"],
  ]);
  await until(() => line(served, "console_listening") !== null);
  const authorization = `Bearer ${READ}`;
  const codes = async (url: string, list: string) => {
    const answer = await fetch(url, { headers: { authorization } });
    const body = await answer.json();
    return body[list].map(({ code }: { code: string }) => code);
  };
  await until(async () =>
    (await codes(`${served.url}/readyz`, "conditions")).includes("dead_letters")
  );
  const api = String(line(served, "api_listening")?.url);
  assert.ok(
    (await codes(`${api}/v1/status`, "checks")).includes("dead_letters"),
  );
  const metrics = await (await fetch(`${served.url}/metrics`)).text();
  assert.match(metrics, /^rampkit_condition\{code="dead_letters",.*\} 1$/m);
  assert.match(metrics, /^rampkit_condition\{code="disk_nearly_full",.*\} 0$/m);
  const console_ = String(line(served, "console_listening")?.url);
  const signedIn = await fetch(`${console_}/sign-in`, {
    method: "POST",
    body: new URLSearchParams({ token: READ, to: "/" }),
    headers: { origin: console_ },
    redirect: "manual",
  });
  await signedIn.body?.cancel();
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const page = await fetch(`${console_}/`, { headers: { cookie } });
  assert.match(await page.text(), /Transitions failed permanently/);
  const doctor = await cli(["doctor"], env);
  assert.match(doctor.out, /FAIL +Forwarding +Transitions failed permanently/);
  assert.match(doctor.out, /ok +Serve +It has the ledger's file open/);

  const alarm = () =>
    served.log.find((one) => /"alarm_raised".*"code":"dead_letters"/.test(one));
  await until(() => alarm() !== undefined, "two looks agree");
  const raised = JSON.parse(alarm() ?? "{}");
  assert.equal(raised?.about, "goods");
  assert.match(String(raised?.advice), /subscriptions retry goods/);
  assert.equal(await served.stop(), 0);
});

Deno.test("rampkit doctor fails at once where serve was killed, and no longer once it runs again or was stopped", async () => {
  await using stored = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: stored.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
    RAMPKIT_API_KEY: "a-key-of-the-sandbox",
    RAMPKIT_BASE_URL: "http://127.0.0.1:1",
  };
  const served = async () =>
    (await cli(["doctor"], env)).out.split("\n").filter((line) =>
      /^.{4} +Serve /.test(line)
    ).join();
  {
    await using running = await startServe(env);
    assert.match(await served(), /^ok /);
    await running.kill();
  }
  const killed = await cli(["doctor"], env);
  assert.equal(killed.code, 1);
  assert.match(
    killed.out,
    /FAIL +Serve +serve, .* has ended without being stopped/,
  );
  {
    await using again = await startServe(env);
    assert.match(await served(), /^ok /);
    assert.equal(await again.stop(), 0);
  }
  assert.doesNotMatch(await served(), /^FAIL/);
});
