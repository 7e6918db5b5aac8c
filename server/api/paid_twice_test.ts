import assert from "node:assert/strict";
import type { TransitionPattern } from "../../ledger/mod.ts";
import {
  orderRead,
  session,
  webhook,
} from "../../ledger/testing/projection_test_kit.ts";
import { orderDetail, resolveOrder } from "../../resources/queries/orders.ts";
import { transitionMessage } from "../forwarding/transition_message.ts";
import { memoryLedger, testApi } from "./testing/test_api.ts";

const NOW_MS = Date.parse("2026-11-20T12:00:00Z");

Deno.test("a basket paid by two orders ships once, and whoever reads the second order is told to wait", async () => {
  const ledger = await memoryLedger();
  await using api = await testApi({ ledger });
  const shipped: string[] = [];
  const seen = new Map<string, unknown>();
  await using shipping = await ledger.subscribe(
    "shipping",
    { on: "order.release.yes", from: "start", start: false },
    ({ id }) => void shipped.push(id),
  );
  const all: TransitionPattern[] = [
    "order.confirmed.success",
    "order.release.*",
  ];
  await using audit = await ledger.subscribe(
    "audit",
    { on: all, from: "start", start: false },
    (transition, context) => {
      const { type, data } = transitionMessage(transition, context);
      const state = data.state;
      seen.set(`${data.id} ${type}`, [
        context.release,
        context.releaseReason,
        data.release,
        data.releaseReason,
        state !== null && "release" in state ? state.release : null,
        data.current,
      ]);
    },
  );
  await ledger.append([
    webhook("L1", 0, { type: "login", user: { user_id: "U0" } }),
    session(0, "S1", "C1", "10", "basket-1"),
    session(0, "S2", "C2", "10", "basket-1"),
    session(0, "S3", "C3", "10", "basket-2"),
  ]);
  const paid: (readonly [string, string])[] = [
    ["O1", "C1"],
    ["O2", "C2"],
    ["O3", "C3"],
  ];
  for (const [orderId, click] of paid) {
    await ledger.append([
      orderRead(5, {
        orderId,
        click,
        status: "success",
        created: 1,
        tx: "0xT",
      }),
    ]);
    await ledger.project();
  }
  await shipping.dispatch();
  await audit.dispatch();
  assert.deepEqual(shipped, ["O1", "O3"]);

  const decided = {
    O1: ["yes", "session_matched"],
    O2: ["wait", "paid_twice"],
    O3: ["yes", "session_matched"],
  } as const;
  const listed = await Array.fromAsync(ledger.orders.list({ sort: "oldest" }));
  const answer = await (await api.get("/v1/orders")).json();
  for (const [place, [id, said]] of Object.entries(decided).entries()) {
    const [release, reason] = said;
    const one = await ledger.orders.get(id);
    const found = await ledger.find(id);
    const resolved = await resolveOrder(ledger, id);
    assert.ok(resolved.found === "one");
    const shown = await orderDetail(ledger, resolved, NOW_MS);
    const [hit] = found.found;
    assert.ok(hit?.entity === "order");
    for (const read of [listed[place], one, hit.order, shown]) {
      assert.deepEqual([read?.orderId, read?.release, read?.releaseReason], [
        id,
        release,
        reason,
      ]);
    }
    const item = answer.items.find((item: { orderId: string }) =>
      item.orderId === id
    );
    assert.deepEqual([item.release, item.releaseReason], [release, reason]);
    for (const type of ["confirmed.success", `release.${release}`]) {
      assert.deepEqual(
        seen.get(`${id} order.${type}`),
        [release, reason, release, reason, release, true],
        `${id} ${type}`,
      );
    }
  }
  const ids = async (query: string) => {
    const { items } = await (await api.get(`/v1/orders?${query}`)).json();
    return items.map(({ orderId }: { orderId: string }) => orderId);
  };
  const { heldBy } = await (await api.get("/v1/orders/O2")).json();
  assert.equal(heldBy, "O1");
  const { paidTwice } = await (await api.get("/v1/users/U0")).json();
  assert.deepEqual(paidTwice, ["O2"]);
  assert.deepEqual(await ids("reason=paid_twice"), ["O2"]);
  assert.deepEqual(await ids("release=wait&reason=paid_twice"), ["O2"]);
  assert.deepEqual((await ids("release=yes")).toSorted(), ["O1", "O3"]);
  assert.deepEqual(await ids("release=yes&reason=paid_twice"), []);
  const waiting = await (await api.get("/v1/attention?kind=paid_twice")).json();
  assert.deepEqual(
    waiting.items.map(({ order }: { order: { orderId: string } }) =>
      order.orderId
    ),
    ["O2"],
  );
  await api.post("/v1/orders/O2/released", {
    outcome: "refunded",
    by: "Ada",
    why: "paid for basket-1 twice",
  });
  await ledger.project();
  const left = await (await api.get("/v1/attention")).json();
  assert.deepEqual(left.items, []);
  const user = await (await api.get("/v1/users/U0")).json();
  assert.deepEqual(user.paidTwice, []);
  const { byHand, outcome } = await (await api.get("/v1/orders/O2")).json();
  assert.equal(byHand.outcome, "refunded");
  assert.match(outcome.next, /^Nothing/);
});
