import assert from "node:assert/strict";
import { fileSpool } from "../../webhooks/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { startServe } from "../kit/program.ts";

const SECRET = "the-secret-in-the-webhook-address";

/** Leaves two deliveries in a spool, and changes its one file. */
async function leave(
  directory: string,
  change: (bytes: Uint8Array) => Uint8Array,
): Promise<void> {
  const spool = await fileSpool({ directory });
  for (const [at, id] of ["one", "two"].entries()) {
    await spool.put({
      id: `01KA000000000000000000000${at}`,
      receivedAt: "2026-11-20T12:00:00.000Z",
      body: new TextEncoder().encode(
        JSON.stringify({ type: "payment_started", order: { id } }),
      ),
    });
  }
  await spool.close();
  for await (const { name } of Deno.readDir(directory)) {
    if (!name.endsWith(".spool")) continue;
    const path = `${directory}/${name}`;
    await Deno.writeFile(path, change(await Deno.readFile(path)));
  }
}

for (
  const { what, change, torn, left, checked } of [
    {
      what: "damaged",
      change: (bytes: Uint8Array) => bytes.with(40, 0),
      torn: false,
      left: "two",
      checked: "fail",
    },
    {
      what: "cut short",
      change: (bytes: Uint8Array) =>
        bytes.slice(0, bytes.findLastIndex((byte) => byte !== 0) - 30),
      torn: true,
      left: "one",
      checked: "ok",
    },
  ]
) {
  Deno.test(`rampkit serve tells of a spool file that is ${what}, and takes what can be read`, async () => {
    await using ledger = await temporaryLedger();
    const directory = `${ledger.folder}/ledger.db-spool`;
    await leave(directory, change);
    const metrics: string[] = [];
    await using collector = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => {
        metrics.push(await request.text());
        return Response.json({});
      },
    );
    const env = {
      RAMPKIT_DATABASE_URL: ledger.url,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_WEBHOOK_SECRET: SECRET,
    };
    const found = await cli(["doctor", "--json"], env);
    const spoolCheck = ({ out }: { out: string }) =>
      JSON.parse(out).checks.find(({ name }: { name: string }) =>
        name === "Spool"
      );
    assert.equal(spoolCheck(found).status, "warn", "a file waits");
    {
      await using served = await startServe({
        ...env,
        OTEL_DENO: "true",
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
        OTEL_TRACES_SAMPLER: "always_off",
      }, ["--no-poll"]);
      assert.equal(await served.stop(), 0);
      const told = served.log.map((line) => JSON.parse(line)).filter((
        { event },
      ) => event === "spool_damaged");
      assert.equal(told.length, 1);
      assert.equal(told[0].torn, torn);
      assert.equal(told[0].level, torn ? "warn" : "error");
      assert.ok(told[0].bytes > 0);
    }
    assert.ok(metrics.some((text) => text.includes("spool.damaged")));
    const doctor = await cli(["doctor", "--json"], env);
    assert.equal(spoolCheck(doctor).status, checked);
    const shown = await cli(["orders", "list", "--json"], env);
    assert.equal(JSON.parse(shown.out).orderId, left, shown.out);
  });
}
