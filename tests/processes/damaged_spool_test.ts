import assert from "node:assert/strict";
import { fileSpool } from "../../webhooks/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";

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
    if (!name.endsWith(".inbox.db")) continue;
    const path = `${directory}/${name}`;
    await Deno.writeFile(path, change(await Deno.readFile(path)));
  }
}

for (
  const { what, change, left, detail } of [
    {
      what: "changed within",
      change: (bytes: Uint8Array) => {
        const text = new TextDecoder("latin1").decode(bytes);
        return bytes.with(text.indexOf('"id":"one"') + 7, 0x20);
      },
      left: "two",
      detail: /a checksum differs/,
    },
    {
      what: "no database any more",
      change: (bytes: Uint8Array) => bytes.slice().fill(0x20, 0, 4096),
      left: null,
      detail: /not a database/,
    },
  ]
) {
  Deno.test(`rampkit serve sets a spool file aside that is ${what}, says so, and takes what can be read`, async () => {
    await using ledger = await temporaryLedger();
    const directory = `${ledger.folder}/ledger.db-spool`;
    await leave(directory, change);
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
      await using served = await startServe(env, ["--no-poll"]);
      const { url } = served;
      await until(
        async () => {
          const metrics = await (await fetch(`${url}/metrics`)).text();
          return metrics.includes("spool_damaged_total 1");
        },
        "it is counted",
      );
      assert.equal(await served.stop(), 0);
      const told = served.log.map((line) => JSON.parse(line)).filter((
        { event },
      ) => event === "spool_damaged");
      assert.equal(told.length, 1);
      assert.equal(told[0].level, "error");
      assert.match(told[0].detail, detail);
    }
    const doctor = await cli(["doctor", "--json"], env);
    assert.equal(spoolCheck(doctor).status, "fail");
    const shown = await cli(["orders", "list", "--json"], env);
    assert.equal(/"orderId":"(\w+)"/.exec(shown.out)?.[1] ?? null, left);
  });
}
