import assert from "node:assert/strict";
import { orderRead } from "../../ledger/testing/projection_test_kit.ts";
import { READ, testApi } from "./testing/test_api.ts";

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

Deno.test("POST /v1/notes notes something of an order by the token's name, and logs no note", async () => {
  await using api = await testApi();
  await api.ledger.append([
    orderRead(5, { orderId: "O1", status: "cancelled" }),
  ]);
  await api.ledger.project();
  const path = "/v1/notes";
  const about = { entity: "order", id: "O1" };
  const refused = [
    [await api.post(path, { ...about, id: "O9", text: "x" }), 404],
    [await api.post(path, { entity: "user", id: "U9", text: "x" }), 404],
    [await api.post(path, about), 400],
    [await api.post(path, { ...about, entity: "month", text: "x" }), 400],
    [await api.post(path, { ...about, action: "sent" }), 400],
    [await api.post(path, { ...about, text: 5 }), 400],
    [await api.get(`${path}?entity=order&id=O9`), 404],
  ] as const;
  for (const [answer, status] of refused) {
    assert.equal(answer.status, status, await answer.text());
  }
  const text = "Mrs Miller called";
  const answer = await api.post(path, {
    ...about,
    action: "acknowledge",
    text,
  });
  assert.equal(answer.status, 200);
  const note = await answer.json();
  assert.deepEqual(note, {
    ...{ id: note.id, entity: "order", entityId: "O1", action: "acknowledge" },
    ...{ reasons: ["cancelled_after_payment"], text, author: "night" },
    notedAt: note.notedAt,
  });
  const noted = await api.get(`${path}?entity=order&id=O1`);
  assert.deepEqual(await noted.json(), { items: [note] });
  assert.ok(!JSON.stringify(api.log).includes(text));
});
