import assert from "node:assert/strict";
import { orderRead } from "../../ledger/testing/projection_test_kit.ts";
import { READ, testApi } from "./test_api.ts";

const REFUNDED = { outcome: "refunded", by: "Ada", why: "paid twice" };
const READING = { status: "success", click: "C1", tx: "0xT", created: 2 };

Deno.test("POST /v1/orders/{ref}/released records what a person did, once, and says who asked", async () => {
  await using api = await testApi();
  await api.ledger.append([orderRead(5, { ...READING, orderId: "O1" })]);
  await api.ledger.project();
  const path = "/v1/orders/O1/released";
  const delivered = { ...REFUNDED, outcome: "delivered" };
  const refused = [
    [await api.post("/v1/orders/O9/released", REFUNDED), 404],
    [await api.post(path, delivered), 400],
    [await api.post(path, { ...REFUNDED, by: "" }), 400],
    [await api.post(path, { ...REFUNDED, whom: "x" }), 400],
    [
      await api.fetch(
        new Request(`http://127.0.0.1${path}`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${READ}`,
            "content-type": "application/json",
          },
          body: JSON.stringify(REFUNDED),
        }),
      ),
      403,
    ],
  ] as const;
  for (const [answer, status] of refused) {
    assert.equal(answer.status, status, await answer.text());
  }
  assert.equal(await api.ledger.handRelease("O1"), null);

  const answer = await api.post(path, REFUNDED);
  assert.equal(answer.status, 200);
  const recorded = await answer.json();
  const { orderId, ...release } = recorded;
  assert.equal(orderId, "O1");
  assert.deepEqual(release, { ...REFUNDED, for: null, at: release.at });
  assert.equal((await api.post(path, REFUNDED)).status, 409);
  const order = await (await api.get("/v1/orders/O1")).json();
  assert.deepEqual(order.releasedByHand, release);
  assert.deepEqual(api.log.at(-1)?.fields, {
    action: "release",
    by: "night",
    orderId: "O1",
    outcome: "refunded",
  });
});

Deno.test("POST /v1/orders/{ref}/case records what a person did, by the token's name, and logs no note", async () => {
  await using api = await testApi();
  await api.ledger.append([
    orderRead(5, { orderId: "O1", status: "cancelled" }),
  ]);
  await api.ledger.project();
  const path = "/v1/orders/O1/case";
  const refused = [
    [await api.post("/v1/orders/O9/case", { change: "asked" }), 404],
    [await api.post(path, {}), 400],
    [await api.post(path, { change: "sent" }), 400],
    [await api.post(path, { change: "refunded" }), 400],
    [await api.post(path, { change: "noted", note: 5 }), 400],
    [await api.post(path, { change: "reopened" }), 409],
    [await api.post(path, { change: "asked", seen: "stuck" }), 409],
  ] as const;
  for (const [answer, status] of refused) {
    assert.equal(answer.status, status, await answer.text());
  }
  const note = "Mrs Miller called";
  const answer = await api.post(path, { change: "asked", note });
  assert.equal(answer.status, 200);
  const { case: found, history } = await answer.json();
  assert.equal(found.state, "asked");
  assert.equal(history.at(-1).message, `night noted: ${note}`);
  assert.deepEqual(await (await api.get(path)).json(), {
    ...{ orderId: "O1", case: found, history },
  });
  assert.ok(!JSON.stringify(api.log).includes(note));
  const listed = await (await api.get("/v1/orders?case=asked")).json();
  assert.deepEqual(
    listed.items.map(({ orderId }: { orderId: string }) => orderId),
    ["O1"],
  );
});
