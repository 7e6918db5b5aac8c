import fc from "fast-check";
import assert from "node:assert/strict";
import {
  deliver,
  ledgerFor,
  moving,
  pollOnce,
  service,
} from "../testing/polling_test_kit.ts";
import {
  isOfWebhooks,
  type KeptDrift,
  lookForDrift,
  namesInAnswer,
  namesInWebhook,
  withMet,
} from "./drift.ts";

Deno.test("lookForDrift() finds nothing in what the sandbox answers and sends", async () => {
  let minted = 0;
  await using box = service({
    webhookUrl: "http://partner/webhooks/secret",
    fetch: async (_, init) => {
      minted += 1;
      await ledger.appendDelivery({
        id: `01KB${String(minted).padStart(22, "0")}`,
        receivedAt: new Date(box.clock.now()).toISOString(),
        body: new TextEncoder().encode(String(init?.body)),
      });
      return new Response(null, { status: 204 });
    },
  });
  await using ledger = await ledgerFor(box);
  const visits = box.sandbox.populate({ orders: 12, spanMs: 60_000 });
  await moving(visits, box.clock);
  await moving(box.sandbox.pressTest(), box.clock);
  await moving(box.sandbox.idle(), box.clock);
  await box.clock.advance(120_000);
  await pollOnce(box, ledger);
  const drift = await lookForDrift(ledger.driver, box.clock.now());
  assert.deepEqual(drift.names, {});
  assert.ok(drift.position > 40);
});

Deno.test("lookForDrift() keeps by name what answers and webhooks have that is new, and looks at each once", async () => {
  await using box = service(
    {},
    undefined,
    (text) =>
      text.replace('"status":"created"', '"status":"refunded","risk":{"a":1}'),
  );
  await using ledger = await ledgerFor(box);
  const { orderId } = box.sandbox.createOrder();
  await box.clock.advance(120_000);
  await pollOnce(box, ledger);
  await deliver(box, ledger, "coffee_brewed", orderId);
  const nowMs = box.clock.now();
  const drift = await lookForDrift(ledger.driver, nowMs);
  assert.deepEqual(Object.keys(drift.names).sort(), [
    "orders.risk",
    "orders.status=refunded",
    "webhooks.type=coffee_brewed",
  ]);
  assert.deepEqual(await lookForDrift(ledger.driver, nowMs + 1000), drift);
});

for (const [text, name] of [['"data":null', "null"], ['"x":1', "missing"]]) {
  Deno.test(`A poll reads the users on, and counts it as drift, where their page has {${text}}`, async () => {
    let isEmpty = true;
    await using box = service(
      {},
      undefined,
      (page, { pathname }) =>
        isEmpty && pathname.endsWith("/users")
          ? `{"success":true,${text}}`
          : page,
    );
    await using ledger = await ledgerFor(box);
    const { orderId } = box.sandbox.createOrder();
    await box.clock.advance(120_000);
    await pollOnce(box, ledger);
    const { names } = await lookForDrift(ledger.driver, box.clock.now());
    assert.ok((names[`users.data is ${name}`]?.count ?? 0) > 0);
    isEmpty = false;
    await box.clock.advance(24 * 3_600_000);
    await pollOnce(box, ledger);
    const order = await ledger.orders.get(orderId);
    assert.ok(await ledger.users.get(String(order?.userId)));
  });
}

Deno.test("namesInWebhook() names new fields, words and states", () => {
  const names = namesInWebhook({
    type: "verify_failed",
    click_id: "",
    reject_type: "FKYC_FAILED_MOOD",
    session: 1,
    order: { id: "A", risk: 1 },
    user: {
      user_id: "U",
      verification_status: { fkyc: { state: "expired" } },
      age: 3,
    },
  });
  assert.deepEqual(names, [
    "webhooks.reject_type=FKYC_FAILED_MOOD",
    "webhooks.session",
    "webhooks.order.risk",
    "webhooks.user.age",
    "webhooks.user.fkyc.state=expired",
  ]);
});

Deno.test("namesInAnswer() names new words and forms of times", () => {
  const order = {
    order_id: "A",
    status: "success",
    created_at: "2026/01/01 00:00",
    changed_at: "2026-01-01 00:00:00",
    fail_reason: "5000",
    payment_type: "sepa",
  };
  assert.deepEqual(namesInAnswer("order", order), [
    "orders.created_at is (text of 16)",
    "orders.fail_reason=5000",
    "orders.payment_type=sepa",
  ]);
  const user = { user_id: "U", created_at: "2026-01-01", lkyc_status: "new" };
  assert.deepEqual(namesInAnswer("user", user), [
    "users.created_at is 9999-99-99",
    "users.lkyc_status=new",
  ]);
});

Deno.test("withMet() is bounded whatever strangers send, and webhooks push out no answer", () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 30 });
  fc.assert(fc.property(fc.array(json, { maxLength: 120 }), (bodies) => {
    let names: KeptDrift["names"] = {};
    for (const body of bodies) {
      const met = namesInWebhook({
        ...body,
        type: Object.keys(body)[0] ?? "test",
      });
      names = withMet(names, [
        ...met,
        ...namesInWebhook({ ...body, type: "test" }),
      ], 0);
    }
    names = withMet(names, ["orders.risk"], 0);
    assert.ok(Object.keys(names).length <= 33);
    assert.ok(JSON.stringify(names).length < 8192);
    assert.equal(names["orders.risk"]?.count, 1);
  }));
  let names: KeptDrift["names"] = {};
  for (let n = 0; n < 500; n++) {
    const letters = [...String(n)].map((digit) => "abcdefghij"[Number(digit)]);
    names = withMet(names, [`webhooks.field_${letters.join("")}`], 0);
  }
  assert.equal(Object.keys(names).filter(isOfWebhooks).length, 31);
  assert.equal(names["webhooks: others"]?.count, 470);
});

Deno.test("withMet() forgets what was not met for a week", () => {
  const day = 24 * 3_600_000;
  const before = withMet({}, ["orders.a", "orders.b"], 0);
  const after = withMet(withMet(before, ["orders.b"], 6 * day), [], 8 * day);
  assert.deepEqual(Object.keys(after), ["orders.b"]);
  assert.equal(after["orders.b"]?.count, 2);
  assert.equal(after["orders.b"]?.since, new Date(0).toISOString());
});
