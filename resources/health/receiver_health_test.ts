import assert from "node:assert/strict";
import type { Ledger, SubscriptionStatus } from "../../ledger/mod.ts";
import { orderRead } from "../../ledger/testing/projection_test_kit.ts";
import { lookAtReceivers } from "./stored_health.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const SHOP = "https://shop.example/hooks";

function ledgerWith(changes: Partial<SubscriptionStatus>) {
  const status: SubscriptionStatus = {
    name: `forward:${SHOP}`,
    on: ["*"],
    createdAt: "2026-11-20T08:00:00.000Z",
    ...{ behind: 0, retrying: 0, waiting: 0, dead: 0 },
    lastError: null,
    target: { url: SHOP, offAt: null, offReason: null },
    ...changes,
  };
  return {
    driver: { batch: () => Promise.resolve([]) },
    subscriptions: { list: () => Promise.resolve([status]) },
  } as unknown as Ledger;
}

Deno.test("lookAtReceivers() finds of each handler and target what it lacks, and what to do", async () => {
  const look = async (changes: Partial<SubscriptionStatus>) => {
    const [one] = await lookAtReceivers(ledgerWith(changes), Date.now());
    return `${one?.code}: ${one?.detail} > ${one?.next ?? ""}`;
  };
  assert.match(await look({}), /^receiver_works: .*hooks is up to date > $/);
  assert.match(await look({ behind: 2 }), /is behind by 2 transitions > $/);
  assert.match(
    await look({ retrying: 1, lastError: "answered 500" }),
    /^receiver_failing: .*: 1 transition to .*; it answered 500 > Fix the receiver; the message names its last error$/,
  );
  assert.match(
    await look({ dead: 2, retrying: 1 }),
    /^dead_letters: .*: 2 transitions to .* > .*subscriptions retry forward:/,
  );
  assert.match(
    await look({ name: "goods", target: null, dead: 1 }),
    /^dead_letters: .*: 1 transition to goods > .*subscriptions retry goods$/,
  );
  assert.match(await look({ dead: 1000 }), /: at least 1,000 transitions to/);
  const off = { offAt: "2026-11-20T09:00:00.000Z", offReason: "answered 410" };
  assert.match(
    await look({ target: { url: SHOP, ...off } }),
    /^receiver_off: .*because it answered 410 > .*subscriptions resume forward:/,
  );
});

Deno.test("lookAtReceivers() finds that nothing delivers to a handler only once a transition has waited, and while no process has its turn", async () => {
  await using ledger = await emptyLedger();
  const subscribe = () =>
    ledger.subscribe("goods", { on: "order.*.*", from: "start" }, () => {});
  await (await subscribe()).stop();
  await ledger.append([orderRead(30, { orderId: "O1", status: "success" })]);
  await ledger.project();
  const [logged] = await ledger.transitions();
  const loggedMs = Date.parse(logged?.recordedAt ?? "");
  const look = async (afterMs: number) =>
    (await lookAtReceivers(ledger, loggedMs + afterMs))[0];
  assert.equal((await look(60_000))?.code, "receiver_works");
  const idle = await look(61_000);
  assert.equal(idle?.code, "receiver_idle");
  assert.equal(idle?.since, logged?.recordedAt);
  await using goods = await subscribe();
  await goods.dispatch();
  assert.equal((await look(61_000))?.code, "receiver_works");
});

Deno.test("Subscriptions.list() counts no further than it is told to", async () => {
  await using ledger = await emptyLedger();
  const goods = await ledger.subscribe(
    "goods",
    { on: "order.*.*", from: "start" },
    () => {},
  );
  await goods.stop();
  const readings = [1, 2, 3].map((n) =>
    orderRead(n, { orderId: `O${n}`, status: "success" })
  );
  await ledger.append(readings);
  await ledger.project();
  const behind = async (options?: { readonly countUpTo: number }) =>
    (await ledger.subscriptions.list(options))[0]?.behind;
  assert.equal(await behind({ countUpTo: 2 }), 2);
  assert.ok(Number(await behind()) >= 3);
});
