import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { main } from "../../cli/mod.ts";
import { person } from "../../ledger/testing/person_events.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

const anna = person("ANNA");

async function fill(url: string, events = anna.events): Promise<void> {
  await using ledger = await openLedger({ url, environment: "sandbox" });
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

Deno.test("rampkit users erase refuses while an order is under way, unless forced", async () => {
  await using live = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: live.url };
  await fill(
    live.url,
    anna.events.filter(({ kind }) => kind !== "order_snapshot"),
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
  assert.match(refused.err, /add --yes to take out 14 bodies/);
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
