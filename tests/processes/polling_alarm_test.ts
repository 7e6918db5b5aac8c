import assert from "node:assert/strict";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { hasShape } from "../kit/shape.ts";
import { type Served, startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";

const SECRET = "the-secret-in-the-webhook-address";

/** A service that answers each request for orders or users as told. */
interface FakeService extends AsyncDisposable {
  readonly url: string;
  answer: () => Response | Promise<Response>;
}

const empty = () => Response.json({ success: true, data: [], total: 0 });

function fakeService(): FakeService {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => service.answer(),
  );
  const service: FakeService = {
    url: `http://127.0.0.1:${server.addr.port}`,
    answer: empty,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return service;
}

function lines(served: Served, event: string): Record<string, unknown>[] {
  return served.log.filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line)).filter((line) => line.event === event);
}

interface Doctor {
  readonly code: number;
  readonly polling: { status: string; detail: string; advice?: string };
  readonly service: { status: string; detail: string; advice?: string };
}

async function doctor(env: Record<string, string>): Promise<Doctor> {
  const { code, out } = await cli(["doctor", "--json"], env);
  const { checks } = JSON.parse(out);
  const of = (wanted: string) =>
    checks.find(({ name }: { name: string }) => name === wanted);
  return { code, polling: of("Polling"), service: of("Service") };
}

Deno.test("rampkit serve tells once that polling fails, with cause and next try, and once that it works again", async () => {
  await using ledger = await temporaryLedger();
  await using service = fakeService();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
    RAMPKIT_API_KEY: "key",
    RAMPKIT_BASE_URL: service.url,
  };
  service.answer = () =>
    Response.json({ message: "Internal server error" }, { status: 500 });
  await using served = await startServe(env, ["--rate", "50"]);
  const failing = () => lines(served, "poll_failing");
  await until(() => failing().length > 0, "the log says poll_failing");

  const [alarm] = failing();
  assert.equal(alarm?.level, "error");
  assert.equal(alarm.cause, "service_error");
  assert.equal(alarm.status, 500);
  // Both ask at once; which fails twice first depends on their turns.
  assert.match(String(alarm.sweep), /^(new|deep)$/);
  assert.equal(alarm.attempts, 2);
  assert.ok(String(alarm.since) < String(alarm.nextAttemptAt));
  assert.match(String(alarm.advice), /The service itself fails/);

  const ready = await fetch(`${served.url}/readyz`);
  assert.equal(ready.status, 200, "deliveries are taken all the same");
  const answered = await ready.json();
  hasShape("readiness", answered);
  const { degraded, conditions } = answered;
  assert.match(degraded.join(), /^Polling fails, .*the service answered 500/);
  const [condition] = conditions.filter(
    ({ code }: { code: string }) => code === "poll_failing",
  );
  assert.equal(condition.level, "problem");
  assert.ok(condition.since <= String(alarm.since));

  const ill = await doctor(env);
  assert.equal(ill.code, 1);
  assert.equal(ill.polling.status, "fail");
  assert.match(ill.polling.detail, /"(new|deep)" has failed .* next try at /);
  assert.match(ill.polling.advice ?? "", /The service itself fails/);
  assert.match(ill.service.advice ?? "", /nothing is wrong with the key/);

  service.answer = empty;
  await until(
    () => lines(served, "poll_recovered").length > 0,
    "the log says poll_recovered",
  );
  assert.equal(lines(served, "poll_recovered")[0]?.since, alarm.since);
  assert.equal(failing().length, 1, "one line for one outage");
  const well = await doctor(env);
  assert.equal(well.polling.status, "ok", well.polling.detail);
  const after = await fetch(`${served.url}/readyz`);
  assert.deepEqual((await after.json()).degraded, []);
  assert.equal(await served.stop(), 0);
});

Deno.test("rampkit doctor advises by the cause of what fails", async () => {
  for (
    const [answer, advice] of [
      [
        () => Response.json({ message: "unauthorized" }, { status: 401 }),
        /does not know the key/,
      ],
      [
        () => Response.json({ message: "forbidden" }, { status: 403 }),
        /refuses the key/,
      ],
      [
        () => Response.json({ message: "slow down" }, { status: 429 }),
        /fewer requests/,
      ],
      [
        () => new Response("<html>A proxy</html>"),
        /not that of the service/,
      ],
    ] as const
  ) {
    await using ledger = await temporaryLedger();
    await using service = fakeService();
    service.answer = answer;
    const env = {
      RAMPKIT_DATABASE_URL: ledger.url,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_API_KEY: "key",
      RAMPKIT_BASE_URL: service.url,
    };
    const polled = await cli(["poll", "--once"], env);
    assert.equal(polled.code, 1);
    const { code, polling, service: asked } = await doctor(env);
    assert.equal(code, 1);
    assert.equal(polling.status, "fail");
    assert.match(polling.advice ?? "", advice);
    assert.match(asked.advice ?? "", advice);
  }
});
