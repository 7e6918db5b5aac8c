import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { main } from "../../cli/mod.ts";
import { webhookEvent } from "../../ledger/testing/mod.ts";
import { person } from "../../ledger/testing/person_events.ts";

import { serveSandbox } from "../../sandbox/mod.ts";
import { fileSpool } from "../../webhooks/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

const anna = person("ANNA");

async function fill(url: string, events = anna.events): Promise<void> {
  await using ledger = await openLedger({
    url,
    environment: "sandbox",
    worker: false,
  });
  await ledger.append(events);
  await ledger.project();
}

Deno.test("rampkit users erase shows what goes, asks, and leaves nothing of the person", async () => {
  await using live = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: live.url };
  await fill(live.url);
  const alone = await cli(["users", "erase", anna.userId], env);
  assert.equal(alone.code, 1);
  assert.match(alone.out, /^Orders +2 orders$/m);
  assert.match(alone.err, /Nothing was erased: add --yes/);
  const planned = await cli(["users", "erase", anna.userId, "--json"], env);
  assert.equal(JSON.parse(planned.out).erased, false);
  let asked = "";
  let out = "";
  const code = await main(["users", "erase", anna.userId], {
    out: (text) => out += text,
    err: () => {},
    ask: (question) => {
      asked = question;
      return Promise.resolve("yes");
    },
    env: (name) => name === "RAMPKIT_DATABASE_URL" ? live.url : undefined,
    columns: null,
    colour: false,
    now: () => Date.now(),
    signal: new AbortController().signal,
  });
  assert.equal(code, 0);
  assert.match(asked, /cannot be undone/);
  assert.match(out, /^Erased\. /m);
  for await (const { name } of Deno.readDir(live.folder)) {
    const bytes = await Deno.readFile(`${live.folder}/${name}`);
    assert.ok(
      !new TextDecoder("latin1").decode(bytes).includes("-ANNA-SECRET"),
    );
  }
  assert.equal((await cli(["ledger", "verify"], env)).code, 0);
  const proof = await cli(["users", "erased", anna.userId], env);
  assert.match(proof.out, /^Erased at \d/);
  const shown = await cli(["users", "show", anna.userId], env);
  assert.match(shown.err, /was erased at \d/);
  const again = await cli(["users", "erase", anna.userId, "--json"], env);
  const told = JSON.parse(again.out);
  assert.deepEqual([told.erased, told.cleaned, told.events], [true, true, []]);
  const nobody = await cli(["users", "erase", "U-NOBODY", "--yes"], env);
  assert.equal(nobody.code, 1);
  assert.match(nobody.err, /No such user/);
  assert.equal((await cli(["users", "erased", "U-NOBODY"], env)).code, 1);
});

/** Keeps deliveries in a spool, as a process that was killed leaves them. */
async function spooled(directory: string, bodies: readonly object[]) {
  const spool = await fileSpool({ directory });
  for (const [n, body] of bodies.entries()) {
    await spool.put({
      id: `01KA000000000000000000000${n}`,
      receivedAt: "2026-11-20T10:00:00.000Z",
      body: new TextEncoder().encode(JSON.stringify(body)),
    });
  }
  await spool.close();
}

async function hasText(folder: string, text: string): Promise<boolean> {
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) {
      if (await hasText(path, text)) return true;
    } else {
      const bytes = await Deno.readFile(path);
      if (new TextDecoder("latin1").decode(bytes).includes(text)) return true;
    }
  }
  return false;
}

