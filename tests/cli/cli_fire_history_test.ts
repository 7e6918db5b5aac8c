import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import {
  at,
  orderRead,
  session,
} from "../../ledger/testing/projection_test_kit.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

const paid = (orderId: string) =>
  orderRead(31, {
    orderId,
    status: "success",
    click: `C-${orderId}`,
    tx: "0xT",
    created: 2,
    changed: 3,
  });

Deno.test("rampkit subscriptions fire --historic says how much it is, asks, and tells a subscription of the past once", async () => {
  await using file = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: file.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
  };
  const told: string[] = [];
  const open = async () => {
    const ledger = await openLedger({
      url: file.url,
      environment: "sandbox",
      worker: false,
      goLive: at(30),
    });
    const goods = await ledger.subscribe(
      "goods",
      { on: "*", start: false },
      ({ key }) => void told.push(key),
    );
    return { ledger, goods };
  };
  {
    const { ledger, goods } = await open();
    await using _ = ledger;
    await ledger.append([paid("O1"), paid("O2")]);
    await ledger.project();
    // What is recorded later brings a release, which a person decides about.
    await ledger.append([session(1, "S2", "C-O2")]);
    await ledger.project();
    await goods.dispatch();
  }
  const fire = (...args: string[]) =>
    cli(["subscriptions", "fire", ...args], env);
  const unnamed = await fire("--historic");
  assert.equal(unnamed.code, 2);
  assert.match(unnamed.err, /Missing .*: Name of the subscription/);
  assert.equal((await fire("goods", "--dry-run")).code, 2);
  const unknown = await fire("good", "--historic");
  assert.match(unknown.err, /No such subscription: "good"; there are goods/);

  const dry = await fire("goods", "--historic", "--dry-run");
  assert.equal(dry.code, 0, dry.err);
  assert.match(
    dry.out,
    /4 transitions from before .* were never sent to goods/,
  );
  const unasked = await fire("goods", "--historic");
  assert.equal(unasked.code, 1);
  assert.match(unasked.err, /Nothing was sent: add --yes/);
  const json = await fire("goods", "--historic", "--json");
  assert.deepEqual(JSON.parse(json.out), {
    transitions: 4,
    released: 0,
    fired: 0,
  });
  const done = await fire("goods", "--historic", "--yes");
  assert.match(done.out, /4 transitions will be sent by the process/);
  const again = await fire("goods", "--historic", "--yes", "--json");
  assert.deepEqual(JSON.parse(again.out).fired, 0);
  {
    const { ledger, goods } = await open();
    await using _ = ledger;
    await goods.dispatch();
    await goods.dispatch();
  }
  assert.deepEqual(told.toSorted(), [
    "order:O1:confirmed.success",
    "order:O1:release.unchecked",
    "order:O2:confirmed.success",
    "order:O2:release.unchecked",
  ]);
  // The events alone lead to the same, also once a key was fired.
  const key = await fire("order:O2:release.yes");
  assert.equal(key.code, 0, key.err);
  const verified = await cli(["ledger", "verify", "--states"], env);
  assert.equal(verified.code, 0, verified.out + verified.err);
});
