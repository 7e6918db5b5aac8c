/**
 * What the package promises on every runtime, as a program of a partner:
 * `contract.mjs run NAME` does all of it and kills itself right after its last
 * answer; `contract.mjs reopen NAME` looks at what it has left in NAME.db.
 */
import { getRequestListener } from "@hono/node-server";
import { OnrampClient } from "@rampkit/onramp/client";
import { openDriver, openLedger } from "@rampkit/onramp/ledger";
import { createPoller } from "@rampkit/onramp/sync";
import { serveSandbox } from "@rampkit/onramp/sandbox";
import {
  fileSpool,
  spoolMover,
  webhookEndpoint,
} from "@rampkit/onramp/webhooks";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import process from "node:process";

const SECRET = "the-secret-in-the-webhook-address";
const CLAIMS = 50;

const say = (facts) => console.log(JSON.stringify(facts));
const [step, name] = process.argv.slice(2);
const ledger = await openLedger({
  url: `file:${name}.db`,
  environment: "sandbox",
});
const spool = await fileSpool({ directory: `${name}.spool` });
const mover = spoolMover({ spool, take: ledger.appendRecords });
if (step === "run") await run();
else await reopen();

async function run() {
  const endpoint = webhookEndpoint({
    append: spool.put,
    unanswered: spool.note,
    secrets: [SECRET],
  });
  const server = createServer(
    getRequestListener(endpoint, { overrideGlobalObjects: false }),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const mount = `http://127.0.0.1:${server.address().port}/webhooks/${SECRET}`;

  const served = await serveSandbox({ port: 0, webhookUrl: mount });
  const { sandbox } = served;
  await ledger.recordSession({
    session_id: "s-1",
    click_id: "c-1",
    reference: "basket-1",
    currency: "USD",
    currency_amount: "25",
  });
  const { orderId } = sandbox.createOrder({
    clickId: "c-1",
    currencyAmount: "25",
  });
  for (const step of ["pay", "authorise", "complete"]) {
    sandbox.advance(orderId, step);
  }
  await sandbox.idle();
  await mover.settled();
  await ledger.project();
  const claimed = await ledger.orders.get(orderId);

  const client = new OnrampClient({
    environment: {
      name: "local",
      baseUrl: served.url,
      cardsBaseUrl: served.url,
      widgetOrigin: served.url,
      dashboardUrl: served.url,
      assets: "sandbox",
    },
    apiKey: sandbox.apiKey,
    requestsPerSecond: 1000,
  });
  const released = [];
  const goods = await ledger.subscribe(
    "goods",
    { on: "order.release.yes" },
    ({ key }) => void released.push(key),
  );
  await createPoller({ ledger, client, requestsPerSecond: 1000 }).once();
  await goods.dispatch();
  await goods.stop();
  await served.close();
  const confirmed = await ledger.orders.get(orderId);
  const { reason } = await ledger.verify();
  const refused = await fetch(mount.replace(SECRET, "wrong"), {
    method: "POST",
    body: "{}",
  });
  const remote = await openLedger({
    url: "http://127.0.0.1:9",
    environment: "sandbox",
    busyLimitMs: 0,
  }).catch((error) => error.code);

  const memory = await openLedger({ url: ":memory:", environment: "sandbox" });
  await memory.import(ledger.export());
  await memory.project();
  const copied = await memory.orders.get(orderId);
  await memory.close();

  assert.equal(claimed?.trust, "claimed");
  assert.equal(confirmed?.trust, "confirmed");
  assert.deepEqual(copied, confirmed);
  assert.deepEqual(released, [`order:${orderId}:release.yes`]);
  assert.equal(reason, null);
  assert.equal(refused.status, 404);
  assert.equal(remote, "unreachable");

  const statuses = await Promise.all(
    Array.from({ length: CLAIMS }, async (_, number) => {
      const { status } = await fetch(mount, {
        method: "POST",
        body: JSON.stringify({
          type: "order_complete",
          click_id: `click-${number}`,
          order: { id: `order-${number}` },
        }),
      });
      return status;
    }),
  );
  assert.deepEqual(new Set(statuses), new Set([204]));
  say({ orderId, answered: CLAIMS });
  process.kill(process.pid, "SIGKILL");
}

async function reopen() {
  await mover.settled();
  await mover.stop();
  await spool.close();
  await ledger.project();
  let kept = 0;
  for (let number = 0; number < CLAIMS; number++) {
    if (await ledger.orders.get(`order-${number}`)) kept++;
  }
  const { reason, events } = await ledger.verify();
  const scratch = await openDriver({ url: ":memory:" });
  const { different } = await ledger.verifyStates({ scratch });
  await scratch.close();
  await ledger.close();
  assert.equal(reason, null);
  assert.ok(events > CLAIMS);
  assert.equal(different, 0);
  say({ kept });
}