Deno.test("rampkit users erase reaches what a process that died has left in the spool", async () => {
  await using live = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: live.url };
  await fill(live.url);
  const spool = `${live.folder}/ledger.db-spool`;
  await spooled(spool, [
    { type: "login", user_id: anna.userId, ip: "9.9.9.9-ANNA-SECRET" },
  ]);
  // A delivery of somebody who was erased before may lie there as well.
  const looked = await cli(["users", "erased"], env);
  assert.equal(looked.code, 0, "nobody was erased yet");
  const erased = await cli(
    ["users", "erase", anna.userId, "--yes", "--json"],
    env,
  );
  assert.equal(erased.code, 0, erased.err);
  assert.equal(await hasText(live.folder, "-ANNA-SECRET"), false);
  const proof = await cli(["users", "erased", anna.userId], env);
  assert.equal(proof.code, 0, proof.out);

  await spooled(spool, [{ type: "login", user_id: anna.userId }]);
  const left = await cli(["users", "erased", anna.userId, "--json"], env);
  assert.equal(left.code, 3);
  assert.equal(JSON.parse(left.out).spool.waiting.length, 1);
  const again = await cli(["users", "erase", anna.userId, "--yes"], env);
  assert.equal(again.code, 0, again.err);
  assert.equal((await cli(["users", "erased"], env)).code, 0);
});

Deno.test("rampkit users erase refuses while a damaged file of the spool may hold deliveries, and names it", async () => {
  await using live = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: live.url };
  await fill(live.url);
  const damaged = `${live.folder}/ledger.db-spool/01KA.inbox.db.damaged`;
  await Deno.mkdir(`${live.folder}/ledger.db-spool`);
  await Deno.writeTextFile(damaged, "-ANNA-SECRET");
  const refused = await cli(["users", "erase", anna.userId, "--yes"], env);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /^Nothing was erased: .*01KA\.inbox\.db\.damaged/);
  assert.equal(await hasText(`${live.folder}`, "wallet0-ANNA-SECRET"), true);
  await Deno.remove(damaged);
  const erased = await cli(["users", "erase", anna.userId, "--yes"], env);
  assert.equal(erased.code, 0, erased.err);
});

Deno.test("rampkit users erased exits with 3 until a person has decided about everything that is listed", async () => {
  await using live = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: live.url };
  const unknown = (id: string, text: string) =>
    webhookEvent({
      id,
      receivedAt: "2026-11-20T12:00:00.000Z",
      body: new TextEncoder().encode(text),
    }, new Uint8Array(16));
  await fill(live.url, [
    ...anna.events,
    unknown("N1", `no JSON: ${anna.userId}`),
    unknown("N2", `no JSON: card-ANNA-SECRET`),
    unknown("N3", JSON.stringify({ type: "thing", of: "card-ANNA-SECRET" })),
  ]);
  const dry = await cli(
    ["users", "erase", anna.userId, "--dry-run", "--json"],
    env,
  );
  const planned = JSON.parse(dry.out);
  assert.equal(planned.erased, false);
  assert.deepEqual(planned.compared, { blanked: 1, listed: 2 });
  assert.equal(await hasText(live.folder, "wallet0-ANNA-SECRET"), true);
  const erased = await cli(["users", "erase", anna.userId, "--yes"], env);
  assert.equal(erased.code, 0, erased.err);
  assert.match(erased.out, /1 further event .*; 2 events for you to look at/);
  const listed = await cli(["users", "erased", "--json"], env);
  assert.equal(listed.code, 3);
  const [first, second] = JSON.parse(listed.out).findings;
  assert.deepEqual([first.why, second.why], ["not_json", "not_json"]);
  const half = ["users", "erased", "--blank", String(first.position)];
  assert.equal((await cli(half, env)).code, 3);
  const rest = ["users", "erased", "--keep", String(second.position)];
  const done = await cli(rest, env);
  assert.equal(done.code, 0, done.out);
  assert.equal((await cli(["ledger", "verify"], env)).code, 0);
});

