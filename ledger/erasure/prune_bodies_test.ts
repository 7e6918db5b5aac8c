import assert from "node:assert/strict";
import { chainReading } from "../testing/mint.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";
import { person } from "../testing/person_events.ts";
import {
  at,
  orderRead,
  session,
  transaction,
} from "../testing/projection_test_kit.ts";

Deno.test("Erasures.prune() takes bodies older than a time, leaves the latest reading of a user, and goes on where it was stopped", async () => {
  const people = Array.from({ length: 80 }, (_, n) => person(`P${n}`, 1));
  await using ledger = await emptyLedger();
  await ledger.append(people.flatMap(({ events }) => events));
  await ledger.project();
  const all = "2030-01-01T00:00:00.000Z";
  const old = await ledger.erasures.countOldBodies(all);
  assert.equal(old, 80 * 8);
  const stop = new AbortController();
  await assert.rejects(
    ledger.erasures.prune(all, {
      signal: stop.signal,
      onProgress: () => stop.abort(),
    }),
    { name: "AbortError" },
  );
  const done = await ledger.erasures.prune(all);
  assert.ok(done.pruned > 0 && done.pruned < old);
  assert.equal(done.left, 80, "the latest reading of each user");
  assert.equal((await ledger.erasures.prune(all)).pruned, 0);
  const order = await ledger.orders.get("O-P7-0");
  assert.deepEqual(
    [order?.status, order?.userId, order?.currencyAmount, order?.address],
    ["success", "user-P7-SECRET", "10.5", null],
  );
  assert.equal((await ledger.users.get("user-P7-SECRET"))?.country, "DE");
  // Who was pruned can be erased.
  await ledger.erasures.erase("user-P7-SECRET");
  const lines = await Array.fromAsync(ledger.export());
  assert.ok(lines.every((line) => !line.includes("-P7-SECRET")));
  assert.equal((await ledger.verify()).ok, true);
  assert.equal((await ledger.refold()).changed, 0);
});

/** An order that the chain was asked about, and when it was last shown. */
function lookedAt(
  orderId: string,
  { shown, tx = "f1" }: { readonly shown: number; readonly tx?: string },
) {
  const reading = (minute: number) =>
    orderRead(minute, { orderId, status: "success", tx });
  return [
    reading(10),
    chainReading({
      looked: {
        order_id: orderId,
        network: "bitcoin",
        asset: "BTC",
        type: "simple",
        tx_id: transaction("f1"),
        amount: "0.1",
        verdict: "delivered",
        block_hash: "b1",
        final: true,
        nodes: ["own-1"],
      },
      readAt: at(12),
      recordedAt: at(12),
      salt: new Uint8Array(16),
    }),
    ...shown === 10 ? [] : [reading(shown)],
  ];
}

Deno.test("Erasures.prune() takes looks at the chain, where nothing that stays names another transaction", async () => {
  await using ledger = await emptyLedger();
  await ledger.append([
    ...lookedAt("gone", { shown: 10 }),
    ...lookedAt("shown again", { shown: 30 }),
    ...lookedAt("another transfer", { shown: 10, tx: "f2" }),
  ]);
  await ledger.project();
  const witnesses = async () =>
    (await Array.fromAsync(ledger.orders.list({}))).map(
      ({ orderId, facts, release, releaseReason, witness }) => ({
        ...{ orderId, facts, release, releaseReason },
        verdict: witness?.verdict,
      }),
    );
  const before = await witnesses();
  assert.equal(before.filter(({ verdict }) => verdict).length, 2);
  const { pruned, left } = await ledger.erasures.prune(at(20));
  assert.deepEqual([pruned, left], [3, 3]);
  assert.deepEqual(await witnesses(), before);
  const kinds = (await Array.fromAsync(ledger.export()))
    .map((line) => JSON.parse(line).kind);
  assert.equal(kinds.filter((kind) => kind === "chain_reading").length, 2);
  assert.equal((await ledger.verify()).ok, true);
  assert.equal((await ledger.refold()).changed, 0);
});

Deno.test("Erasures.prune() leaves what was asked for while it is valid, and while a whole reading of an order is compared with it", async () => {
  let minute = 60;
  await using ledger = await emptyLedger({ now: () => Date.parse(at(minute)) });
  const paid = { status: "success", tx: "0xT" };
  const release = async (orderId: string) => {
    await ledger.project();
    const order = await ledger.orders.get(orderId);
    return [order?.release, order?.facts.match];
  };
  const yes = ["yes", "matched"];
  await ledger.append([
    session(0, "S1", "C1", "10", "basket-1"),
    session(0, "S2", "C2", "10", "basket-2"),
    orderRead(50, { ...paid, orderId: "READ", click: "C1", created: 2 }),
  ]);
  assert.deepEqual(await release("READ"), yes);
  assert.deepEqual(await ledger.erasures.prune(at(20)), { pruned: 0, left: 2 });
  assert.deepEqual(await release("READ"), yes);
  // Both have expired, and only the one of an order that stays whole is needed.
  minute += 30 * 24 * 60;
  assert.deepEqual(await ledger.erasures.prune(at(20)), { pruned: 1, left: 1 });
  assert.deepEqual(await release("READ"), yes);
  assert.deepEqual(await ledger.erasures.prune(at(70)), { pruned: 2, left: 0 });
  assert.deepEqual(await release("READ"), yes);
  assert.equal((await ledger.verify()).ok, true);
  assert.equal((await ledger.refold()).changed, 0);
});
