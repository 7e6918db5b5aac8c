import assert from "node:assert/strict";
import { openDriver, openLedger } from "../../ledger/mod.ts";
import { eraseBody } from "../../ledger/testing/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

async function made(url: string, sessions: number): Promise<void> {
  await using ledger = await openLedger({
    url,
    environment: "sandbox",
    worker: false,
  });
  for (let n = 0; n < sessions; n++) {
    await ledger.recordSession({ session_id: `S${n}`, flow_type: "simple" });
  }
  await ledger.project();
}

async function tamper(url: string, ...statements: string[]): Promise<void> {
  const driver = await openDriver({ url, worker: false });
  await driver.batch(statements.map((sql) => ({ sql, args: [] })), "write");
  await driver.close();
}

const verify = (url: string, ...more: string[]) =>
  cli(["ledger", "verify", "--database-url", url, ...more]);

Deno.test("rampkit ledger verify finds a chain that is gone, and doctor and stats say so", async () => {
  await using live = await temporaryLedger();
  await made(live.url, 3);
  await tamper(
    live.url,
    "DELETE FROM seals",
    "DELETE FROM events WHERE position = 2",
  );
  const found = await verify(live.url);
  assert.equal(found.code, 3);
  assert.match(found.out, /The chain is gone: it had 3 events/);
  const doctor = await cli(["doctor", "--database-url", live.url]);
  assert.match(
    doctor.out,
    /FAIL +Evidence +The evidence chain .*: The chain had 3 events/,
  );
  const stats = await cli(["ledger", "stats", "--database-url", live.url]);
  assert.match(stats.out, /Chain broken +The chain had 3 events/);
});

Deno.test("rampkit ledger verify says what it cannot see without an anchor", async () => {
  await using live = await temporaryLedger();
  await made(live.url, 3);
  const kept = await verify(live.url);
  assert.match(
    kept.out,
    /continues from the head of \d+ events? that was kept beside it at /,
  );
  const copy = `file:${live.folder}/copy.db`;
  await cli([
    "ledger",
    "backup",
    `${live.folder}/copy.db`,
    "--database-url",
    live.url,
  ]);
  const blind = await verify(copy);
  assert.equal(blind.code, 0);
  assert.match(blind.out, /Not seen without --expect: a tail that was cut/);
  assert.match(blind.out, /No head is kept beside this file/);
  const [, anchor = ""] = /^ {2}(\d+:[0-9a-f]{64})$/m.exec(blind.out) ?? [];
  const held = await verify(copy, "--expect", anchor);
  assert.doesNotMatch(held.out, /Not seen/);
  const json = JSON.parse((await verify(copy, "--json")).out);
  assert.deepEqual([json.anchors, json.anchoredHead], [[], null]);
});

Deno.test("rampkit ledger verify counts erased bodies, and finds one that was only blanked", async () => {
  await using live = await temporaryLedger();
  await made(live.url, 3);
  const driver = await openDriver({ url: live.url, worker: false });
  await eraseBody(driver, 2);
  await driver.close();
  const whole = await verify(live.url);
  assert.match(
    whole.out,
    /^Whole: 4 events; the body of 1 was erased, 1 wait/m,
  );
  assert.equal(JSON.parse((await verify(live.url, "--json")).out).erased, 1);
  await tamper(
    live.url,
    `UPDATE events SET body = CAST('{"erased":true}' AS BLOB)
      WHERE position = 3`,
  );
  const blanked = await verify(live.url);
  assert.equal(blanked.code, 3);
  assert.match(
    blanked.out,
    /position 3: The body or another part of the event was/,
  );
});

Deno.test("rampkit ledger verify --states finds an order that was made confirmed by SQL", async () => {
  await using live = await temporaryLedger();
  {
    await using ledger = await openLedger({
      url: live.url,
      environment: "sandbox",
      worker: false,
    });
    await ledger.appendDelivery({
      id: "01KZZZZZZZZZZZZZZZZZZZZZZZ",
      receivedAt: "2026-12-24T18:00:00.000Z",
      body: new TextEncoder().encode(
        '{"type":"order_complete","order":{"id":"O1"}}',
      ),
    });
    await ledger.project();
  }
  const whole = await verify(live.url, "--states");
  assert.equal(whole.code, 0, whole.out + whole.err);
  assert.match(
    whole.out,
    /^States follow from the events: 1 order and 0 users$/m,
  );
  await tamper(live.url, "UPDATE orders SET trust = 'confirmed'");
  assert.equal((await verify(live.url)).code, 0, "the events are whole");
  const found = await verify(live.url, "--states");
  assert.equal(found.code, 3);
  assert.match(found.out, /^States do not follow from the events: .*1 row/m);
  assert.match(found.out, /^ {2}order O1$/m);
  assert.match(
    found.out,
    /^ {4}trust: stored "confirmed", follows "claimed"$/m,
  );
  const { ok, states } = JSON.parse(
    (await verify(live.url, "--states", "--json")).out,
  );
  assert.deepEqual([ok, states.ok, states.different], [false, false, 1]);
});
