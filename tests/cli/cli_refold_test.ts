import assert from "node:assert/strict";
import { openDriver, openLedger } from "../../ledger/mod.ts";
import type { Fact } from "../../ledger/testing/mod.ts";
import { ledgerOn } from "../../ledger/for_server.ts";
import { FOLD_VERSION } from "../../ledger/for_sync.ts";
import {
  foldVersion,
  orderRead,
  rowsOf,
  session,
} from "../../ledger/testing/projection_test_kit.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

/** A fold that takes no transaction in. */
const withoutTx = (fact: Fact): Fact =>
  fact.kind === "order_snapshot"
    ? { ...fact, reading: { ...fact.reading, txId: "" } }
    : fact;

/** A fold that knows no status but that a payment is under way. */
const withoutEnd = (fact: Fact): Fact =>
  fact.kind === "order_snapshot"
    ? { ...fact, reading: { ...fact.reading, status: "pending" } }
    : fact;

const paid = (minute: number, orderId: string) =>
  orderRead(minute, {
    orderId,
    status: "success",
    click: `C-${orderId}`,
    tx: "0xT",
    created: 2,
    changed: 3,
  });

/** A ledger that an older version has folded; one event waits. */
async function older(
  url: string,
  version: number,
  change: (fact: Fact) => Fact,
): Promise<void> {
  await using ledger = await ledgerOn(
    await openDriver({ url, worker: false }),
    { environment: "sandbox", fold: foldVersion(version, change) },
  );
  await ledger.append([session(0, "S1", "C-O1"), paid(5, "O1")]);
  await ledger.project();
  await ledger.append([paid(6, "O2")]);
}

async function statesOf(url: string): Promise<unknown> {
  const driver = await openDriver({ url, worker: false });
  const rows = await rowsOf(
    driver,
    `SELECT o.id, o.release, o.fold, l.fold_version, l.position
      FROM orders AS o JOIN ledger AS l`,
  );
  await driver.close();
  return rows;
}

Deno.test.each([
  { name: "had seen the success", change: withoutTx },
  { name: "had not seen the success", change: withoutEnd },
])(
  "rampkit ledger refold of a ledger whose older version $name: a dry run changes nothing, and a new yes waits for a person",
  async ({ change }) => {
    await using file = await temporaryLedger();
    const env = {
      RAMPKIT_DATABASE_URL: file.url,
      RAMPKIT_ENVIRONMENT: "sandbox",
    };
    await older(file.url, FOLD_VERSION - 1, change);
    const before = await statesOf(file.url);
    const dry = await cli(["ledger", "refold", "--dry-run"], env);
    assert.equal(dry.code, 3, dry.err);
    assert.match(dry.out, /^Would fold 2 events; 1 orders and users would/);
    assert.match(dry.out, /release: "wait" -> "yes"/);
    assert.deepEqual(await statesOf(file.url), before);

    const done = await cli(["ledger", "refold"], env);
    assert.equal(done.code, 0, done.err);
    assert.match(done.out, /^Folded 2 events; 1 orders and users changed/);
    assert.match(done.out, /release: "wait" -> "yes"/);
    const listed = await cli(["attention", "--json"], env);
    const waiting = listed.out.trim().split("\n").map((line) =>
      JSON.parse(line)
    ).filter(({ kinds }) =>
      kinds.some(({ code }: { code: string }) => code === "yes_withheld")
    );
    assert.deepEqual(waiting.map(({ order }) => order.orderId), ["O1"]);
    const keys = await cli(["subscriptions", "fire"], env);
    assert.match(keys.out, /^order:O1:release\.yes$/m);

    const told: string[] = [];
    const dispatch = async () => {
      await using ledger = await openLedger({ url: file.url, worker: false });
      const shop = await ledger.subscribe(
        "shop",
        { on: "order.release.yes", from: "start", start: false },
        ({ key }) => void told.push(key),
      );
      await shop.dispatch();
    };
    await dispatch();
    assert.equal(told.length, 0, "nobody is told until a person says so");
    const fire = ["subscriptions", "fire", "order:O1:release.yes", "--json"];
    assert.deepEqual(JSON.parse((await cli(fire, env)).out), { fired: 1 });
    assert.deepEqual(JSON.parse((await cli(fire, env)).out), { fired: 0 });
    await dispatch();
    assert.deepEqual(told, ["order:O1:release.yes"]);
    const rest = await cli(["attention", "--json"], env);
    assert.doesNotMatch(rest.out, /yes_withheld/);
  },
);