Deno.test("rampkit users erase asks the service for orders that only webhooks name as the person's", async () => {
  await using live = await temporaryLedger();
  await using service = await serveSandbox({ port: 0 });
  const { sandbox } = service;
  const order = sandbox.createOrder();
  await fill(live.url, [
    ...anna.events,
    ...[order.orderId, "01KINVENTED000000000000000"].map((id, n) =>
      webhookEvent({
        id: `F${n}`,
        receivedAt: "2026-11-21T10:00:00.000Z",
        body: new TextEncoder().encode(JSON.stringify({
          type: "order_complete",
          user: { user_id: anna.userId },
          order: { id },
        })),
      }, new Uint8Array(16))
    ),
  ]);
  const env = { RAMPKIT_DATABASE_URL: live.url };
  const erase = ["users", "erase", anna.userId, "--yes", "--json"];
  const refused = await cli(erase, env);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /only webhooks name these orders .*01KINVENTED0+/);
  assert.equal(await hasText(live.folder, "-ANNA-SECRET"), true);
  const erased = await cli(erase, {
    ...env,
    RAMPKIT_API_KEY: sandbox.apiKey,
    RAMPKIT_BASE_URL: service.url,
  });
  assert.equal(erased.code, 0, erased.err);
  const { orders, claims } = JSON.parse(erased.out);
  assert.deepEqual(
    orders.map((one: { orderId: string }) => one.orderId),
    anna.orderIds,
  );
  // The service shows the real one as somebody else's.
  assert.deepEqual(claims, [
    { orderId: "01KINVENTED000000000000000", isAsked: true },
  ]);
  const shown = await cli(["orders", "show", order.orderId, "--json"], env);
  assert.notEqual(JSON.parse(shown.out).userId, null);
  assert.equal(await hasText(live.folder, "-ANNA-SECRET"), false);
});

Deno.test("rampkit users erase refuses while an order is under way, unless forced", async () => {
  await using live = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: live.url };
  await fill(
    live.url,
    anna.events.filter(({ kind, body }) =>
      kind !== "order_snapshot" ||
      !new TextDecoder().decode(body).includes('"status":"success"')
    ),
  );
  const erase = ["users", "erase", anna.userId, "--yes", "--json"];
  const refused = await cli(erase, env);
  assert.equal(refused.code, 1);
  assert.match(refused.err + refused.out, /under way or a refund is due/);
  const forced = await cli([...erase, "--force"], env);
  assert.equal(forced.code, 0, forced.err);
  const { erased, pseudonym } = JSON.parse(forced.out);
  assert.equal(erased, true);
  assert.match(pseudonym, /^erased-[0-9a-f]{20}$/);
});

Deno.test("rampkit ledger prune takes out old bodies, and only when told to", async () => {
  await using live = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: live.url };
  const old = anna.events.map((event) => ({
    ...event,
    recordedAt: event.recordedAt.replace("2026", "2020"),
  }));
  await fill(live.url, old);
  const prune = ["ledger", "prune", "--bodies-older-than"];
  const refused = await cli([...prune, "400d"], env);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /add --yes to delete 14 bodies/);
  const wrong = await cli([...prune, "400"], env);
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /for example 400d/);
  const done = await cli([...prune, "400d", "--yes", "--json"], env);
  const { pruned, left, cleaned } = JSON.parse(done.out);
  assert.deepEqual([pruned, left, cleaned], [13, 1, true]);
  const again = await cli([...prune, "400d", "--yes"], env);
  assert.match(again.out, /^Pruned +0 bodies recorded before \d/m);
  assert.match(again.out, /^Left +1 as old: the latest reading of each user/m);
  const none = await cli([...prune, "9999d"], env);
  assert.match(none.out, /^Nothing to prune: no body was recorded before /);
  const shown = await cli(["orders", "show", "O-ANNA-0", "--json"], env);
  const { status, userId, address } = JSON.parse(shown.out);
  assert.deepEqual([status, userId, address], ["success", anna.userId, null]);
  const bytes = await Deno.readFile(`${live.folder}/ledger.db`);
  const text = new TextDecoder("latin1").decode(bytes);
  assert.ok(!text.includes("wallet0-ANNA-SECRET"));
});
