import assert from "node:assert/strict";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { startServe } from "../kit/program.ts";

const PASSWORD = "s3cr/et@word";
const SECRET = "the-secret-in-the-webhook-address";

Deno.test("rampkit prints no password that is in an address", async () => {
  await using ledger = await temporaryLedger();
  const base = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_API_KEY: "key",
  };
  for (
    const [name, value] of [
      ["RAMPKIT_BASE_URL", `http://me:${PASSWORD}@127.0.0.1:1`],
      ["RAMPKIT_BASE_URL", "http://me:s3cret-word@127.0.0.1:1"],
      ["RAMPKIT_BASE_URL", `me:${PASSWORD}@127.0.0.1:1`],
      ["RAMPKIT_PUBLIC_URL", "ftp://me:s3cret-word@127.0.0.1"],
      ["RAMPKIT_DATABASE_URL", `http://me:${PASSWORD}@127.0.0.1:1`],
      ["RAMPKIT_DATABASE_URL", "libsql://me:s3cret-word@127.0.0.1:1"],
      ["RAMPKIT_DATABASE_URL", `me:${PASSWORD}@127.0.0.1:1/db`],
    ] as const
  ) {
    for (
      const command of [["doctor"], ["orders", "list"], ["poll", "--once"]]
    ) {
      const { code, out, err } = await cli(command, { ...base, [name]: value });
      assert.notEqual(code, 0, `${command} ${name}`);
      for (const part of [PASSWORD, "s3cr", "et@word", "s3cret-word"]) {
        assert.ok(!(out + err).includes(part), `${command}: ${out}${err}`);
      }
    }
  }
});

Deno.test("rampkit doctor does not show the webhook secret in the public address", async () => {
  await using ledger = await temporaryLedger();
  for (const path of ["/webhooks/", "/webhook/", "/%77ebhooks/"]) {
    const { code, out } = await cli(["doctor"], {
      RAMPKIT_DATABASE_URL: ledger.url,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_PUBLIC_URL: `http://127.0.0.1:1${path}${SECRET}`,
    });
    assert.equal(code, 1);
    assert.ok(!out.includes(SECRET), out);
  }
});

Deno.test("rampkit serve lets no path into its traces or its log, however mistyped", async () => {
  await using ledger = await temporaryLedger();
  const received: string[] = [];
  await using collector = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      received.push(await request.text());
      return Response.json({});
    },
  );
  await using served = await startServe({
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
    OTEL_DENO: "true",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
    OTEL_METRIC_EXPORT_INTERVAL: "200",
  });
  for (
    const path of [
      `/webhooks/${SECRET}`,
      `/webhook/${SECRET}`,
      `/%77ebhooks/${SECRET}`,
      `/${SECRET}`,
      `/webhooks/${SECRET.slice(1)}`,
      `/healthz/${SECRET}?${SECRET}`,
      `/healthz?${SECRET}`,
    ]
  ) {
    for (const method of ["POST", "GET"]) {
      const answer = await fetch(served.url + path, { method });
      await answer.body?.cancel();
    }
  }
  // Its exit code says nothing here: Deno sends the traces while it ends, and
  // has been seen not to end after it.
  await served.stop();
  const traces = received.join("\n");
  assert.match(traces, /\/\{path\}/);
  const all = traces + served.log.join("\n");
  assert.ok(!all.includes(SECRET.slice(1)), "the secret got out");
});
