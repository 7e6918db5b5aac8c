import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { orderRead } from "../../ledger/testing/projection_test_kit.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

const ADA = ["--by", "Ada", "--why", "paid at the counter"];

Deno.test("rampkit release records who delivered or refunded an order, once, and orders show says so", async () => {
  await using file = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: file.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
  };
  {
    await using ledger = await openLedger({
      url: file.url,
      environment: "sandbox",
      worker: false,
    });
    await ledger.append([orderRead(5, {
      orderId: "O1",
      status: "success",
      click: "C1",
      tx: "0xT",
      created: 2,
    })]);
  }
  const release = (...flags: string[]) =>
    cli(["release", "O1", ...flags, ...ADA], env);
  const both = await release("--delivered", "--refunded");
  assert.equal(both.code, 2, both.err);
  assert.match(both.err, /either --delivered or --refunded/);
  const unnamed = await release("--delivered");
  assert.equal(unnamed.code, 2);
  assert.match(unnamed.err, /state the reference of the purchase with --for/);
  const blank = await cli(
    ["release", "O1", "--refunded", "--by", " ", "--why", "x"],
    env,
  );
  assert.equal(blank.code, 2);
  assert.match(blank.err, /Wrong --by: it is empty/);

  const open = await cli(["orders", "show", "O1"], env);
  assert.match(
    open.out,
    /rampkit release --delivered --for REFERENCE --by NAME --why TEXT O1$/m,
  );
  const done = await release(
    ...["--delivered", "--for", "basket-17", "--new-reference", "--json"],
  );
  assert.equal(done.code, 0, done.err);
  const { orderId, ...recorded } = JSON.parse(done.out);
  assert.equal(orderId, "O1");
  assert.deepEqual({ ...recorded, at: null }, {
    outcome: "delivered",
    by: "Ada",
    why: "paid at the counter",
    for: "basket-17",
    at: null,
  });
  const again = await release("--refunded");
  assert.equal(again.code, 1);
  assert.match(
    again.err,
    /O1 unless it is confirmed: it was recorded as delivered at 20/,
  );
  const shown = await cli(["orders", "show", "O1"], env);
  assert.match(shown.out, /^Next +Nothing: a person has delivered it\.$/m);
  assert.doesNotMatch(shown.out, /rampkit release/);
  assert.match(
    shown.out,
    /By hand +delivered for basket-17 by Ada at .*: paid at the\s+counter/,
  );
  const json = await cli(["orders", "show", "O1", "--json"], env);
  assert.deepEqual(JSON.parse(json.out).releasedByHand, recorded);
});
