import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { sqldCredentials } from "../../ledger/testing/sqld_credentials.ts";
import {
  sqldAvailable,
  startSqld,
} from "../../ledger/testing/sqld_test_server.ts";
import { cli } from "../kit/cli.ts";
import { startServe } from "../kit/program.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";
import { until } from "../kit/until.ts";

const SECRET = "the-secret-in-the-webhook-address";

/** Where a sqld listened a moment ago, and its folder. */
async function gone(directory: string) {
  const { url, port, stop } = await startSqld({ directory });
  await stop();
  return { url, port, directory };
}

const post = (url: string, id: string) =>
  fetch(`${url}/webhooks/${SECRET}`, {
    method: "POST",
    body: JSON.stringify({ type: "payment_started", order: { id } }),
  });

const logged = (log: readonly string[], event: string) =>
  log.filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line)).filter((line) => line.event === event);

Deno.test({
  name:
    "serve that is started before its sqld answers deliveries from the spool, and has them in the ledger once it is there",
  ignore: !sqldAvailable,
  fn: async () => {
    await using folder = await temporaryFolder();
    const stored = await gone(`${folder.path}/sqld`);
    await using served = await startServe({
      RAMPKIT_DATABASE_URL: stored.url,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_WEBHOOK_SECRET: SECRET,
      RAMPKIT_SPOOL_DIR: `${folder.path}/spool`,
    }, ["--no-poll"]);
    const [problem] = logged(served.log, "not_ready");
    assert.match(problem.message, /cannot be reached; check its address/);
    assert.match(problem.effect, /kept in the spool, and answered 204/);
    for (const id of ["O1", "O2"]) {
      const answer = await post(served.url, id);
      await answer.body?.cancel();
      assert.equal(answer.status, 204);
    }
    const ready = await fetch(`${served.url}/readyz`);
    const { writable, spooled, problem: none } = await ready.json();
    assert.deepEqual(
      { status: ready.status, writable, spooled, none },
      { status: 200, writable: false, spooled: 2, none: null },
    );

    await using server = await startSqld(stored);
    await until(
      () => logged(served.log, "ready").length === 1,
      "it is reached",
    );
    await served.settled();
    const later = await post(served.url, "O3");
    await later.body?.cancel();
    assert.equal(later.status, 204);
    await served.settled();
    await using ledger = await openLedger({
      url: server.url,
      environment: "sandbox",
    });
    await until(async () => (await ledger.stats()).orders === 3);
    assert.equal(await served.stop(), 0);
  },
});

Deno.test({
  name:
    "serve without a spool answers 503 until its sqld is there, and stops when it is told to",
  ignore: !sqldAvailable,
  fn: async () => {
    await using folder = await temporaryFolder();
    const stored = await gone(`${folder.path}/sqld`);
    await using served = await startServe({
      RAMPKIT_DATABASE_URL: stored.url,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_WEBHOOK_SECRET: SECRET,
    }, ["--no-poll"]);
    const [{ effect }] = logged(served.log, "not_ready");
    assert.match(effect, /answered 503/);
    const answer = await post(served.url, "O1");
    await answer.body?.cancel();
    assert.equal(answer.status, 503);
    const ready = await fetch(`${served.url}/readyz`);
    await ready.body?.cancel();
    assert.equal(ready.status, 503);
    assert.equal(await served.stop(), 0);
    assert.match(served.log.at(-1) ?? "", /"stopped"/);
  },
});

Deno.test({
  name:
    "serve whose token is refused ends at once and says so, also where the server was late",
  ignore: !sqldAvailable,
  fn: async () => {
    await using folder = await temporaryFolder();
    const stored = await gone(`${folder.path}/sqld`);
    const { jwtKey } = await sqldCredentials();
    const env = {
      RAMPKIT_DATABASE_URL: stored.url,
      RAMPKIT_DATABASE_TOKEN: (await sqldCredentials()).authToken,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_WEBHOOK_SECRET: SECRET,
      RAMPKIT_SPOOL_DIR: `${folder.path}/spool`,
    };
    await using waiting = await startServe(env, ["--no-poll"]);
    await using _server = await startSqld({ ...stored, jwtKey });
    assert.equal(await waiting.ended(), 1);
    const refused = /rejects the token; check that it belongs to this database/;
    assert.match(waiting.log.at(-1) ?? "", refused);
    const { code, err } = await cli(["serve", "--port", "0"], env);
    assert.equal(code, 1);
    assert.match(err, refused);
    assert.ok(!err.includes("not_ready"), err);
  },
});

Deno.test({
  name:
    "serve is ready within seconds where one request to its database server fails while the ledger opens, whichever it is",
  ignore: !sqldAvailable,
  fn: async () => {
    await using folder = await temporaryFolder();
    await using sqld = await startSqld({ directory: `${folder.path}/sqld` });
    let came = 0;
    let failing = 0;
    await using gateway = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => {
        const body = await request.arrayBuffer();
        if (++came === failing) return new Response(null, { status: 502 });
        const { pathname, search } = new URL(request.url);
        const answer = await fetch(`${sqld.url}${pathname}${search}`, {
          method: request.method,
          headers: request.headers,
          ...request.method === "GET" ? {} : { body },
        });
        const { status, headers } = answer;
        const type = headers.get("content-type") ?? "text/plain";
        return new Response(await answer.arrayBuffer(), {
          status,
          headers: { "content-type": type },
        });
      },
    );
    for (failing = 1; failing <= 6; failing++) {
      came = 0;
      const began = performance.now();
      await using served = await startServe({
        RAMPKIT_DATABASE_URL: `http://127.0.0.1:${gateway.addr.port}`,
        RAMPKIT_ENVIRONMENT: "sandbox",
        RAMPKIT_WEBHOOK_SECRET: SECRET,
        RAMPKIT_SPOOL_DIR: `${folder.path}/spool`,
      }, ["--no-poll"]);
      await until(async () => {
        const ready = await fetch(`${served.url}/readyz`);
        return (await ready.json()).writable;
      }, `ready after request ${failing} failed`);
      assert.ok(performance.now() - began < 15_000, `request ${failing}`);
      await served.kill();
    }
  },
});
