import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { openLedger } from "../../ledger/mod.ts";
import { patient } from "../../ledger/testing/patient.ts";
import {
  sqldAvailable,
  startSqld,
} from "../../ledger/testing/sqld_test_server.ts";
import { SECRET as FORWARD_SECRET } from "../../server/forwarding/testing/forwarding_kit.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";

const SECRET = "the-secret-in-the-webhook-address";
/** Deliveries to a target are written down in such groups. */
const GROUP = 128;

Deno.test({
  name:
    "rampkit ledger copy moves a ledger to a server while serve takes deliveries, and nothing is lost",
  ignore: !sqldAvailable,
  fn: async () => {
    await using stored = await temporaryLedger();
    await using server = await startSqld({
      directory: `${stored.folder}/sqld`,
    });
    const told: string[] = [];
    await using target = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => {
        const { data } = new Webhook(FORWARD_SECRET).verify(
          await request.text(),
          Object.fromEntries(request.headers),
        ) as { readonly data: { readonly key: string } };
        told.push(data.key);
        return new Response(null, { status: 204 });
      },
    );
    const env = {
      RAMPKIT_DATABASE_URL: stored.url,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_WEBHOOK_SECRET: SECRET,
      RAMPKIT_SPOOL_DIR: `${stored.folder}/spool`,
      RAMPKIT_FORWARD_SECRET: FORWARD_SECRET,
      RAMPKIT_FORWARD_TO:
        `http://127.0.0.1:${target.addr.port}/hooks order.*.*`,
    };
    const remote = { ...env, RAMPKIT_DATABASE_URL: server.url };
    const copy = async (...more: string[]) =>
      await cli(["ledger", "copy", "--to", server.url, "--json", ...more], env);

    // As the service does, the sender tries again until it is answered.
    let url = "";
    let stopped = false;
    const answered: string[] = [];
    const sending = (async () => {
      for (let n = 0; !stopped; n++) {
        const body = `{"type":"order_complete","n":${n},` +
          `"order":{"id":"order-${n}"}}`;
        while (!await post(`${url}/webhooks/${SECRET}`, body)) {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        answered.push(body);
      }
    })();
    const answeredMore = async (count: number) => {
      const before = answered.length;
      await until(() => answered.length >= before + count);
    };

    const old = await startServe(env, ["--no-poll"]);
    await using _old = old;
    url = old.url;
    await answeredMore(50);
    for (let run = 0; run < 2; run++) {
      const ran = await copy();
      assert.equal(ran.code, 0, ran.err);
      assert.equal(JSON.parse(ran.out).finished, false);
      await answeredMore(20);
    }
    const early = await copy("--finish");
    assert.equal(early.code, 1);
    assert.match(early.err, /finish the copy of .* in use by serve/);
    const unfinished = await cli(["orders", "list"], remote);
    assert.match(unfinished.err, /not finished/);

    assert.equal(await old.stop(), 0, old.log.join("\n"));
    const last = await copy("--finish");
    assert.equal(last.code, 0, last.err);
    const { finished, events, hash } = JSON.parse(last.out);
    assert.equal(finished, true);
    const before = await cli(["ledger", "verify", "--json"], env);
    assert.deepEqual(
      [JSON.parse(before.out).events, JSON.parse(before.out).hash],
      [events, hash],
    );
    const refused = await copy();
    assert.match(refused.err, /holds a ledger already/);

    await using moved = await startServe(remote, ["--no-poll"]);
    url = moved.url;
    await answeredMore(20);
    stopped = true;
    await sending;
    await moved.settled();
    await using ledger = await openLedger({ url: server.url, ...patient });
    await until(async () => (await ledger.stats()).lag === 0);
    const [found] = await ledger.driver.batch([{
      sql: "SELECT CAST(body AS TEXT) FROM events WHERE kind = 'webhook'",
      args: [],
    }], "read");
    assert.deepEqual(
      found?.rows.map(([body]) => String(body)).sort(),
      answered.toSorted(),
    );
    await until(() => new Set(told).size === answered.length);
    assert.equal(await moved.stop(), 0, moved.log.join("\n"));
    // Only what was being told when a process stopped.
    const again = told.length - answered.length;
    assert.ok(again <= GROUP, `${again} were told again`);
    const verified = await cli(["ledger", "verify", "--states"], remote);
    assert.equal(verified.code, 0, verified.out + verified.err);
  },
});

async function post(url: string, body: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { method: "POST", body });
    await answer.body?.cancel();
    return answer.status === 204;
  } catch {
    return false;
  }
}
