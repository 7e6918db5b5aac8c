import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { openLedger } from "../../ledger/mod.ts";
import { monthReading } from "../../ledger/testing/month_test_events.ts";
import { serveSandbox } from "../../sandbox/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

/** A ledger in a file, and a service that commands ask. */
async function place() {
  const ledger = await temporaryLedger();
  const served = await serveSandbox({ port: 0 });
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_API_KEY: served.sandbox.apiKey,
    RAMPKIT_BASE_URL: served.url,
  };
  return {
    env,
    url: ledger.url,
    folder: ledger.folder,
    sandbox: served.sandbox,
    run: (...args: string[]) => cli([...args, "--rate", "1000"], env),
    [Symbol.asyncDispose]: async () => {
      await served.close();
      await ledger[Symbol.asyncDispose]();
    },
  };
}

Deno.test("rampkit reconcile exits with 3 when the service takes a final status back", async () => {
  await using made = await place();
  const { sandbox, run } = made;
  const { orderId } = sandbox.createOrder();
  for (const step of ["pay", "authorise", "complete"] as const) {
    sandbox.advance(orderId, step);
  }
  assert.equal((await run("poll", "--once")).code, 0);
  const agreed = await run("reconcile");
  assert.equal(agreed.code, 0, agreed.out + agreed.err);

  sandbox.advance(orderId, "cancel");
  const changed = await run("reconcile");
  assert.equal(changed.code, 3, changed.out + changed.err);
  assert.match(changed.out, new RegExp(`${orderId} +final_changed +cancelled`));
  const json = await run("reconcile", "--json");
  assert.equal(json.code, 3);
  const { disagreements, rows } = JSON.parse(json.out);
  assert.equal(disagreements, 1);
  const { code, read, before } = rows[0].finding;
  assert.deepEqual([code, read, before], [
    "final_changed",
    "cancelled",
    ["success"],
  ]);
});

Deno.test("rampkit poll --contradicted-after says how long a claim stands that the service does not share", async () => {
  await using made = await place();
  const { orderId } = made.sandbox.createOrder();
  {
    await using ledger = await openLedger({
      url: made.url,
      environment: "sandbox",
      worker: false,
    });
    await ledger.appendDelivery({
      id: "01KB0000000000000000000001",
      receivedAt: new Date(Date.now() - 5 * 60_000).toISOString(),
      body: new TextEncoder().encode(
        JSON.stringify({ type: "order_complete", order: { id: orderId } }),
      ),
    });
    await ledger.project();
  }
  const after = async (minutes: string) => {
    const poll = ["poll", "--once", "--contradicted-after", minutes];
    const polled = await made.run(...poll);
    assert.equal(polled.code, 0, polled.err);
    const shown = await cli(["orders", "show", orderId, "--json"], made.env);
    const { status, trust } = JSON.parse(shown.out);
    return `${status} ${trust}`;
  };
  assert.equal(await after("60"), "success claimed");
  assert.equal(await after("2"), "created confirmed");
  const wrong = await made.run("poll", "--once", "--contradicted-after", "0");
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /--contradicted-after/);
});

Deno.test("rampkit month show --recompute exits with 3 and names what was altered", async () => {
  await using file = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: file.url };
  {
    await using ledger = await openLedger({
      url: file.url,
      environment: "sandbox",
      worker: false,
    });
    await ledger.append([
      monthReading({ order: "O1", at: "2025-11-20T10:00:00Z" }),
    ]);
  }
  const zone = ["--tz", "UTC", "--book-by", "confirmed"];
  const closed = await cli(["month", "close", "2025-11", ...zone], env);
  assert.equal(closed.code, 0, closed.err);
  const show = ["month", "show", "2025-11", "--recompute"];
  assert.equal((await cli(show, env)).code, 0);

  const database = new DatabaseSync(`${file.folder}/ledger.db`);
  database.exec(
    "UPDATE events SET body = CAST(" +
      "replace(CAST(body AS TEXT), '30.10', '31.10') AS BLOB) " +
      "WHERE kind = 'order_snapshot'",
  );
  database.close();
  const altered = await cli(show, env);
  assert.equal(altered.code, 3, altered.out + altered.err);
  assert.match(altered.out, /O1.*currencyAmount.*30\.10?.*31\.10?/);
  const json = await cli([...show, "--json"], env);
  assert.equal(json.code, 3);
  const [difference] = JSON.parse(json.out).differences;
  assert.deepEqual([difference.orderId, difference.field], [
    "O1",
    "money.currencyAmount",
  ]);
});

Deno.test("rampkit orders export --bom begins the file with a byte-order mark, and is refused without a file", async () => {
  await using file = await temporaryLedger();
  const { url } = file;
  await (await openLedger({ url, environment: "sandbox", worker: false }))
    .close();
  const env = { RAMPKIT_DATABASE_URL: url };
  const path = `${file.folder}/orders.csv`;
  const exported = ["orders", "export", "--trust", "all", "--output", path];
  await cli(exported, env);
  const plain = await Deno.readFile(path);
  const marked = await cli([...exported, "--bom"], env);
  assert.equal(marked.code, 0, marked.err);
  assert.deepEqual(
    await Deno.readFile(path),
    new Uint8Array([0xef, 0xbb, 0xbf, ...plain]),
  );
  const refused = await cli(["orders", "export", "--bom"], env);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /--bom is written to a file: add --output FILE/);
});
